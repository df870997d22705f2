// The program as a value: serves by default; the operator's commands are subcommands.
#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "aggregator/probe_server/probe_server_commands.h"
#include "aggregator/probe_server/probe_service.h"
#include "aggregator/probe_server/serve_probes.h"
#include "common/base/terminal_text.h"
#include "common/draw/terminal.h"

namespace fieldcost::probe_server {
namespace {

constexpr char kHelp[] =
    R"(All commands work with or without a running server, but restore and recover need it stopped.

Signals: SIGTERM, SIGINT finish work in progress, exit with status 0
         SIGHUP           read the certificate again

Examples:
  fieldcost-probe-server init --dir /srv/probes --host probes.example.org
  fieldcost-probe-server --config /etc/fieldcost/probe-server.toml
  fieldcost-probe-server user add alice --config probe-server.toml
  fieldcost-probe-server backup /srv/backup --config probe-server.toml
  fieldcost-probe-server --config probe-server.toml --check-config

Exit status: 0 done; 1 verify or recover found a problem; otherwise as in sysexits(3): 64 wrong usage or
configuration, 65 damaged data, 66 not found, 69 the database is locked, 73 it already exists, 74 the
disk failed, 77 permission denied, 78 a database of another version.)";

Result<int> ServeOrCheck(const command::Arguments& arguments) {
  FIELDCOST_ASSIGN(const Config config, ConfigOf(arguments));
  if (arguments.Has("--check-config")) {
    FIELDCOST_ASSIGN(const std::string found, CheckStart(config));
    fmt::print("{}", draw::WrapLines(fmt::format("{}{}: OK\n", found, arguments.Text("--config")),
                                     {.columns = TerminalColumns(STDOUT_FILENO)}));
  } else {
    FIELDCOST_TRY(Serve(config));
  }
  return 0;
}

}  // namespace

command::Command ServeCommand() {
  return {.name = "serve",
          .summary = "Accept batches and show pages until SIGTERM (the default)",
          .help = R"(Example:
  fieldcost-probe-server serve --config probe-server.toml)",
          .handler = ServeOrCheck};
}

command::Command Program() {
  command::Command program{
      .name = "fieldcost-probe-server",
      .summary = "fieldcost-probe-server: stores a team's probe points, and shows them.",
      .help = kHelp,
      .options = {{.names = "--config",
                   .value = "FILE",
                   .help = "Configuration (TOML); see probe-server.toml(5)",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--check-config",
                   .help = "Check what a start needs (certificate, directory, ports) without "
                           "creating anything, print the findings, and exit"}},
      .handler = ServeOrCheck};
  program.commands = {ServeCommand(),  InitCommand(),    UserCommand(),    DeviceCommand(),
                      BackupCommand(), RestoreCommand(), RecoverCommand(), VerifyCommand(),
                      AuditCommand(),  ExpireCommand()};
  return program;
}

Result<Config> ConfigOf(const command::Arguments& arguments) {
  if (!arguments.Has("--config")) {
    return Fail(ErrorCode::kInvalidArgument,
                "--config FILE is missing; see fieldcost-probe-server --help");
  }
  return LoadConfig(arguments.Text("--config"));
}

}  // namespace fieldcost::probe_server
