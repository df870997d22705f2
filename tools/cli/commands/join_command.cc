// `fieldcost agent join`: shows the operator of a service and what joining means, asks, and sets up
// everything.
#include "tools/cli/cli_commands.h"
#include "tools/cli/join/join_dialog.h"

namespace fieldcost::cli {

command::Command AgentJoinCommand() {
  return {
      .name = "join",
      .summary = "Join a service: one question, then everything is set up",
      .help =
          R"(Asks the service for its signed root, shows who operates it and what would be sent, and asks you.
Before your answer, nothing is written, measured or sent. After a yes: the service and its certificate
authority (service.toml), the pinned root, mode on, session activation, the user units, the whole catalogue
and its automatic refreshing. Run it again to complete what is missing; `fieldcost agent leave` undoes all of it.
Exit status 1: you declined; 64: the question cannot be asked and --yes is missing, or another service is
in agent.toml; 76: another root or certificate than expected; 77: the administrator forbids it.
Examples:
  fieldcost agent join https://fieldcost.example.org
  fieldcost agent join https://fieldcost.example.org:8443 --ca-file ca.pem
  fieldcost agent join https://fieldcost.example.org --yes --root-sha256 HEX)",
      .options = {{.names = "url",
                   .value = "URL",
                   .help = "The service",
                   .check = command::CheckNotEmpty,
                   .required = true},
                  {.names = "--ca-file",
                   .value = "FILE",
                   .help =
                       "Certificates to trust (PEM), from the operator, instead of the system's",
                   .completes = command::Completes::kFiles,
                   .check = command::CheckNotEmpty},
                  {.names = "--root-sha256",
                   .value = "HEX",
                   .help = "Refuse any other root; from the operator",
                   .check = command::CheckSha256},
                  {.names = "--yes,-y", .help = "Do not ask: you agree"}},
      .handler =
          [](const command::Arguments& arguments) {
            return JoinByDialog({.url = arguments.Text("url"),
                                 .ca_file = arguments.Text("--ca-file"),
                                 .root_sha256 = arguments.Text("--root-sha256"),
                                 .proxy = ""},
                                arguments.Has("--yes"), OutputOf(arguments));
          },
      .without = {"--csv"}};
}

}  // namespace fieldcost::cli
