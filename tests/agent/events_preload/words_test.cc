#include "tests/agent/events_preload/trace_fixture.h"

// Counts bytes allocated, freed and moved through words that the loader fills in.

namespace fieldcost::events {
namespace {

class TraceWordsTest : public TraceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  Tree Words(const std::string& scenario) {
    TraceOptions options = Nothing();
    options.globs = "libwords.so.1!*";
    return TracedTree({kVictims + GetParam(), scenario}, options);
  }
};

TEST_P(TraceWordsTest, CountsWhatIsAllocatedAndFreedThroughVariablesAndTables) {
  const Tree tree = Words("copy");
  for (const char* const function : {"words_by_call", "words_by_variable", "words_by_exported",
                                     "words_by_guarded", "words_by_own_function"}) {
    SCOPED_TRACE(function);
    EXPECT_EQ(tree.at(function).at("allocated"), 10000U);
    EXPECT_EQ(tree.at(function).at("frees"), 10U);
  }
}

TEST_P(TraceWordsTest, CountsWhatIsMovedThroughATable) {
  const Tree tree = Words("files");
  EXPECT_EQ(tree.at("words_write").at("disk-written"), 3000U);
  EXPECT_EQ(tree.at("words_pwrite").at("disk-written"), 150000U);
  EXPECT_EQ(tree.at("words_read").at("disk-read"), 30000U);
}

TEST_P(TraceWordsTest, CountsThroughTablesOfWhatDlopenBrings) {
  EXPECT_EQ(Words("module").at("words_call").at("allocated"), 1000U);
}

INSTANTIATE_TEST_SUITE_P(Builds, TraceWordsTest, ::testing::Values("words", "words_fixed"),
                         [](const auto& build) { return std::string(build.param); });

}  // namespace
}  // namespace fieldcost::events
