#include <array>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// A library that allocates and moves bytes through words that the loader fills in; tried through
// the library of the field.

namespace fieldcost::testing {
namespace {

using shm::Metric;
using ::testing::IsSupersetOf;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

using BytesBySymbol = std::map<std::string, std::uint64_t>;

class WordsTest : public PreloadTest {
 protected:
  // Runs a victim with and without the agent; what each function was recorded with.
  BytesBySymbol Bytes(const std::string& victim, const std::string& scenario,
                      const std::string& metrics, Metric metric) const {
    const std::vector<std::string> command = {kVictims + victim, scenario};
    ProcessOptions options = Measured(command, "libwords.so.1!*");
    for (auto& [name, value] : options.environment) {
      if (name == "FIELDCOST_METRICS") value = metrics;
    }
    const ProcessResult measured = RunProcess(options);
    EXPECT_EQ(measured.exit_status, RunProcess({.arguments = command}).exit_status);
    EXPECT_EQ(measured.exit_status, 0) << measured.errors;
    const auto files = RunFiles();
    EXPECT_THAT(files, SizeIs(1));
    BytesBySymbol bytes;
    if (files.size() != 1) return bytes;
    for (const auto& [key, totals] : files[0].totals) {
      if (key.second == metric && totals.count != 0) bytes[key.first] = totals.sum;
    }
    return bytes;
  }
  BytesBySymbol Allocated(const std::string& victim, const std::string& scenario) const {
    return Bytes(victim, scenario, "time,alloc", Metric::kAllocInclusive);
  }
};

class WordsOfBuildTest : public WordsTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(WordsOfBuildTest, CountsWhatIsAllocatedThroughVariablesAndTables) {
  EXPECT_THAT(Allocated(GetParam(), "allocate"),
              UnorderedElementsAre(Pair("words_by_call", 10000), Pair("words_by_variable", 10000),
                                   Pair("words_by_table", 10000), Pair("words_by_exported", 10000),
                                   Pair("words_by_own_function", 10000),
                                   Pair("words_by_guarded", 10000)));
}

TEST_P(WordsOfBuildTest, CountsThroughTheProgramsCopyOfAVariable) {
  EXPECT_THAT(Allocated(GetParam(), "copy"), IsSupersetOf({Pair("words_by_exported", 10000)}));
}

TEST_P(WordsOfBuildTest, LeavesWhatTheProgramStoresInATable) {
  EXPECT_THAT(Allocated(GetParam(), "change"),
              IsSupersetOf({Pair("words_by_variable", 1000 + 2000 + 1000)}));
}

TEST_P(WordsOfBuildTest, CountsThroughTablesOfWhatDlopenBrings) {
  EXPECT_THAT(Allocated(GetParam(), "module"),
              UnorderedElementsAre(Pair("words_call", 1000), Pair("words_by_table", 1000)));
}

INSTANTIATE_TEST_SUITE_P(Builds, WordsOfBuildTest, ::testing::Values("words", "words_fixed"),
                         [](const auto& build) { return std::string(build.param); });

TEST_F(WordsTest, CountsWhatIsMovedThroughATable) {
  EXPECT_THAT(Bytes("words", "files", "io", Metric::kDiskWritten),
              UnorderedElementsAre(Pair("words_write", 3000), Pair("words_pwrite", 150000),
                                   Pair("words_read", 0)));
}

TEST_F(WordsTest, CountsWhatIsReadThroughATable) {
  EXPECT_THAT(Bytes("words", "files", "io", Metric::kDiskRead),
              UnorderedElementsAre(Pair("words_write", 0), Pair("words_pwrite", 0),
                                   Pair("words_read", 30000)));
}

}  // namespace
}  // namespace fieldcost::testing
