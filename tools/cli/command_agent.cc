#include <unistd.h>

#include "agent/daemon/agent.h"
#include "agent/daemon/reach.h"
#include "agent/daemon/upload_lock.h"
#include "common/base/text.h"
#include "tools/cli/batch_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/json_output.h"
#include "tools/cli/session.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

Result<daemon::Agent> OpenAgent() {
  FIELDCOST_ASSIGN(const daemon::Profile profile, daemon::Profile::FromEnvironment());
  return daemon::Agent::Open(profile, SystemClock());
}

// The session's files as they are, without changing anything.
Result<SessionReport> SessionOf(const daemon::Profile& profile) {
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(profile));
  return session.Look();
}

// The decision comes first: neither a damaged database nor a wrong configuration may keep the user
// from it.
Status SwitchOff() {
  FIELDCOST_ASSIGN(const daemon::Profile profile, daemon::Profile::FromEnvironment());
  FIELDCOST_TRY(daemon::WithdrawConsent(profile.consent_file(), SystemClock().Now()));
  auto agent = daemon::Agent::Open(profile, SystemClock());
  const Status cleaned = agent ? agent->SetMode(daemon::Mode::kOff) : Status(agent.error());
  if (cleaned) return {};
  ::unlink(profile.policy_file().c_str());  // without it no program measures
  const Status quiet = agent ? Status() : daemon::UploadLock::WaitForOthers(profile);
  return Fail(cleaned.error().code, "fieldcost is off, but not everything is done: {}{}",
              cleaned.error().message, quiet ? "" : "; " + quiet.error().message);
}

std::string ModeText(daemon::Mode mode, const daemon::AgentConfig& config) {
  switch (mode) {
    case daemon::Mode::kOff:
      return "off: nothing is measured or sent; what had not been sent is deleted\n"
             "  take back what was sent:  fieldcost agent forget\n";
    case daemon::Mode::kLocal:
      return "local: programs under `fieldcost run` are measured; nothing leaves this machine\n"
             "  look:  fieldcost top --local\n  stop:  fieldcost agent off\n";
    case daemon::Mode::kOn:
      break;
  }
  const std::string server = config.url.empty()
                                 ? "a server, once [aggregator] url is set in agent.toml"
                                 : EscapeControl(config.url);
  return fmt::format(
      "on: programs under `fieldcost run` are measured; sums per public library function go to {}\n"
      "  see what would be sent:  fieldcost agent preview\n  stop:  fieldcost agent off\n",
      server);
}

}  // namespace

Result<int> Run(const AgentModeCommand& command, const Output& output) {
  if (command.mode == daemon::Mode::kOff) FIELDCOST_TRY(SwitchOff());
  FIELDCOST_ASSIGN(daemon::Agent agent, OpenAgent());
  if (command.mode != daemon::Mode::kOff) FIELDCOST_TRY(agent.SetMode(command.mode));
  std::string text = ModeText(command.mode, agent.config());
  const auto session = SessionOf(agent.profile());
  if (session && session->active) {
    text += command.mode == daemon::Mode::kOff
                ? "  programs of your sessions still load the library, which does nothing; take it "
                  "back:\n  fieldcost agent session off\n"
                : "  so are all programs of your sessions (fieldcost agent session status)\n";
  }
  FIELDCOST_TRY(WriteStdout(output.json ? ModeJson(command.mode) : text));
  return 0;
}

Result<int> Run(const AgentStatusCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(const daemon::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(const daemon::AgentStatus status, agent.GetStatus());
  FIELDCOST_ASSIGN(const std::vector<daemon::ProcessReach> programs,
                   daemon::Survey({.run_dir = agent.profile().run_dir(), .uid = ::getuid()}));
  const auto session = SessionOf(agent.profile());
  const bool is_active = session && session->active;
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(StatusJson(status, agent.profile(), agent.config(),
                                         {.programs = programs, .session_active = is_active})));
    return 0;
  }
  const StatusTextOptions options{.names = command.programs, .style = output.style};
  FIELDCOST_TRY(
      WriteStdout(StatusText(status, agent.profile(), agent.config(), options) +
                  fmt::format("{:<20}{}\n", "session activation", is_active ? "on" : "off") +
                  ProgramsText(programs, options)));
  return 0;
}

Result<int> Run(const AgentPreviewCommand& command, const Output& output) {
  FIELDCOST_ASSIGN(daemon::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(daemon::AgentStatus status, agent.GetStatus());
  if (status.consent.mode != daemon::Mode::kOff) FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(const std::optional<daemon::PendingBatch> batch, agent.Preview());
  if (command.raw) {
    if (!batch) return Fail(ErrorCode::kNotFound, "nothing to send");
    FIELDCOST_TRY(WriteStdout(batch->raw));
  } else if (output.json) {
    FIELDCOST_TRY(WriteStdout(PreviewJson(batch, status.agent_public_key)));
  } else {
    FIELDCOST_TRY(WriteStdout(batch ? PreviewText(*batch, status.agent_public_key)
                                    : std::string("nothing to send\n")));
  }
  return 0;
}

}  // namespace fieldcost::cli
