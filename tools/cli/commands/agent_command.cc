// `fieldcost agent`: consent, status, unsent data, pauses.
#include <unistd.h>

#include "agent/reach/reach.h"
#include "agent/settings/pause.h"
#include "agent/volunteer/agent.h"
#include "common/base/text.h"
#include "tools/cli/agent/agent_json.h"
#include "tools/cli/agent/batch_text.h"
#include "tools/cli/agent/refresh_text.h"
#include "tools/cli/agent/status_text.h"
#include "tools/cli/agent/switch_off.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/join/join_dialog.h"
#include "tools/cli/join/look_at_parts.h"
#include "tools/cli/session/login_session.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/cli/time_argument.h"

namespace fieldcost::cli {
namespace {

Result<volunteer::Agent> OpenAgent() {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  return volunteer::Agent::Open(paths, SystemClock());
}

// The session's files; changes nothing.
Result<SessionReport> SessionOf(const settings::AgentPaths& paths) {
  FIELDCOST_ASSIGN(const Session session, Session::FromEnvironment(paths));
  return session.Look();
}

std::string ModeText(settings::Mode mode, const settings::AgentConfig& config) {
  switch (mode) {
    case settings::Mode::kOff:
      return "off: nothing is measured or sent; unsent data is deleted\n"
             "  take back what was sent:  fieldcost agent forget\n";
    case settings::Mode::kLocal:
      return "local: programs under `fieldcost run` are measured; nothing leaves this machine\n"
             "  view:  fieldcost top --local\n  stop:  fieldcost agent off\n";
    case settings::Mode::kOn:
      break;
  }
  const std::string server =
      config.url.empty() ? "no service yet: " + config.HowToJoin() : EscapeControl(config.url);
  return fmt::format(
      "on: programs under `fieldcost run` are measured; sums per public library function go to {}\n"
      "  see what would be sent:  fieldcost agent preview\n  stop:  fieldcost agent off\n",
      server);
}

Result<int> SetMode(settings::Mode mode, const Output& output) {
  if (mode == settings::Mode::kOff) {
    FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
    FIELDCOST_TRY(SwitchOff(paths));
  }
  if (mode == settings::Mode::kOn) {
    FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
    FIELDCOST_ASSIGN(const std::optional<JoinRequest> preset, PresetService(paths));
    if (preset) return JoinByDialog(*preset, true, output);
  }
  FIELDCOST_ASSIGN(volunteer::Agent agent, OpenAgent());
  if (mode != settings::Mode::kOff) FIELDCOST_TRY(agent.SetMode(mode));
  std::string text = ModeText(mode, agent.config());
  const auto session = SessionOf(agent.paths());
  if (session && session->active) {
    text += mode == settings::Mode::kOff
                ? "  session programs still load the inactive library; to remove it:\n"
                  "  fieldcost agent session off\n"
                : "  all programs in your sessions are measured, too (fieldcost agent session "
                  "status)\n";
  }
  FIELDCOST_TRY(WriteStdout(output.json ? ModeJson(mode) : FitStdout(text)));
  return 0;
}

// `names`: also lists the programs' names.
Result<int> ShowStatus(bool names, const Output& output) {
  FIELDCOST_ASSIGN(const volunteer::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(const volunteer::AgentStatus status, agent.GetStatus());
  FIELDCOST_ASSIGN(const std::vector<reach::ProcessReach> programs,
                   reach::Survey({.run_dir = agent.paths().run_dir(), .uid = ::getuid()}));
  const auto session = SessionOf(agent.paths());
  const bool is_active = session && session->active;
  const std::vector<MissingPart> missing =
      MissingParts(LookAtParts(agent, status.forbidden ? settings::Mode::kOff : status.consent.mode,
                               session.value_or(SessionReport{}), SystemClock()));
  const refresh::RefreshStatus refreshing =
      refresh::GetStatus(agent.paths(), agent.config(), SystemClock());
  if (output.json) {
    FIELDCOST_TRY(WriteStdout(StatusJson(status, agent.paths(), agent.config(),
                                         {.programs = programs,
                                          .session_active = is_active,
                                          .missing = missing,
                                          .refresh = refreshing})));
    return 0;
  }
  const StatusTextOptions options{.names = names, .style = output.style};
  FIELDCOST_TRY(WritePaged(
      StatusText(status, agent.paths(), agent.config(), options) +
          fmt::format("{:<20}{}\n", "session activation", is_active ? "on" : "off") +
          fmt::format("{:<20}{}\n", "catalogue", RefreshText(refreshing, SystemClock().Now())) +
          MissingText(missing) + ProgramsText(programs, options),
      output));
  return 0;
}

// `raw`: prints the exact bytes.
Result<int> ShowPreview(bool raw, const Output& output) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(volunteer::AgentStatus status, agent.GetStatus());
  if (status.consent.mode != settings::Mode::kOff) FIELDCOST_TRY(agent.Harvest());
  FIELDCOST_ASSIGN(const std::optional<volunteer::BatchDetails> batch, agent.Preview());
  if (raw) {
    if (!batch) return Fail(ErrorCode::kNotFound, "nothing to send");
    FIELDCOST_TRY(WriteStdout(batch->raw));
  } else if (output.json) {
    FIELDCOST_TRY(WriteStdout(PreviewJson(batch, status.agent_public_key)));
  } else {
    FIELDCOST_TRY(WritePaged(
        batch ? PreviewText(*batch, status.agent_public_key, output.style) : "nothing to send\n",
        output));
  }
  return 0;
}

command::Command ModeCommand(std::string_view name, settings::Mode mode, std::string_view summary,
                             std::string_view help) {
  return {.name = name,
          .summary = summary,
          .help = help,
          .handler =
              [mode](const command::Arguments& arguments) {
                return SetMode(mode, OutputOf(arguments));
              },
          .without = {"--csv"}};
}

command::Command OnCommand() {
  return ModeCommand(
      "on", settings::Mode::kOn, "Measure, and send sums to the configured server",
      R"(What is sent: names and versions of public libraries and functions, sums of their costs,
the week, and the machine's coarse class. If an installer's preset (/etc/fieldcost/agent.d) suggests a
service, this joins it, as `fieldcost agent join` does after a yes. Example:
  fieldcost agent on && fieldcost agent preview)");
}

command::Command LocalCommand() {
  return ModeCommand("local", settings::Mode::kLocal, "Measure, but send nothing",
                     R"(Example:
  fieldcost agent local && fieldcost run -- make && fieldcost top --local)");
}

command::Command OffCommand() {
  return ModeCommand(
      "off", settings::Mode::kOff, "Measure nothing; delete unsent data",
      R"(The files of `fieldcost agent session on` are kept; the library is inactive while off. The service
keeps what was sent; to withdraw it: fieldcost agent forget.
Example:
  fieldcost agent off && fieldcost agent session off)");
}

Result<int> Pause(const std::string& duration, const Output& output) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(const settings::Consent consent, settings::EffectiveConsent(agent.paths()));
  if (consent.mode == settings::Mode::kOff) {
    return Fail(ErrorCode::kInvalidArgument, "there is nothing to pause: fieldcost is off");
  }
  WallTime until = settings::kUntilResumed;
  if (const auto parsed = ParseDuration(duration)) until = SystemClock().Now() + *parsed;
  FIELDCOST_TRY(agent.Pause(until));
  FIELDCOST_TRY(WriteStdout(
      output.json
          ? PauseJson(until)
          : FitStdout(fmt::format("paused {}: measuring and sending stopped; unsent data is kept\n"
                                  "  continue:  fieldcost agent resume\n",
                                  PauseEndText(until)))));
  return 0;
}

Result<int> Resume(const Output& output) {
  FIELDCOST_ASSIGN(volunteer::Agent agent, OpenAgent());
  FIELDCOST_ASSIGN(const bool was_paused, agent.Resume());
  FIELDCOST_ASSIGN(const settings::Consent consent, settings::EffectiveConsent(agent.paths()));
  const std::string text = fmt::format("{}; the mode is {}\n",
                                       was_paused ? "resumed" : "not paused", Name(consent.mode));
  FIELDCOST_TRY(WriteStdout(output.json ? PauseJson(std::nullopt) : FitStdout(text)));
  return 0;
}

Status CheckDuration(std::string& untrusted_text) {
  if (ParseDuration(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a duration: 90s, 10m, 2h, 3d or 1w");
}

command::Command PauseCommand() {
  return {
      .name = "pause",
      .summary = "Measure and send nothing for a while",
      .help =
          R"(Keeps the mode and unsent data. Programs already being measured continue to the end of their current
phase, and that data counts. `run --pick` still measures. Examples:
  fieldcost agent pause 2h
  fieldcost agent pause         until fieldcost agent resume)",
      .options = {{.names = "duration",
                   .value = "DURATION",
                   .help = "10m, 2h, 3d [until resumed]",
                   .check = CheckDuration}},
      .handler =
          [](const command::Arguments& arguments) {
            return Pause(arguments.Text("duration"), OutputOf(arguments));
          },
      .without = {"--csv"}};
}

command::Command ResumeCommand() {
  return {
      .name = "resume",
      .summary = "End a pause",
      .help = R"(Example:
  fieldcost agent resume)",
      .handler = [](const command::Arguments& arguments) { return Resume(OutputOf(arguments)); },
      .without = {"--csv"}};
}

command::Command StatusCommand() {
  return {
      .name = "status",
      .summary = "Mode, missing parts, pending data, and which programs can be measured",
      .help =
          R"(Names each part that is missing (service, root, session, daemon, catalogue), with the command that
supplies it, and why runs were not selected. Examples:
  fieldcost agent status
  fieldcost agent status --programs
  fieldcost agent status --json)",
      .options = {{.names = "--programs,-v,--verbose",
                   .help = "List the programs, by the reason why they are not measured"}},
      .handler =
          [](const command::Arguments& arguments) {
            return ShowStatus(arguments.Has("--programs"), OutputOf(arguments));
          },
      .without = {"--csv"}};
}

command::Command PreviewCommand() {
  return {.name = "preview",
          .summary = "The next batch, exactly as it would be sent",
          .help = R"(Examples:
  fieldcost agent preview
  fieldcost agent preview --raw | zstd -d | protoc --decode_raw)",
          .options = {{.names = "--raw", .help = "Write the request body to stdout"}},
          .handler =
              [](const command::Arguments& arguments) {
                return ShowPreview(arguments.Has("--raw"), OutputOf(arguments));
              },
          .without = {"--csv"}};
}

}  // namespace

command::Command AgentCommand() {
  return {
      .name = "agent",
      .summary = "Consent, status, sent data, and withdrawal",
      .help = R"(Examples:
  fieldcost agent join https://fieldcost.example.org
  fieldcost agent status
  fieldcost agent session on    measure all programs after your next login
  fieldcost agent log           what was sent, and when
  fieldcost agent pause 2h      measure and send nothing for a while
  fieldcost agent off           stop measuring, delete unsent data
  fieldcost agent forget        take back what was sent)",
      .commands = {AgentJoinCommand(), AgentLeaveCommand(), OnCommand(), LocalCommand(),
                   OffCommand(), PauseCommand(), ResumeCommand(), StatusCommand(),
                   AgentExplainCommand(), PreviewCommand(), AgentLogCommand(), AgentViewCommand(),
                   AgentSessionCommand(), AgentForgetCommand(), AgentEnrolCommand()}};
}

}  // namespace fieldcost::cli
