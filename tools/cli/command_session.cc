#include <unistd.h>

#include "agent/daemon/agent.h"
#include "agent/daemon/system_policy.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/preload_library.h"
#include "tools/cli/session.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

Result<SessionReport> SwitchOn(const Session& session, const daemon::Profile& profile) {
  FIELDCOST_ASSIGN(daemon::Agent agent, daemon::Agent::Open(profile, SystemClock()));
  FIELDCOST_TRY(daemon::CheckPermitted(profile.system_file));
  FIELDCOST_ASSIGN(const daemon::Consent consent, daemon::EffectiveConsent(profile));
  if (consent.mode == daemon::Mode::kOff) {
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
  FIELDCOST_ASSIGN(const daemon::Profile profile, daemon::Profile::FromEnvironment());
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(profile));
  Result<SessionReport> report = command.action == SessionAction::kOn ? SwitchOn(session, profile)
                                 : command.action == SessionAction::kOff ? session.Off()
                                                                         : Inspect(session);
  if (!report) return report.error();
  FIELDCOST_TRY(
      WriteStdout(output.json ? SessionJson(*report, session) : SessionText(*report, session)));
  return 0;
}

}  // namespace fieldcost::cli
