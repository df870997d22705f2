#include <map>

#include "tests/agent/lab/measure_fixture.h"

// Counts allocations through words that the loader fills in.

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

// Why something about each function's calls is unknown.
class LabReasonsTest : public MeasureTest {
 protected:
  void Measure(const std::string& scenario) {
    MeasureOptions options = Options({kVictims + "words", scenario});
    options.rounds = 1;
    auto found = Measured(options);
    ASSERT_TRUE(found) << found.error().message;
    found_ = std::move(*found);
  }
  std::uint32_t ReasonsOf(const std::string& symbol) const {
    const ApiSums* const api = Find(*found_, symbol.c_str());
    EXPECT_NE(api, nullptr) << symbol;
    return api == nullptr ? 0 : api->not_measured;
  }
  bool HasTotal(const std::string& symbol, stats::Metric metric) const {
    const ApiSums* const api = Find(*found_, symbol.c_str());
    return api != nullptr && found_->sums.TotalsOf(*api).contains(metric);
  }
  std::optional<Measurement> found_;
};

TEST_F(LabReasonsTest, NamesWhatLibcMovesByItself) {
  ASSERT_NO_FATAL_FAILURE(Measure("hidden"));
  EXPECT_EQ(ReasonsOf("words_print"), shm::kDiskInsideLibc);
  EXPECT_EQ(ReasonsOf("words_write"), 0U);
  EXPECT_FALSE(HasTotal("words_print", stats::Metric::kDiskWritten));
  EXPECT_TRUE(HasTotal("words_print", stats::Metric::kNetSent));
  EXPECT_TRUE(HasTotal("words_write", stats::Metric::kDiskWritten));
}

TEST_F(LabReasonsTest, NamesAFileThatALibraryHasMappedInCallsThatEndLater) {
  ASSERT_NO_FATAL_FAILURE(Measure("mapped"));
  EXPECT_EQ(ReasonsOf("words_write"), 0U);
  EXPECT_EQ(ReasonsOf("words_read"), shm::kReadMapped);
  EXPECT_FALSE(HasTotal("words_read", stats::Metric::kDiskRead));
  EXPECT_TRUE(HasTotal("words_read", stats::Metric::kDiskWritten));
  EXPECT_TRUE(HasTotal("words_write", stats::Metric::kDiskRead));
}

TEST_F(LabReasonsTest, NamesALibraryThatTheCallLoads) {
  ASSERT_NO_FATAL_FAILURE(Measure("loads"));
  EXPECT_EQ(ReasonsOf("words_call"), shm::kAllocInLoader);
  EXPECT_EQ(ReasonsOf("words_by_call"), 0U);
  EXPECT_FALSE(HasTotal("words_call", stats::Metric::kAllocInclusive));
  EXPECT_TRUE(HasTotal("words_by_call", stats::Metric::kAllocInclusive));
  EXPECT_TRUE(Find(*found_, "words_call")->inclusive.empty());
}

INSTANTIATE_TEST_SUITE_P(Builds, LabWordsTest, ::testing::Values("words", "words_fixed"),
                         [](const auto& build) { return std::string(build.param); });

}  // namespace
}  // namespace fieldcost::lab
