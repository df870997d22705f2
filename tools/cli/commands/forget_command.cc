// `fieldcost agent forget`: withdraws sent data, or erases local measurements.
#include "agent/volunteer/agent.h"
#include "common/base/text.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/batch_text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/progress.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr int kIncomplete = 1;  // exit status: not everything could be withdrawn
struct ForgetRequest {
  bool yes = false;  // do not ask for confirmation
};

Status CheckSomebodyIsThere() {
  if (StdinIsTerminal() && StderrIsTerminal()) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "forget needs confirmation, but there is no terminal; use --yes");
}

// Whether the user agrees; an error if there is no terminal to ask.
Result<bool> Agreed(const ForgetPlan& plan, const volunteer::Agent& agent) {
  FIELDCOST_TRY(CheckSomebodyIsThere());
  return AskYes(
      draw::WrapLines(ForgetPlanText(plan, EscapeControl(agent.config().url)), StderrStyle()) +
      "Continue? [y/N] ");
}

// Erases only the sums on this machine.
Result<int> ForgetLocal(const ForgetRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, agent.LocalRows());
  if (!command.yes && !rows.empty()) {
    FIELDCOST_TRY(CheckSomebodyIsThere());
    if (!AskYes(Counted(rows.size(), "sum") +
                " of what was measured here will be erased. Continue? [y/N] ")) {
      Remark("nothing changed");
      return kDeclined;
    }
  }
  FIELDCOST_TRY(agent.ForgetLocal());
  FIELDCOST_TRY(
      WriteStdout(output.json ? ForgetLocalJson(rows.size())
                              : FitStdout(fmt::format("erased: {} of this machine\n"
                                                      "  What is to be sent stays (fieldcost agent "
                                                      "off deletes it), and so do the batches "
                                                      "sent\n  (fieldcost agent forget). Programs "
                                                      "that run add what they measure from now "
                                                      "on.\n",
                                                      Counted(rows.size(), "sum")))));
  return 0;
}

Result<int> RunForget(const ForgetRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  // Harvests so that the plan includes everything measured until now. Forgetting works without it.
  const auto harvest = agent.Harvest();
  if (!harvest) Remark(harvest.error().message);
  FIELDCOST_ASSIGN(const volunteer::AgentStatus status, agent.GetStatus());
  FIELDCOST_ASSIGN(const std::vector<spool::LoggedBatch> log, agent.Log());
  const ForgetPlan plan = MakeForgetPlan(log, status);
  if (!command.yes && !plan.Empty()) {
    FIELDCOST_ASSIGN(const bool agreed, Agreed(plan, agent));
    if (!agreed) {
      Remark("nothing changed");
      return kDeclined;
    }
  }
  Progress progress("batch");
  std::uint64_t done = 0;
  FIELDCOST_ASSIGN(const upload::ForgetReport report,
                   agent.Forget([&](const upload::ForgetReport& so_far) {
                     if (!so_far.stopped_by) progress(++done, plan.sent);
                   }));
  const bool complete = report.batches_refused == 0 && report.batches_too_old == 0;
  FIELDCOST_TRY(
      WriteStdout(output.json ? ForgetJson(report) : FitStdout(ForgetText(report, plan))));
  if (report.stopped_by) {
    if (!output.json) Remark(report.stopped_by->message);
    return ExitStatus(report.stopped_by->code);
  }
  return complete ? 0 : kIncomplete;
}

}  // namespace

command::Command AgentForgetCommand() {
  return {
      .name = "forget",
      .summary = "Take back everything that was sent",
      .help =
          R"(The service subtracts exactly what this agent sent. Nothing remains in its sums. Already published
data stays in other people's copies until their next sync. The mode does not change. If it is
interrupted, run it again. Exit status 1: not all could be taken back, or you declined.
With --local it erases what was measured on this machine (`fieldcost top --local`) instead; sent and
pending data are not affected.
Examples:
  fieldcost agent forget
  fieldcost agent forget --local
  fieldcost agent off && fieldcost agent forget --yes)",
      .options = {{.names = "--yes,-y", .help = "Do not ask"},
                  {.names = "--local", .help = "Erase this machine's own sums instead"}},
      .handler =
          [](const command::Arguments& arguments) {
            const ForgetRequest request{.yes = arguments.Has("--yes")};
            return arguments.Has("--local") ? ForgetLocal(request, OutputOf(arguments))
                                            : RunForget(request, OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
