// `fieldcost agent log`: all batches, or one in full.
#include <algorithm>

#include "agent/volunteer/agent.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/batch_text.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

struct LogRequest {
  std::optional<std::uint64_t> id;  // of one batch; nullopt = all
  bool raw = false;                 // its exact bytes; only with an id
};

Result<int> RunOne(const volunteer::Agent& agent, const std::vector<spool::LoggedBatch>& log,
                   const LogRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const volunteer::BatchDetails batch, agent.ReadBatch(*command.id));
  if (command.raw) {
    FIELDCOST_TRY(WriteStdout(batch.raw));
    return 0;
  }
  const auto logged = std::find_if(log.begin(), log.end(),
                                   [&](const auto& entry) { return entry.id == *command.id; });
  if (logged == log.end()) return Fail(ErrorCode::kNotFound, "no batch {}", *command.id);
  FIELDCOST_TRY(WriteStdout(output.json ? LoggedBatchJson(*logged, batch)
                                        : LoggedBatchText(*logged, batch, output.style)));
  return 0;
}

Result<int> RunLog(const LogRequest& command, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const std::vector<spool::LoggedBatch> log, agent.Log());
  if (command.id) return RunOne(agent, log, command, output);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(LogJson(log)));
  } else {
    FIELDCOST_TRY(
        WritePaged(log.empty() ? "no batches yet\n" : LogText(log, output.style), output));
  }
  return 0;
}

}  // namespace

command::Command AgentLogCommand() {
  return {.name = "log",
          .summary = "List batches with their times, or show one",
          .help = R"(IDs number the batches of this machine and never leave it. Examples:
  fieldcost agent log
  fieldcost agent log 7
  fieldcost agent log 7 --raw | sha256sum)",
          .options = {{.names = "id",
                       .value = "ID",
                       .help = "Show this batch in full",
                       .check = command::CheckNumber},
                      {.names = "--raw",
                       .help = "Write that batch's bytes to stdout",
                       .needs = {"id"}}},
          .handler =
              [](const command::Arguments& arguments) {
                return RunLog({.id = arguments.Number("id"), .raw = arguments.Has("--raw")},
                              OutputOf(arguments));
              },
          .without = {"--csv"}};
}

}  // namespace fieldcost::cli
