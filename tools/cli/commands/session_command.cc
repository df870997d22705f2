// `fieldcost agent session`: measures programs after every login.
#include <unistd.h>

#include "agent/settings/system_policy.h"
#include "agent/volunteer/agent.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/run/installed_parts.h"
#include "tools/cli/session/login_session.h"
#include "tools/cli/session/session_report.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

enum class SessionAction { kOn, kOff, kStatus };

Result<SessionReport> SwitchOn(const Session& session, const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(settings::CheckPermitted(paths.system_file));
  FIELDCOST_ASSIGN(const settings::Consent consent, settings::EffectiveConsent(paths));
  if (consent.mode == settings::Mode::kOff) {
    return Fail(ErrorCode::kPermissionDenied,
                "session: fieldcost is off; choose a mode first: fieldcost agent local|on");
  }
  FIELDCOST_ASSIGN(const std::filesystem::path library, FindPreloadLibrary());
  FIELDCOST_TRY(agent.WritePolicy());
  if (::geteuid() == 0) {
    Remark(
        "this is a root session: programs it starts as another user cannot read the library, and "
        "the dynamic linker reports that on their standard error");
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

Result<int> RunSession(SessionAction action, const Output& output) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(paths));
  Result<SessionReport> report = action == SessionAction::kOn    ? SwitchOn(session, paths)
                                 : action == SessionAction::kOff ? session.Off()
                                                                 : Inspect(session);
  if (!report) return report.error();
  FIELDCOST_TRY(WriteStdout(output.json ? SessionJson(*report, session)
                                        : FitStdout(SessionText(*report, session))));
  return 0;
}

command::Handler HandlerOf(SessionAction action) {
  return [action](const command::Arguments& arguments) {
    return RunSession(action, OutputOf(arguments));
  };
}

}  // namespace

command::Command AgentSessionCommand() {
  command::Command on{
      .name = "on",
      .summary = "Measure programs after the next login",
      .help =
          R"(Copies the measuring library into the state directory; writes environment.d/60-fieldcost.conf
(desktop, user services) and session.sh (login shells), and adds one marked line to
~/.profile, and to ~/.bash_profile, ~/.bash_login and ~/.zprofile if you have them.
Run it again after an upgrade to refresh the copy. Example:
  fieldcost agent session on)",
      .handler = HandlerOf(SessionAction::kOn),
      .without = {"--csv"}};
  command::Command off{
      .name = "off",
      .summary = "Undo session activation",
      .help =
          R"(The library itself stays as long as programs of running sessions name it: without it each would
print a dynamic linker error. Example:
  fieldcost agent session off)",
      .handler = HandlerOf(SessionAction::kOff),
      .without = {"--csv"}};
  command::Command status{.name = "status",
                          .summary = "List the files written",
                          .help = "Example:\n  fieldcost agent session status --json",
                          .handler = HandlerOf(SessionAction::kStatus),
                          .without = {"--csv"}};
  return {.name = "session",
          .summary = "Measure all programs after your next login",
          .help = R"(Opt-in. Writes only into your own directories; off restores every byte.
Examples:
  fieldcost agent local && fieldcost agent session on
  fieldcost agent session status)",
          .commands = {std::move(on), std::move(off), std::move(status)}};
}

}  // namespace fieldcost::cli
