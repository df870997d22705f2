// `fieldcost tree compare`, and the time tree of `fieldcost tree at`, with real programs.
#include <filesystem>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ProcessResult;
namespace fs = std::filesystem;

constexpr int kUsage = 64;
constexpr int kNotFound = 66;
const std::string kTraced = FIELDCOST_BINARY_DIR "/victims/traced";
using Words = std::vector<std::string>;

class TreeCompareTest : public CliTest {
 protected:
  ProcessResult Compare(Words options, const Words& old_program, const Words& new_program) {
    Words arguments = {"tree", "compare"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), old_program.begin(), old_program.end());
    arguments.emplace_back("--");
    arguments.insert(arguments.end(), new_program.begin(), new_program.end());
    return Cli(arguments);
  }

  testing::TempDir work_;
};

TEST_F(TreeCompareTest, FindsOnlyTheFunctionThatIsCalledMoreOften) {
  // jumps calls leaf and other functions, too.
  const ProcessResult compared =
      Compare({"--runs", "3", "--events", "functions", "--metric", "calls"}, {kTraced, "work"},
              {kTraced, "fib"});
  EXPECT_EQ(compared.exit_status, 1) << compared.errors;
  EXPECT_THAT(compared.output, AllOf(ContainsRegex("new .* self .* traced!fib\n"),
                                     ContainsRegex("gone .* self .* traced!work\n")));
  EXPECT_THAT(compared.output, Not(HasSubstr("at 0x"))) << "the program's own output";
  EXPECT_THAT(compared.errors, Not(HasSubstr(" samples, "))) << "each run's own summary";
}

TEST_F(TreeCompareTest, TheSameProgramCostsTheSame) {
  const ProcessResult same = Compare({"--runs", "3", "--events", "functions", "--metric", "calls"},
                                     {kTraced, "work"}, {kTraced, "work"});
  EXPECT_EQ(same.exit_status, 0) << same.errors;
  EXPECT_THAT(same.output, HasSubstr("No significant changes"));
}

// A program is not identified by its file's name.
TEST_F(TreeCompareTest, TheSameProgramInTwoFilesCostsTheSame) {
  const fs::path old_file = work_.path() / "old";
  const fs::path new_file = work_.path() / "new";
  fs::copy_file(kTraced, old_file);
  fs::copy_file(kTraced, new_file);
  const std::string kept = (work_.path() / "kept").string();
  const ProcessResult same =
      Compare({"--runs", "3", "--events", "functions", "--metric", "calls", "--keep", kept},
              {old_file, "work"}, {new_file, "work"});
  EXPECT_EQ(same.exit_status, 0) << same.errors;
  EXPECT_THAT(same.output, AllOf(HasSubstr("No significant changes"), HasSubstr("new!work"),
                                 Not(HasSubstr("old!")), Not(HasSubstr("gone"))));
  EXPECT_THAT(same.errors, HasSubstr("old and new are compared as one program, new"));
  const ProcessResult diff =
      Cli({"tree", "diff", kept + "/old-1.fct", kept + "/new-1.fct", "--metric", "calls"});
  EXPECT_THAT(diff.output, Not(HasSubstr("gone")));
  // Differences between two files are still reported as such.
  const ProcessResult more = Compare({"--runs", "2", "--events", "functions", "--metric", "calls"},
                                     {old_file, "work"}, {new_file, "fib"});
  EXPECT_EQ(more.exit_status, 1);
  EXPECT_THAT(more.output, ContainsRegex("new .* self .* new!fib\n"));
}

TEST_F(TreeCompareTest, DividesBothSidesByTheNamesOfTheirThreads) {
  const fs::path old_file = work_.path() / "old";
  fs::copy_file(kTraced, old_file);
  for (const std::string by : {"thread", "process"}) {
    const ProcessResult same =
        Compare({"--runs", "2", "--events", "functions", "--metric", "calls", "--by", by},
                {old_file, "work"}, {kTraced, "work"});
    EXPECT_EQ(same.exit_status, 0) << same.errors;
    EXPECT_THAT(same.output,
                AllOf(HasSubstr("No significant changes"), ContainsRegex("\\[" + by + " traced\\]"),
                      Not(HasSubstr("[" + by + " old]")), Not(HasSubstr("gone"))));
  }
}

TEST_F(TreeCompareTest, FollowsRenames) {
  const ProcessResult renamed =
      Compare({"--runs", "2", "--events", "functions", "--metric", "calls", "--rename",
               "no_such=other", "--rename", "work=work"},
              {kTraced, "work"}, {kTraced, "work"});
  EXPECT_EQ(renamed.exit_status, 0) << renamed.errors;
  EXPECT_THAT(renamed.errors, AllOf(HasSubstr("--rename no_such=other matches nothing"),
                                    Not(HasSubstr("work=work matches nothing"))));
}

TEST_F(TreeCompareTest, WritesAPageInAdditionToTheFullAnswer) {
  const std::string page = (work_.path() / "page.html").string();
  const ProcessResult compared =
      Compare({"--runs", "2", "--events", "functions", "--metric", "calls", "--html", page},
              {kTraced, "work"}, {kTraced, "fib"});
  EXPECT_EQ(compared.exit_status, 1) << compared.errors;
  EXPECT_THAT(compared.output, ContainsRegex("^[^\n]* is new: [^\n]* values compared\\)\n"));
  EXPECT_THAT(compared.output, AllOf(HasSubstr("RATIO"), HasSubstr("fib"), HasSubstr("gone")));
  EXPECT_TRUE(fs::exists(page));
}

TEST_F(TreeCompareTest, OneRunASideIsTooLittle) {
  const ProcessResult one = Compare({"--runs", "1", "--events", "functions", "--metric", "calls"},
                                    {kTraced, "work"}, {kTraced, "fib"});
  EXPECT_EQ(one.exit_status, 2) << one.errors;
}

TEST_F(TreeCompareTest, RecordingsAreKeptIfSoWished) {
  const std::string kept = (work_.path() / "kept").string();
  ASSERT_EQ(Compare({"--runs", "2", "--keep", kept}, {kTraced, "work"}, {kTraced, "fib"}).signal,
            0);
  for (const char* name : {"old-1.fct", "old-2.fct", "new-1.fct", "new-2.fct"}) {
    EXPECT_EQ(Cli({"tree", "verify", kept + "/" + name}).exit_status, 0) << name;
  }
}

TEST_F(TreeCompareTest, DoesNotCompareFailedRuns) {
  const ProcessResult failed = Compare({"--runs", "2"}, {"/bin/true"}, {"/bin/sh", "-c", "exit 3"});
  EXPECT_NE(failed.exit_status, 0);
  EXPECT_THAT(failed.errors, HasSubstr("run 1 of the new program exited with status 3"));
  const ProcessResult none = Compare({}, {"/bin/true"}, {"/no/such"});
  EXPECT_EQ(none.exit_status, kNotFound);
  EXPECT_THAT(none.errors, HasSubstr("/no/such"));
  EXPECT_EQ(Cli({"tree", "compare", "--", "/bin/true"}).exit_status, kUsage);
  EXPECT_EQ(Cli({"tree", "compare", "--", "--", "/bin/true"}).exit_status, kUsage);
}

// The tree is exact if every path is kept and leaves hold everything.
TEST_F(TreeCompareTest, ATimeTreeThatKeepsAllCountsAllSamples) {
  const std::string file = (work_.path() / "a.fct").string();
  ASSERT_EQ(
      Cli({"trace", "-o", file, "--rate", "997", "--", "python3", "-c", "sum(range(9000000))"})
          .exit_status,
      0);
  const Words common = {"tree", "at", file, "--method", "mnp", "--all", "--json"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), common.begin(), common.end());
    return Cli(more);
  };
  const ProcessResult whole = with({"--m", "1000000"});
  const ProcessResult divided = with({"--m", "10", "--n", "2", "--p", "100"});
  ASSERT_EQ(whole.exit_status, 0) << whole.errors;
  const auto nodes = [](const std::string& json) { return json.substr(0, json.find("remarks")); };
  EXPECT_EQ(nodes(whole.output), nodes(divided.output));
  EXPECT_THAT(whole.output, HasSubstr("each path has up to 0 more samples"));
  EXPECT_NE(with({"--n", "1"}).exit_status, 0);
  EXPECT_EQ(Cli({"tree", "at", file, "--method", "guess"}).exit_status, kUsage);
}

}  // namespace
}  // namespace fieldcost::cli
