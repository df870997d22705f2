#include "aggregator/operate/operate_program.h"

#include <fmt/format.h>

#include <utility>

#include "aggregator/operate/operate_commands.h"
#include "aggregator/operate/outcome.h"

namespace fieldcost::aggregator {
namespace {

constexpr char kHelp[] =
    R"(restore and recover need the server stopped. The others also work while it runs: commands that need
the store ask it through the admin listener of the same configuration ([admin]).

Signals: SIGTERM, SIGINT finish work in progress, save, exit with status 0
         SIGUSR1          publish now
         SIGHUP           read certificate and tokens again

Examples:
  fieldcost-aggregator init --dir /srv/fieldcost --host fieldcost.example.org
  fieldcost-aggregator --config /etc/fieldcost/aggregator.toml
  fieldcost-aggregator --config aggregator.toml --check-config
  fieldcost-aggregator verify --config aggregator.toml
  fieldcost-aggregator backup --config aggregator.toml --to /srv/backup
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml
  fieldcost-aggregator keys show --config aggregator.toml --json
  fieldcost-aggregator keys rotate --help
  kill -USR1 $(pidof fieldcost-aggregator)

Exit status: 0 done; 1 verify, verify-tree or recover found a problem; otherwise as in sysexits(3): 64 wrong usage
or configuration, 65 damaged data, 66 not found, e.g. no policy, 69 the server does not answer, 73 the
data directory is in use or not empty, 74 the disk failed, 76 a key is not in the root, 77 permission
denied.)";

}  // namespace

command::Command Program(command::Command serve) {
  command::Command program{
      .name = "fieldcost-aggregator",
      .summary = "fieldcost-aggregator: sums what agents measured, and publishes it.",
      .help = kHelp,
      .options = {{.names = "--config",
                   .value = "FILE",
                   .help = "Configuration (TOML); see deploy/config/aggregator.toml",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--check-config",
                   .help = "Check what a start needs (certificate, tokens, directories, ports) "
                           "without creating anything, print the findings, and exit"},
                  {.names = "--json", .help = "Print one JSON object"}}};
  program.handler = serve.handler;
  program.without = serve.without;
  program.commands = {std::move(serve), VerifyCommand(),     RecoverCommand(),    PublishCommand(),
                      CompactCommand(), ExpireCommand(),     RevokeCommand(),     BackupCommand(),
                      RestoreCommand(), PolicyCommand(),     KeysCommand(),       DemoCommand(),
                      InitCommand(),    InvitationCommand(), VerifyTreeCommand(), BenchCommand()};
  return program;
}

Result<Config> ConfigOf(const command::Arguments& arguments) {
  if (!arguments.Has("--config")) {
    return Fail(ErrorCode::kInvalidArgument,
                "--config FILE is missing; see fieldcost-aggregator --help");
  }
  return LoadConfig(arguments.Text("--config"));
}

Result<int> Run(const command::Call& call, const CheckConfig& check) {
  if (!call.arguments.Has("--check-config")) return call.command->handler(call.arguments);
  FIELDCOST_ASSIGN(const Config config, ConfigOf(call.arguments));
  FIELDCOST_ASSIGN(const std::string found, check(config));
  PrintLines(fmt::format("{}{}: OK\n", found, call.arguments.Text("--config")));
  return 0;
}

}  // namespace fieldcost::aggregator
