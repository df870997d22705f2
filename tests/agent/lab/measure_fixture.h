#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/lab/measure.h"
#include "agent/runs/tsc_calibration.h"
#include "tests/support/binary_dir.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::lab {

inline const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";
inline const std::string kVictim = kVictims + "victim";

// Measures victims in this process.
class MeasureTest : public ::testing::Test {
 protected:
  // Ignores the machine's load: its reference loop always takes the same time.
  MeasureOptions Options(std::vector<std::string> command) const {
    MeasureOptions options;
    options.runner = {.library = FIELDCOST_BINARY_DIR "/lib/libfieldcost_lab.so",
                      .directory = directory_.path(),
                      .scenario = {.command = std::move(command)}};
    options.rounds = 2;
    options.tsc_to_ns_multiplier = runs::CalibrateTsc();
    options.plain_loop = [] { return std::uint64_t{1000}; };
    return options;
  }

  static Result<Measurement> Measured(const MeasureOptions& options) {
    return Measure(options, [](const MeasureProgress&) {});
  }

  static const ApiSums* Find(const Measurement& found, std::string_view symbol) {
    const auto at = std::find_if(found.sums.apis().begin(), found.sums.apis().end(),
                                 [&](const ApiSums& api) { return api.api.symbol == symbol; });
    return at == found.sums.apis().end() ? nullptr : &*at;
  }

  static bool HasPair(const Measurement& found, std::string_view outer, std::string_view inner) {
    return std::any_of(found.sums.pairs().begin(), found.sums.pairs().end(), [&](const auto& pair) {
      return found.sums.apis()[pair.first].api.symbol == outer &&
             found.sums.apis()[pair.second].api.symbol == inner;
    });
  }

  testing::TempDir directory_{testing::kMemory};
};

}  // namespace fieldcost::lab
