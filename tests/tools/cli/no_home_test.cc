// A home directory that is missing or not writable never prevents the program from running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::HasSubstr;

constexpr char kProgram[] = " -- sh -c 'echo hello; exit 5'";
constexpr char kNoProfile[] =
    "unset FIELDCOST_HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME; cd /; ";

struct Home {
  std::string name;
  std::string set;  // shell commands
};

std::string NameOf(const ::testing::TestParamInfo<Home>& given) { return given.param.name; }

// Without HOME, the home of the user database is used; nothing is written there.
class NoHomeTest : public CliTest, public ::testing::WithParamInterface<Home> {
 protected:
  // Runs the command with this HOME, and expects the program to run as it does by itself.
  testing::ProcessResult Expect(const std::string& command, const std::string& output = "hello\n") {
    auto result = Shell(kNoProfile + GetParam().set + "; \"$fieldcost\" " + command + kProgram);
    EXPECT_EQ(result.exit_status, 5) << result.errors;
    EXPECT_EQ(result.output, output) << result.errors;
    return result;
  }
};

class UnwritableHomeTest : public NoHomeTest {};

TEST_P(NoHomeTest, RunRunsTheProgram) { Expect("run"); }

TEST_P(UnwritableHomeTest, TheProgramRunsAndTheReasonIsReported) {
  EXPECT_THAT(Expect("run").errors, HasSubstr("nothing is measured: "));
  EXPECT_THAT(Expect("run --pick 'libc.so.6!*'").errors, HasSubstr("nothing is measured: "));
  EXPECT_THAT(Expect("probe run --local").errors, HasSubstr("nothing was recorded: "));
  EXPECT_THAT(Expect("probe run --local --runs 2", "hello\nhello\n").errors,
              HasSubstr("nothing was recorded: "));
}

TEST_P(NoHomeTest, RecordersNeedNoHome) {
  const testing::TempDir directory(testing::kMemory);
  const std::string file = (directory.path() / "t.fct").string();
  Expect("trace -o " + file);
  Expect("trace --events functions -o " + file);
}

const Home kUnwritable[] = {{"NoDirectory", "export HOME=/dev/null"},
                            {"WhereNothingCanBeWritten", "export HOME=/proc/self"}};
const Home kMissing[] = {
    {"Unset", "unset HOME"}, {"Empty", "export HOME="}, {"Relative", "export HOME=here/there"}};

INSTANTIATE_TEST_SUITE_P(Missing, NoHomeTest, ::testing::ValuesIn(kMissing), NameOf);
INSTANTIATE_TEST_SUITE_P(Unwritable, NoHomeTest, ::testing::ValuesIn(kUnwritable), NameOf);
INSTANTIATE_TEST_SUITE_P(Homes, UnwritableHomeTest, ::testing::ValuesIn(kUnwritable), NameOf);

class NoSpaceTest : public CliTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(NoSpaceTest, TheProgramRunsOnAFileSystemThatTakesNothing) {
  const testing::TempDir directory;
  const std::string home = directory.path().string();
  for (const std::string command : {"run", "run --pick \"libc.so.6!*\"", "probe run --local"}) {
    const auto result =
        Shell(kNoProfile + ("export HOME='" + home + "'; exec unshare --mount /bin/sh -c '" +
                            GetParam() + " || { echo unshare failed >&2; exit 1; }; " +
                            "\"$fieldcost\" " + command + " -- sh -c \"echo hello; exit 5\"'"));
    if (result.errors.find("unshare") != std::string::npos) {
      GTEST_SKIP() << "needs the privilege to make a mount namespace: " << result.errors;
    }
    EXPECT_EQ(result.exit_status, 5) << command << ": " << result.errors;
    EXPECT_EQ(result.output, "hello\n") << command << ": " << result.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Disks, NoSpaceTest,
    ::testing::Values("mount -t tmpfs -o size=4k none \"$HOME\" && "
                      "{ dd if=/dev/zero of=\"$HOME/x\" bs=4k count=1 2>/dev/null; true; }",
                      "mount -t tmpfs -o ro none \"$HOME\""),
    [](const auto& given) { return given.index == 0 ? "Full" : "ReadOnly"; });

}  // namespace
}  // namespace fieldcost::cli
