#include <map>

#include "tests/agent/lab/measure_fixture.h"

// What a library allocates through words that the loader fills in.

namespace fieldcost::lab {
namespace {

using ::testing::IsSupersetOf;
using ::testing::Pair;

class LabWordsTest : public MeasureTest, public ::testing::WithParamInterface<const char*> {
 protected:
  std::map<std::string, std::uint64_t> Allocated(const std::string& scenario) const {
    std::map<std::string, std::uint64_t> bytes;
    const auto found = Measured(Options({kVictims + GetParam(), scenario}));
    EXPECT_TRUE(found) << found.error().message;
    if (!found) return bytes;
    for (const ApiSums& api : found->sums.apis()) {
      if (api.api.soname != "libwords.so.1") continue;
      bytes[api.api.symbol] = static_cast<std::uint64_t>(api.inclusive.sum());
    }
    return bytes;
  }
};

TEST_P(LabWordsTest, CountsWhatIsAllocatedThroughVariablesAndTables) {
  EXPECT_THAT(Allocated("copy"),
              IsSupersetOf({Pair("words_by_call", 10000U), Pair("words_by_variable", 10000U),
                            Pair("words_by_exported", 10000U), Pair("words_by_guarded", 10000U),
                            Pair("words_by_own_function", 10000U)}));
}

TEST_P(LabWordsTest, CountsThroughTablesOfWhatDlopenBrings) {
  EXPECT_THAT(Allocated("module"), IsSupersetOf({Pair("words_call", 1000U)}));
}

INSTANTIATE_TEST_SUITE_P(Builds, LabWordsTest, ::testing::Values("words", "words_fixed"),
                         [](const auto& build) { return std::string(build.param); });

}  // namespace
}  // namespace fieldcost::lab
