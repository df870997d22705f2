#include "common/base/file.h"
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

// `fieldcost measure --require`: real programs, with and without planted violations.

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";

constexpr int kMet = 0;
constexpr int kViolated = 1;
constexpr int kNotMeasured = 2;
constexpr int kUsage = 64;
constexpr int kNotFound = 66;

constexpr char kBudget[] = R"(
[[function]]
name = "libbudget.so.1!budget_work"
p50 = "1 ms"
p99 = "1 ms"
allocated = "0 B"
calls = 60
)";

class RequireTest : public CliTest {
 protected:
  ProcessResult Measure(const std::string& requirements, const std::vector<std::string>& program,
                        const std::vector<std::string>& options = {}) {
    std::filesystem::create_directories(home());
    const std::string file = (home() / "limits.toml").string();
    EXPECT_TRUE(WriteFileAtomically(file, requirements, 0600));
    std::vector<std::string> arguments = {"measure", "--rounds", "3", "--require", file};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    return Cli(arguments);
  }
  ProcessResult Budget(const std::string& mode, const std::string& calls = "60") {
    return Measure(kBudget, {kVictims + "budget", calls, mode});
  }
};

TEST_F(RequireTest, AProgramWithinItsBudgetPasses) {
  const ProcessResult result = Budget("plain");
  EXPECT_EQ(result.exit_status, kMet) << result.errors << result.output;
  EXPECT_THAT(result.output,
              AllOf(ContainsRegex("met +budget_work +libbudget.so.1 +p99 ≤ 1 ms "),
                    ContainsRegex("met .* allocated ≤ 0 B +0 B"),
                    ContainsRegex("met .* calls ≤ 60 +60"), HasSubstr("4 requirements: 4 met\n")));
}

TEST_F(RequireTest, FindsPlantedSlowCallsByTheirQuantileAlone) {
  const ProcessResult result = Budget("slow");
  EXPECT_EQ(result.exit_status, kViolated) << result.errors << result.output;
  EXPECT_THAT(
      result.output,
      AllOf(ContainsRegex("violated +budget_work +libbudget.so.1 +p99 ≤ 1 ms +[0-9.]+ ms\n"),
            ContainsRegex("met .* p50 ≤ 1 ms "), ContainsRegex("met .* allocated ≤ 0 B"),
            HasSubstr("4 requirements: 1 violated, 3 met\n")));
}

TEST_F(RequireTest, FindsPlantedAllocations) {
  const ProcessResult result = Budget("allocating");
  EXPECT_EQ(result.exit_status, kViolated) << result.errors << result.output;
  EXPECT_THAT(result.output, AllOf(ContainsRegex("violated +budget_work .* allocated ≤ 0 B +64 B"),
                                   HasSubstr("4 requirements: 1 violated, 3 met\n")));
}

constexpr char kNoGrowth[] = "[[function]]\nname = \"budget_work\"\ngrowing = false\n";

TEST_F(RequireTest, FindsPlantedGrowth) {
  for (const char* mode : {"leaking", "appending"}) {
    const ProcessResult result = Measure(kNoGrowth, {kVictims + "budget", "60", mode});
    EXPECT_EQ(result.exit_status, kViolated) << mode << result.errors << result.output;
    EXPECT_THAT(result.output, ContainsRegex("violated +budget_work .* not growing +by "));
  }
  // 56 is what malloc provides for 48 bytes.
  EXPECT_THAT(Measure(kNoGrowth, {kVictims + "budget", "60", "leaking"}).output,
              HasSubstr("by 56 B per call"));
}

TEST_F(RequireTest, FreedBlocksAndFullCachesAreNoGrowth) {
  for (const char* mode : {"plain", "allocating", "caching"}) {
    const ProcessResult result = Measure(kNoGrowth, {kVictims + "budget", "60", mode});
    EXPECT_EQ(result.exit_status, kMet) << mode << result.errors << result.output;
    EXPECT_THAT(result.output, ContainsRegex("met +budget_work .* not growing +no\n")) << mode;
  }
}

TEST_F(RequireTest, GrowthNeedsCalls) {
  const ProcessResult result = Measure(kNoGrowth, {kVictims + "budget", "15", "leaking"});
  EXPECT_EQ(result.exit_status, kNotMeasured) << result.errors << result.output;
  EXPECT_THAT(result.output, HasSubstr("growth needs 16 in a run"));
}

TEST_F(RequireTest, CountsCallsExactly) {
  const ProcessResult result = Budget("plain", "61");
  EXPECT_EQ(result.exit_status, kViolated) << result.errors << result.output;
  EXPECT_THAT(result.output, ContainsRegex("violated .* calls ≤ 60 +61"));
}

TEST_F(RequireTest, UnmeasuredFiguresAreNeverMet) {
  // 30 calls in all: too few for p99.
  const ProcessResult few = Budget("plain", "10");
  EXPECT_EQ(few.exit_status, kNotMeasured) << few.errors << few.output;
  EXPECT_THAT(few.output, AllOf(ContainsRegex("not measured .* p99 ≤ 1 ms +30 of the 100 calls"),
                                HasSubstr("4 requirements: 1 not measured, 3 met\n")));
  const ProcessResult uncalled = Measure("[[function]]\nname = \"budget_gone\"\ncalls = 1\n",
                                         {kVictims + "budget", "1", "plain"});
  EXPECT_EQ(uncalled.exit_status, kNotMeasured) << uncalled.errors;
  EXPECT_THAT(uncalled.output,
              ContainsRegex("not measured +budget_gone .*no function with that name was called"));
}

TEST_F(RequireTest, BytesThatCannotBeCountedAreNotMeasured) {
  // libc reads streams by itself.
  const ProcessResult result = Measure(
      "[[function]]\nname = \"libc.so.6!puts\"\ndisk_written = \"0 B\"\nallocated = \"1 MiB\"\n",
      {kVictims + "hello"});
  EXPECT_EQ(result.exit_status, kNotMeasured) << result.errors << result.output;
  EXPECT_THAT(result.output,
              AllOf(ContainsRegex("not measured .* disk_written ≤ 0 B +its bytes could not"),
                    ContainsRegex("met .* allocated ≤ 1 MiB")));
}

TEST_F(RequireTest, AViolationOutweighsWhatIsNotMeasured) {
  const ProcessResult result =
      Measure(std::string(kBudget) + "[[function]]\nname = \"budget_gone\"\np50 = \"1 s\"\n",
              {kVictims + "budget", "60", "allocating"}, {"--json"});
  EXPECT_EQ(result.exit_status, kViolated) << result.errors;
  EXPECT_THAT(result.output, AllOf(HasSubstr(R"("verdict":"violated")"),
                                   HasSubstr(R"("counts":{"violated":1,"not measured":1,"met":3})"),
                                   HasSubstr(R"("api":"libbudget.so.1!budget_work")")));
}

TEST_F(RequireTest, CsvHasOneRecordPerRequirement) {
  const ProcessResult result = Measure(kBudget, {kVictims + "budget", "60", "plain"}, {"--csv"});
  EXPECT_EQ(result.exit_status, kMet) << result.errors;
  EXPECT_THAT(
      result.output,
      AllOf(HasSubstr("verdict,name,figure,limit,unit,library,symbol,measured,low,high,why"),
            HasSubstr("met,libbudget.so.1!budget_work,allocated,0,bytes,libbudget.so.1,"
                      "budget_work,0,,,\r\n")));
}

// A program that was not written for this: SQLite, of whose functions the facts are known.
TEST_F(RequireTest, JudgesARealProgram) {
  const std::vector<std::string> program = {
      "sqlite3",
      ":memory:", "create table t(x); insert into t values(1),(2),(3); select x from t;"};
  const ProcessResult met = Measure(R"(
[[function]]
name = "libsqlite3.so.0!sqlite3_step"
mean = "1 s"
calls = 1000
[[function]]
name = "sqlite3_column_count"
allocated = "0 B"
)",
                                    program);
  EXPECT_EQ(met.exit_status, kMet) << met.errors << met.output;
  // Preparing a statement certainly allocates.
  const ProcessResult violated =
      Measure("[[function]]\nname = \"sqlite3_prepare_v2\"\nallocated = \"0 B\"\n", program);
  EXPECT_EQ(violated.exit_status, kViolated) << violated.errors << violated.output;
}

TEST_F(RequireTest, RefusesFilesBeforeAnythingRuns) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"", "at least one [[function]]"},
      {"[[function]]\np99 = \"1 ms\"\n", "expected the name of a function"},
      {"[[function]]\nname = \"f\"\n", "expected this or another limit"},
      {"[[function]]\nname = \"f\"\np99 = \"soon\"\n", "a time such as"},
      {"[[function]]\nname = \"f\"\nallocated = \"1 ms\"\n", "a size such as"},
      {"[[function]]\nname = \"f\"\np98 = \"1 ms\"\n", "p98"},
      {"[[function]]\nname = \"a b\"\np99 = \"1 ms\"\n", "name"},
      {"[[function]]\nname = \"f\"\ngrowing = true\n", "expected false"},
      {"[[function]\n", "limits.toml"}};
  for (const auto& [file, message] : wrong) {
    const ProcessResult result = Measure(file, {kVictims + "budget", "1", "plain"});
    EXPECT_EQ(result.exit_status, kUsage) << file;
    EXPECT_THAT(result.errors, AllOf(HasSubstr("limits.toml"), HasSubstr(message))) << file;
    EXPECT_THAT(result.errors, Not(HasSubstr("plain "))) << file;
    EXPECT_THAT(result.output, IsEmpty());
  }
  EXPECT_EQ(Cli({"measure", "--require", "/no/such/file", "--", "true"}).exit_status, kNotFound);
}

}  // namespace
}  // namespace fieldcost::cli
