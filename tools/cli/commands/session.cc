#include <unistd.h>

#include "agent/daemon/agent.h"
#include "agent/settings/system_policy.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/session/preload_library.h"
#include "tools/cli/session/session.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

Result<SessionReport> SwitchOn(const Session& session, const agent::AgentPaths& paths) {
  FIELDCOST_ASSIGN(agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent::CheckPermitted(paths.system_file));
  FIELDCOST_ASSIGN(const agent::Consent consent, agent::EffectiveConsent(paths));
  if (consent.mode == agent::Mode::kOff) {
    return Fail(ErrorCode::kPermissionDenied,
                "session: fieldcost is off; decide first: fieldcost agent local|on");
  }
  FIELDCOST_ASSIGN(const std::filesystem::path library, FindPreloadLibrary());
  FIELDCOST_TRY(agent.WritePolicy(false));
  if (::geteuid() == 0) {
    Remark(
        "a session of root: programs that it starts as another user cannot read the library, and "
        "the dynamic linker says so on their standard error");
  }
  return session.On(library);
}

Result<SessionReport> Inspect(const Session& session) {
  FIELDCOST_ASSIGN(SessionReport report, session.GetStatus());
  const auto library = FindPreloadLibrary();
  if (report.active && library) {
    report.library_is_older = !session.IsCopyOf(*library).value_or(true);
  }
  return report;
}

}  // namespace

Result<int> Run(const AgentSessionCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(paths));
  Result<SessionReport> report = command.action == SessionAction::kOn    ? SwitchOn(session, paths)
                                 : command.action == SessionAction::kOff ? session.Off()
                                                                         : Inspect(session);
  if (!report) return report.error();
  FIELDCOST_TRY(
      WriteStdout(output.json ? SessionJson(*report, session) : SessionText(*report, session)));
  return 0;
}

}  // namespace fieldcost::cli
