#include <filesystem>

#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

// Commands that measure programs report children into which no library can be loaded.

namespace fieldcost::cli {
namespace {

using ::testing::HasSubstr;
using testing::ProcessResult;

const std::string kVictims = FIELDCOST_BINARY_DIR "/victims/";

// A way to run a program, and the text before the name of a child. `waits`: the number of times
// that the command waits while it checks the children several times.
struct Way {
  std::string name;
  std::vector<std::string> command;
  std::string remark;
  int waits = 20;
};

class UnmeasuredChildrenTest : public CliTest, public ::testing::WithParamInterface<Way> {
 protected:
  // Runs a script that starts `child` (tests/victims/stays.c) in the background and ends after the
  // command, which checks the children while it waits, has waited that many more times.
  ProcessResult RunWith(const std::string& child) {
    const std::string script = "cd " + work_.path().string() + R"sh( || exit 9
waits() {
  n=0
  for count in $(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' /proc/$PPID/task/*/status); do
    n=$((n + count))
  done
  echo $n
}
rm -f ready; mkfifo ready || exit 9
)sh" + child + R"sh( > ready & read -r line < ready || exit 9
last=$(($(waits) + )sh" + std::to_string(GetParam().waits) +
                               R"sh())
until [ "$(waits)" -ge "$last" ]; do :; done
kill $!; wait $! 2> /dev/null; exit 0)sh";
    std::vector<std::string> command = GetParam().command;
    if (command[0] == "trace") command.insert(command.end(), {"-o", work_.path() / "a.fct"});
    command.insert(command.end(), {"--", "/bin/sh", "-c", script});
    return Cli(command);
  }

  testing::TempDir work_;
};

TEST_P(UnmeasuredChildrenTest, NamesStaticOnes) {
  const std::string child = kVictims + "stays_static";
  const ProcessResult result = RunWith(child);
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("fieldcost: " + GetParam().remark + child +
                                       ": linked statically, so nothing can be loaded into it\n"));
}

TEST_P(UnmeasuredChildrenTest, NamesThoseInAnotherRootDirectory) {
  const std::filesystem::path root = work_.path() / "root";
  const ProcessResult made =
      Start({"/bin/sh", "-c",
             "mkdir -p $1/lib64 $1/lib/x86_64-linux-gnu && cp $2 $1/stays && "
             "cp /lib64/ld-linux-x86-64.so.2 $1/lib64/ && "
             "cp /lib/x86_64-linux-gnu/libc.so.6 $1/lib/x86_64-linux-gnu/ && "
             "chroot $1 /lib64/ld-linux-x86-64.so.2 --version",
             "sh", root.string(), kVictims + "stays"},
            {});
  if (made.exit_status != 0) GTEST_SKIP() << "chroot is not permitted: " << made.errors;
  const ProcessResult result = RunWith("chroot " + root.string() + " /stays");
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  EXPECT_THAT(result.errors, HasSubstr("fieldcost: " + GetParam().remark + root.string() +
                                       "/stays: in a container or chroot"));
}

INSTANTIATE_TEST_SUITE_P(
    Commands, UnmeasuredChildrenTest,
    ::testing::Values(
        Way{"Run", {"run", "--pick", "libc.so.6!puts"}, "not measured: "},
        Way{"Measure", {"measure", "--plan"}, "not measured: "},
        Way{"ProbeRun", {"probe", "run", "--local"}, "no points of ", 150},
        Way{"TraceEvents", {"trace", "--events", "libc.so.6!puts"}, "no events of ", 150}),
    [](const auto& way) { return way.param.name; });

}  // namespace
}  // namespace fieldcost::cli
