#include "agent/daemon/agent.h"
#include "common/base/text.h"
#include "tools/cli/batch_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct Request {
  bool yes = false;  // do not ask
};

constexpr int kNo = 1;  // the user's, or not all could be taken back

// Whether the user agrees; an error if there is nobody to ask.
Result<bool> Agreed(const ForgetPlan& plan, const agent::Agent& agent) {
  if (!StdinIsTerminal() || !StderrIsTerminal()) {
    return Fail(ErrorCode::kInvalidArgument,
                "forget asks before it takes anything back, and there is no terminal: --yes");
  }
  return AskYes(ForgetPlanText(plan, EscapeControl(agent.config().url)) + "Go on? [y/N] ");
}

Result<int> Run(const Request& command, const Output& output) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
  // So that the plan knows of what was measured until now; forgetting does without, too.
  const auto harvest = agent.Harvest();
  if (!harvest) Remark(harvest.error().message);
  FIELDCOST_ASSIGN(const agent::AgentStatus status, agent.GetStatus());
  FIELDCOST_ASSIGN(const std::vector<agent::LoggedBatch> log, agent.Log());
  const ForgetPlan plan = MakeForgetPlan(log, status);
  if (!command.yes && !plan.Empty()) {
    FIELDCOST_ASSIGN(const bool agreed, Agreed(plan, agent));
    if (!agreed) {
      Remark("nothing was changed");
      return kNo;
    }
  }
  Progress progress("batch");
  std::uint64_t done = 0;
  FIELDCOST_ASSIGN(const agent::ForgetReport report,
                   agent.Forget([&](const agent::ForgetReport& so_far) {
                     if (!so_far.stopped_by) progress(++done, plan.sent);
                   }));
  const bool complete = report.batches_refused == 0 && report.batches_too_old == 0;
  FIELDCOST_TRY(WriteStdout(output.json ? ForgetJson(report) : ForgetText(report, plan)));
  if (report.stopped_by) {
    if (!output.json) Remark(report.stopped_by->message);
    return ExitStatus(report.stopped_by->code);
  }
  return complete ? 0 : kNo;
}

}  // namespace

command::Command AgentForgetCommand() {
  return {
      .name = "forget",
      .summary = "Take back everything that was sent",
      .help =
          R"(The service subtracts exactly what this agent sent; nothing is left of it in its sums. What
was published before stays in other people's copies until their next sync. The mode stays as
it is. If it is interrupted, run it again. Exit status 1: not all could be taken back.
Examples:
  fieldcost agent forget
  fieldcost agent off && fieldcost agent forget --yes)",
      .options = {{.names = "--yes,-y", .help = "Do not ask"}},
      .handler =
          [](const command::Arguments& arguments) {
            return Run({.yes = arguments.Has("--yes")}, OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
