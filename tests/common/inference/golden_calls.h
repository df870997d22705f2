#pragma once

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/inference/permutation.h"

namespace fieldcost::inference {

// A case of golden/*.txt: a name, then lines with a word and either slot:calls pairs or one number.
struct GoldenCase {
  std::string name;
  std::map<std::string, std::vector<BucketCounts>> counts;
  std::map<std::string, double> numbers;

  // A histogram in which each value is the smallest of its bucket.
  static stats::CostHistogram Histogram(const BucketCounts& counts) {
    stats::CostHistogram histogram;
    for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) {
      const stats::Uint128 value = shm::SlotMin(slot);
      histogram.SetBucket(slot, {.count = counts[slot],
                                 .sum = counts[slot] * value,
                                 .sum_of_squares = counts[slot] * value * value});
    }
    return histogram;
  }
  CallCounts Calls() const {
    return {.mine = counts.at("mine")[0], .field = counts.at("field")[0]};
  }
};

inline std::vector<GoldenCase> ReadGoldenCases(const std::string& file) {
  std::vector<GoldenCase> cases;
  std::ifstream in(fmt::format("{}/{}", FIELDCOST_GOLDEN_DIR, file));
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    if (key == "case") {
      words >> cases.emplace_back().name;
    } else if (line.find(':') == std::string::npos) {
      words >> cases.back().numbers[key];
    } else {
      BucketCounts counts{};
      unsigned slot = 0;
      char colon = 0;
      std::uint64_t calls = 0;
      while (words >> slot >> colon >> calls) counts.at(slot) = calls;
      cases.back().counts[key].push_back(counts);
    }
  }
  return cases;
}

}  // namespace fieldcost::inference
