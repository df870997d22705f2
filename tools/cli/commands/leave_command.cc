// `fieldcost agent leave`: undoes `fieldcost agent join`.
#include "agent/volunteer/agent.h"
#include "common/base/text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/join/join_text.h"
#include "tools/cli/join/leave_steps.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct LeaveRequest {
  bool yes = false;
  bool forget = false;
};

// The number of batches that the service still has. Cannot be taken back without the keys here.
std::uint64_t SentBatches(const settings::AgentPaths& paths) {
  const auto agent = volunteer::Agent::Open(paths, SystemClock());
  if (!agent) return 0;
  const auto status = agent->GetStatus();
  return status ? status->outbox.sent_batches : 0;
}

Status TakeBack(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const upload::ForgetReport report, agent.Forget());
  if (report.stopped_by) {
    return Within(*report.stopped_by, "leave: take back what was sent; nothing else was changed");
  }
  return {};
}

Result<int> RunLeave(const LeaveRequest& request, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const std::optional<JoinRecord> record, LoadJoinRecord(paths));
  if (!record) {
    return Fail(ErrorCode::kNotFound,
                "leave: this user has not joined a service with `fieldcost agent join`; to stop: "
                "fieldcost agent off && fieldcost agent session off");
  }
  const std::uint64_t sent = SentBatches(paths);
  const std::string kept = Counted(sent, "sent batch", "sent batches");
  bool forget = request.forget;
  if (sent != 0 && !forget && !request.yes && !output.json && StdinIsTerminal()) {
    forget = AskYes("The service has " + kept +
                    "; after leaving, they cannot be taken back. Take them back now? [y/N] ");
  }
  if (forget) FIELDCOST_TRY(TakeBack(paths));
  const std::vector<JoinStep> steps = Leave(*record, paths, SystemClock());
  FIELDCOST_TRY(WriteStdout(output.json ? StepsJson(steps) : FitStdout(StepsText(steps))));
  const Status outcome = OutcomeOf(steps);
  if (!outcome) {
    return Fail(outcome.error().code, "leave: incomplete: {}; run the same command again",
                outcome.error().message);
  }
  if (!output.json) {
    FIELDCOST_TRY(WriteStdout(
        FitStdout(sent == 0 || forget
                      ? "left: everything is as it was before joining\n"
                      : "left: everything here is as it was before joining; the service keeps "
                        "the sums of " +
                            kept + "\n")));
  }
  return 0;
}

}  // namespace

command::Command AgentLeaveCommand() {
  return {
      .name = "leave",
      .summary = "Undo `agent join`, to the last byte",
      .help =
          R"(Stops measuring and sending at once, then restores the shell profiles, and removes the user units'
activation, the settings, the pinned root, the catalogue, and everything that the agent has kept, unless
it existed before joining. Probe points and your own agent.toml stay. The keys with which sent batches
can be taken back are removed, too: on a terminal it asks whether to take them back first. If something
cannot be undone yet, such as a session in which programs still name the library, the rest is done;
run it again. Exit status 66: this user has not joined.
Examples:
  fieldcost agent leave
  fieldcost agent leave --forget)",
      .options = {{.names = "--forget", .help = "First take back everything that was sent"},
                  {.names = "--yes,-y", .help = "Do not ask; the service keeps what was sent"}},
      .handler =
          [](const command::Arguments& arguments) {
            return RunLeave({.yes = arguments.Has("--yes"), .forget = arguments.Has("--forget")},
                            OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
