#include <algorithm>

#include "agent/daemon/agent.h"
#include "tools/cli/batch_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

Result<int> RunOne(const agent::Agent& agent, const std::vector<agent::LoggedBatch>& log,
                   const AgentLogCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const agent::PendingBatch batch, agent.ReadBatch(*command.id));
  if (command.raw) {
    FIELDCOST_TRY(WriteStdout(batch.raw));
    return 0;
  }
  const auto logged = std::find_if(log.begin(), log.end(),
                                   [&](const auto& entry) { return entry.id == *command.id; });
  if (logged == log.end()) return Fail(ErrorCode::kNotFound, "there is no batch {}", *command.id);
  FIELDCOST_TRY(
      WriteStdout(output.json ? LoggedBatchJson(*logged, batch) : LoggedBatchText(*logged, batch)));
  return 0;
}

}  // namespace

Result<int> Run(const AgentLogCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
  FIELDCOST_ASSIGN(const std::vector<agent::LoggedBatch> log, agent.Log());
  if (command.id) return RunOne(agent, log, command, output);
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(LogJson(log)));
  } else {
    FIELDCOST_TRY(WriteStdout(log.empty() ? std::string("no batch was made yet\n") : LogText(log)));
  }
  return 0;
}

}  // namespace fieldcost::cli
