#include <array>
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/agent/preload/preload_fixture.h"

// A library allocates and moves bytes through words that the loader fills in; tested with the
// field's library.

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
  // Runs a victim with and without the agent.
  RunFileContent Run(const std::string& victim, const std::string& scenario,
                     const std::string& metrics, const std::string& pick) const {
    const std::vector<std::string> command = {kVictims + victim, scenario};
    ProcessOptions options = Measured(command, pick);
    for (auto& [name, value] : options.environment) {
      if (name == "FIELDCOST_METRICS") value = metrics;
    }
    const ProcessResult measured = RunProcess(options);
    EXPECT_EQ(measured.exit_status, RunProcess({.arguments = command}).exit_status);
    EXPECT_EQ(measured.exit_status, 0) << measured.errors;
    const auto files = RunFiles();
    EXPECT_THAT(files, SizeIs(1));
    return files.size() == 1 ? files[0] : RunFileContent{};
  }
  // The bytes recorded for each function.
  BytesBySymbol Bytes(const std::string& victim, const std::string& scenario,
                      const std::string& metrics, Metric metric) const {
    BytesBySymbol bytes;
    for (const auto& [key, totals] : Run(victim, scenario, metrics, kAllOfWords).totals) {
      if (key.second == metric && totals.count != 0) bytes[key.first] = totals.sum;
    }
    return bytes;
  }
  BytesBySymbol Allocated(const std::string& victim, const std::string& scenario) const {
    return Bytes(victim, scenario, "time,alloc", Metric::kAllocInclusive);
  }
  // Why bytes of the functions of these names were not measured.
  std::map<std::string, std::uint32_t> NotMeasured(const std::string& scenario,
                                                   const std::string& pick = kAllOfWords,
                                                   const std::string& metrics = "io") const {
    std::map<std::string, std::uint32_t> reasons;
    const RunFileContent run = Run("words", scenario, metrics, pick);
    for (const shm::Pick& found : run.picks) {
      if (run.calls.at(found.symbol) != 0) reasons[found.symbol] = found.not_measured;
    }
    return reasons;
  }

  static constexpr char kAllOfWords[] = "libwords.so.1!*";
};

class WordsOfBuildTest : public WordsTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(WordsOfBuildTest, CountsWhatIsAllocatedThroughVariablesAndTables) {
  EXPECT_THAT(
      Allocated(GetParam(), "allocate"),
      UnorderedElementsAre(Pair("words_by_call", 10000), Pair("words_by_variable", 10000),
                           Pair("words_by_table", 10000), Pair("words_by_exported", 10000),
                           Pair("words_by_own_function", 10000), Pair("words_by_guarded", 10000),
                           Pair("words_by_filled", 10000)));
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

TEST_F(WordsTest, ReportsWhichFunctionsMoveBytesWhereNoCallIsSeen) {
  EXPECT_THAT(NotMeasured("hidden"),
              UnorderedElementsAre(Pair("words_write", 0), Pair("words_call", shm::kDiskInsideLibc),
                                   Pair("words_print", shm::kDiskInsideLibc)));
}

TEST_F(WordsTest, ReportsWhatLibcsOwnFunctionsHide) {
  constexpr std::uint32_t kHidden = shm::kDiskInsideLibc | shm::kNetInsideLibc;
  EXPECT_THAT(NotMeasured("hidden", "libc.so.6!fwrite,libc.so.6!fflush,libc.so.6!ftruncate64"),
              UnorderedElementsAre(Pair("fwrite", kHidden), Pair("fflush", kHidden)));
}

TEST_F(WordsTest, MeasuresLibcsFunctionsThatAreCounted) {
  EXPECT_THAT(NotMeasured("files", "libc.so.6!write,libc.so.6!lseek"),
              IsSupersetOf({Pair("lseek", shm::kDiskInsideLibc | shm::kNetInsideLibc)}));
}

TEST_F(WordsTest, ReportsNothingInRunsThatMeterNoIo) {
  EXPECT_THAT(
      NotMeasured("hidden", kAllOfWords, "time,alloc"),
      UnorderedElementsAre(Pair("words_write", 0), Pair("words_call", 0), Pair("words_print", 0)));
}

TEST_F(WordsTest, MeasuresNoAllocationOfACallThatBringsALibrary) {
  EXPECT_THAT(
      NotMeasured("loads", kAllOfWords, "time,alloc"),
      UnorderedElementsAre(Pair("words_call", shm::kAllocInLoader), Pair("words_by_call", 0)));
}

TEST_F(WordsTest, MeasuresNoBytesReadOnceALibraryHasMappedAFile) {
  EXPECT_THAT(NotMeasured("mapped"), UnorderedElementsAre(Pair("words_write", shm::kReadMapped),
                                                          Pair("words_read", shm::kReadMapped)));
}

TEST_F(WordsTest, MeasuresNoBytesWrittenOnceALibraryHasMappedAFileForThat) {
  constexpr std::uint32_t kBoth = shm::kReadMapped | shm::kWrittenMapped;
  EXPECT_THAT(NotMeasured("mapped-shared"),
              UnorderedElementsAre(Pair("words_write", kBoth), Pair("words_read", kBoth)));
}

TEST_F(WordsTest, MeasuresOnAlthoughTheProgramHasMappedAFile) {
  EXPECT_THAT(NotMeasured("mapped-by-program"),
              UnorderedElementsAre(Pair("words_write", 0), Pair("words_read", 0)));
}

}  // namespace
}  // namespace fieldcost::testing
