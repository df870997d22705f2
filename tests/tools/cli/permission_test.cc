#include "tests/tools/cli/cli_fixture.h"

// The effect of the administrator's /etc/fieldcost/system.toml on a user's decision, tested in a
// separate mount namespace.

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessResult;

constexpr int kPermissionDenied = 77;

class PermissionTest : public CliTest {
 protected:
  // Runs the command with this text in system.toml.
  ProcessResult Where(const std::string& system, const std::string& command) {
    return Shell(
        "mkdir -p \"$FIELDCOST_HOME/etc\" && cp -a /etc/. \"$FIELDCOST_HOME/etc\" && cd "
        "\"$FIELDCOST_HOME/etc\" && mkdir -p fieldcost && printf '" +
        system +
        "' > fieldcost/system.toml && exec unshare --mount /bin/sh -c 'mount --bind . /etc || "
        "{ echo unshare failed >&2; exit 1; }; " +
        command + "'");
  }
};

TEST_F(PermissionTest, CannotBeSwitchedOnIfTheAdministratorForbidsIt) {
  const std::string forbidden = "[consent]\\npermit = false\\n";
  const ProcessResult on = Where(forbidden, "\"$fieldcost\" agent on");
  if (on.errors.find("unshare") != std::string::npos) {
    GTEST_SKIP() << "needs the privilege to make a mount namespace: " << on.errors;
  }
  EXPECT_EQ(on.exit_status, kPermissionDenied) << on.output;
  EXPECT_THAT(on.errors, HasSubstr("/etc/fieldcost/system.toml"));
  EXPECT_EQ(Where(forbidden, "\"$fieldcost\" agent local").exit_status, kPermissionDenied);
  EXPECT_EQ(Where(forbidden, "\"$fieldcost\" agent off").exit_status, 0);
}

TEST_F(PermissionTest, ADecisionFromBeforeIsKeptButNotInForce) {
  ASSERT_EQ(Cli({"agent", "on"}).exit_status, 0);
  const ProcessResult status =
      Where("[consent]\\npermit = false\\n",
            "\"$fieldcost\" agent status; \"$fieldcost\" agent status --json");
  if (status.errors.find("unshare") != std::string::npos) {
    GTEST_SKIP() << "needs the privilege to make a mount namespace: " << status.errors;
  }
  EXPECT_THAT(status.output,
              AllOf(HasSubstr("mode                on since"), HasSubstr("NOT PERMITTED"),
                    HasSubstr("see /etc/fieldcost/system.toml"), HasSubstr("\"forbidden\":true")));
}

}  // namespace
}  // namespace fieldcost::cli
