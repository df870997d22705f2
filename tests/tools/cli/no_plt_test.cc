// Programs without a PLT: which calls are measured, and a single reason for the others.
#include "tests/support/binary_dir.h"
#include "tests/tools/cli/cli_fixture.h"

namespace fieldcost::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessResult;

const std::string kNoPlt = FIELDCOST_BINARY_DIR "/victims/no_plt";
const std::string kReason =
    kNoPlt + " loads the address (a function pointer, or a build with -fno-plt)";

class NoPltTest : public CliTest {
 protected:
  ProcessResult Run(const std::string& pick) {
    return Cli({"run", "--show", "--pick", pick, "--", kNoPlt});
  }
  ProcessResult Trace(const std::string& events, const std::vector<std::string>& options = {}) {
    const std::string file = (work_.path() / "a.fct").string();
    std::vector<std::string> command = {"trace", "-o", file, "--events", events};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", kNoPlt});
    return Cli(command);
  }

  testing::TempDir work_;
};

TEST_F(NoPltTest, FunctionsThatAreOnlyCalledAreMeasured) {
  EXPECT_THAT(Run("no_plt_called").errors,
              AllOf(HasSubstr("no_plt_called"), Not(HasSubstr("nothing measured"))));
  EXPECT_THAT(Trace("no_plt_called").errors, Not(HasSubstr("no_plt_called:")));
}

TEST_F(NoPltTest, AllCommandsGiveOneReasonForTheOthers) {
  EXPECT_THAT(Run("no_plt_compared").errors,
              HasSubstr("nothing measured for 'no_plt_compared': " + kReason));
  EXPECT_THAT(Trace("no_plt_compared").errors, HasSubstr("no_plt_compared: " + kReason));
  EXPECT_THAT(Cli({"agent", "explain", kNoPlt}).output,
              AllOf(HasSubstr("no_plt_compared"), HasSubstr(": " + kReason),
                    HasSubstr("no_plt_called, no_plt_jumped_to\n"), Not(HasSubstr("dlsym"))));
}

TEST_F(NoPltTest, TheSettingThatTheReasonNamesMeasuresThem) {
  WriteConfig("[selection]\ndata_slots = true\n");
  EXPECT_THAT(Run("no_plt_compared").errors,
              AllOf(HasSubstr("no_plt_compared"), Not(HasSubstr("nothing measured"))));
}

TEST_F(NoPltTest, TheOptionThatTheReasonNamesCountsThem) {
  const ProcessResult traced = Trace("no_plt_compared", {"--function-pointers"});
  EXPECT_EQ(traced.exit_status, 0) << traced.errors;
  EXPECT_THAT(traced.errors, Not(HasSubstr("no_plt_compared:")));
  EXPECT_THAT(Cli({"tree", "show", "--metric", "calls", (work_.path() / "a.fct").string()}).output,
              HasSubstr("no_plt_compared"));
}

TEST_F(NoPltTest, AFunctionThatIsNotImportedHasAnotherReason) {
  EXPECT_THAT(Run("no_plt_nowhere").errors,
              AllOf(HasSubstr("not called from the program"), Not(HasSubstr("-fno-plt"))));
  EXPECT_THAT(Trace("no_plt_nowhere").errors,
              AllOf(HasSubstr("not called from the program"), Not(HasSubstr("-fno-plt"))));
}

TEST_F(NoPltTest, AStaticProgramIsReportedOnce) {
  const std::string file = (work_.path() / "a.fct").string();
  const ProcessResult result = Cli({"trace", "-o", file, "--events", "deflate", "--",
                                    FIELDCOST_BINARY_DIR "/victims/hello_static"});
  EXPECT_THAT(result.errors, AllOf(HasSubstr("linked statically"), Not(HasSubstr("not called"))));
}

}  // namespace
}  // namespace fieldcost::cli
