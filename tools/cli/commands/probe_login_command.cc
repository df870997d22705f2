// `fieldcost probe login` and `logout`: register this machine with a team's server.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "agent/probe/login.h"
#include "agent/probe/sender.h"
#include "agent/probe/spool.h"
#include "common/base/file.h"
#include "common/base/json_writer.h"
#include "common/base/read_password.h"
#include "common/base/text.h"
#include "common/command/arguments.h"
#include "tools/cli/cli_commands.h"
#include "tools/cli/terminal/pager.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

std::string HostName() {
  std::array<char, 65> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string Or(const command::Arguments& arguments, std::string_view option,
               const std::string& otherwise) {
  return arguments.Has(option) ? arguments.Text(option) : otherwise;
}

// Binds this machine to a server. Events queued for one server are not sent to another.
Result<std::uint64_t> Bind(const settings::AgentPaths& paths,
                           const std::optional<std::string>& before, const probe::Login& login) {
  FIELDCOST_TRY(MakeDirectories(paths.state_dir, 0700));
  FIELDCOST_ASSIGN(probe::Spool spool, probe::Spool::Open(probe::SpoolFile(paths)));
  std::uint64_t dropped = 0;
  if (before != login.url) {
    FIELDCOST_ASSIGN(dropped, spool.DropOutgoing());
  }
  FIELDCOST_TRY(spool.SetDevice(login.device));
  FIELDCOST_TRY(spool.NoteSuccess());
  return dropped;
}

Result<int> LogIn(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_TRY(probe::CheckProbesPermitted(paths));
  const std::string user = Or(arguments, "--user", std::string(Variable("USER")));
  if (user.empty())
    return Fail(ErrorCode::kInvalidArgument, "log in: no user name; use --user NAME");
  FIELDCOST_ASSIGN(const std::string password, ReadPassword(user));
  const auto old = probe::LoadLogin(paths);
  const std::string ca_file = arguments.Has("--ca-file")
                                  ? std::filesystem::absolute(arguments.Text("--ca-file")).string()
                                  : std::string();
  FIELDCOST_ASSIGN(const probe::Login login,
                   probe::LogIn(arguments.Text("url"), ca_file,
                                {.user = user,
                                 .password = password,
                                 .device_name = Or(arguments, "--name", HostName())}));
  FIELDCOST_ASSIGN(const std::uint64_t dropped,
                   Bind(paths, old ? std::optional(old->url) : std::nullopt, login));
  FIELDCOST_TRY(probe::SaveLogin(paths, login));
  FIELDCOST_ASSIGN(const settings::Consent consent, probe::ProbeConsent(paths));
  const bool is_on = consent.mode == settings::Mode::kOn;
  if (OutputOf(arguments).json) {
    JsonWriter json;
    json.Object().Key("url").Text(login.url).Key("user").Text(login.user);
    json.Key("device").Text(login.device).EndObject();
    FIELDCOST_TRY(WriteStdout(json.Take()));
    return 0;
  }
  FIELDCOST_TRY(WriteStdout(FitStdout(fmt::format(
      "logged in at {} as {}{}\n{}", EscapeControl(login.url), EscapeControl(login.user),
      dropped == 0
          ? ""
          : "; deleted: " + Counted(dropped, "batch", "batches") + " queued for another server",
      is_on ? "" : "  nothing is sent yet; start:  fieldcost probe on\n"))));
  return 0;
}

Result<int> LogOut(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_TRY(probe::SaveProbeConsent(paths, settings::Mode::kOff, SystemClock().Now()));
  FIELDCOST_TRY(probe::RemoveLogin(paths));
  std::uint64_t dropped = 0;
  if (auto spool = probe::Spool::OpenExisting(probe::SpoolFile(paths))) {
    FIELDCOST_ASSIGN(dropped, spool->DropOutgoing());
  }
  FIELDCOST_TRY(
      WriteStdout(OutputOf(arguments).json
                      ? JsonWriter().Object().Member("dropped_batches", dropped).EndObject().Take()
                      : FitStdout(fmt::format(
                            "logged out; {} deleted. The server knows this device until it is "
                            "removed there\n",
                            Counted(dropped, "queued batch was", "queued batches were")))));
  return 0;
}

}  // namespace

command::Command ProbeLoginCommand() {
  return {
      .name = "login",
      .summary = "Log in to a team's server of probe points",
      .help =
          R"(Asks for the password, or reads the first line of standard input; stores a token for this machine,
which the server can revoke. Nothing is sent before `fieldcost probe on`. Examples:
  fieldcost probe login https://probes.team.example
  pass show probes | fieldcost probe login https://probes.team.example -u ann)",
      .options = {{.names = "url",
                   .value = "URL",
                   .help = "The server",
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--user,-u",
                   .value = "NAME",
                   .help = "Your name on the server [$USER]",
                   .check = command::CheckNotEmpty},
                  {.names = "--name",
                   .value = "TEXT",
                   .help = "Name of this machine on the server [its host name]",
                   .check = command::CheckNotEmpty},
                  {.names = "--ca-file",
                   .value = "FILE",
                   .help = "Certificates to trust (PEM), instead of the system's",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty}},
      .handler = LogIn,
      .without = {"--csv", "--no-pager"}};
}

command::Command ProbeLogoutCommand() {
  return {.name = "logout",
          .summary = "Forget the server, and delete batches queued for it",
          .help = R"(Events on this machine stay. Example:
  fieldcost probe logout)",
          .handler = LogOut,
          .without = {"--csv", "--no-pager"}};
}

}  // namespace fieldcost::cli
