// Performs the operations of ProbationModel on a store, starting at a given one, until it is
// killed; prints "done NUMBER" after each. Usage: probation_writer DATA_DIR SEED FIRST_OPERATION
#include <stdio.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/aggregator/store/probation_model.h"

int main(int argument_count, char** arguments) {
  using fieldcost::store::ProbationModel;
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  const std::uint64_t first = std::stoull(words.at(2));
  ProbationModel model(std::stoull(words.at(1)));
  auto store = fieldcost::store::Store::Open(ProbationModel::Options(words.at(0)));
  if (!store) return 1;
  for (std::uint64_t number = 0;; ++number) {
    const ProbationModel::Operation operation = model.Next();
    if (number >= first) {
      const std::string problem = model.Do(operation, **store, false);
      if (!problem.empty()) {
        ::dprintf(2, "operation %llu: %s\n", static_cast<unsigned long long>(number),
                  problem.c_str());
        return 1;
      }
      if (::dprintf(1, "done %llu\n", static_cast<unsigned long long>(number)) < 0) return 1;
    }
    model.Apply(operation);
  }
}
