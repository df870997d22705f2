// fieldcost-trace: what `fieldcost trace` runs, so that libdw is in no other program.
//   fieldcost-trace OUTPUT PERIOD_NS RUNS COMMAND [ARGUMENT...]
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "agent/sampler/trace.h"
#include "common/base/text.h"

int main(int argc, char** argv) {
  using namespace fieldcost;
  constexpr int kOperands = 4;
  constexpr int kUsage = 64;
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (arguments.size() < kOperands) {
    fmt::print(stderr, "fieldcost-trace: it is run by fieldcost trace\n");
    return kUsage;
  }
  const auto period_ns = ParseUint64(arguments[1]);
  const auto runs = ParseUint64(arguments[2]);
  if (!period_ns || *period_ns == 0 || !runs || *runs == 0 || *runs > UINT32_MAX) {
    fmt::print(stderr, "fieldcost-trace: period or number of runs is wrong\n");
    return kUsage;
  }
  const auto result = sampler::Trace({.output = arguments[0],
                                      .period_ns = *period_ns,
                                      .runs = static_cast<std::uint32_t>(*runs),
                                      .command = {arguments.begin() + 3, arguments.end()}});
  if (!result) {
    fmt::print(stderr, "fieldcost: {}\n", result.error().message);
    return ExitStatus(result.error().code);
  }
  fmt::print(stderr, "fieldcost: {} run{}, {} samples, {} cut, {} lost; in {}\n", result->runs,
             result->runs == 1 ? "" : "s", result->samples, result->cut, result->lost,
             EscapeControl(arguments[0]));
  return result->status;
}
