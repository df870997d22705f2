// Commands with a low limit on open files either work, or fail with one status and the remedy.
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::HasSubstr;
using testing::ProcessResult;

constexpr int kShortOfFiles = 69;
constexpr int kLeast = 4;  // the dynamic linker opens one file at a time
constexpr int kMost = 24;

// The sanitizers themselves need descriptors to inspect memory.
#ifdef __SANITIZE_ADDRESS__
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

class FewFilesTest : public CliTest, public ::testing::WithParamInterface<std::string> {
 protected:
  // Runs `$fieldcost` with these arguments in an empty directory. `limiter` is the start of a
  // command line that sets the limit, because a shell with so few descriptors could not redirect
  // any.
  ProcessResult RunWith(const std::string& limiter) {
    return Shell("cd " + work_.path().string() + " && exec < /dev/null && exec " + limiter +
                 "\"$fieldcost\" " + GetParam());
  }

  testing::TempDir work_;
};

TEST_P(FewFilesTest, EndsAsUsualOrWithTheRemedy) {
  if (kIsSanitized) GTEST_SKIP() << "sanitizers need descriptors of their own";
  ASSERT_EQ(Cli({"agent", "local"}).exit_status, 0);
  ASSERT_EQ(Cli({"run", "--", "/bin/true"}).exit_status, 0);
  ASSERT_EQ(Cli({"probe", "run", "--local", "--", "/bin/true"}).exit_status, 0);
  const ProcessResult usual = RunWith("");
  if (usual.exit_status != 0) GTEST_SKIP() << usual.errors;
  int refused = 0;
  for (int limit = kLeast; limit <= kMost; ++limit) {
    const ProcessResult result = RunWith("prlimit --nofile=" + std::to_string(limit) + " ");
    if (result.exit_status == 0) continue;
    // The dynamic linker needs descriptors, too, and the test may have inherited some.
    if (result.errors.find("error while loading shared libraries") != std::string::npos) continue;
    ++refused;
    EXPECT_EQ(result.exit_status, kShortOfFiles) << limit << ": " << result.errors;
    EXPECT_THAT(result.errors, HasSubstr("Too many open files; raise the limit with ulimit -n"))
        << limit;
  }
  EXPECT_GT(refused, 0) << "no limit was too low";
}

INSTANTIATE_TEST_SUITE_P(Commands, FewFilesTest,
                         ::testing::Values("top --local", "agent status", "probe list",
                                           "measure --rounds 1 -- gzip -c /dev/null",
                                           "trace -o a.fct -- /bin/true",
                                           "probe run --local -- /bin/true"),
                         [](const auto& command) {
                           std::string name;
                           for (const char c : command.param) {
                             if (c >= 'a' && c <= 'z') name += c;
                           }
                           return name;
                         });

}  // namespace
}  // namespace fieldcost::cli
