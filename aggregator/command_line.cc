#include "aggregator/command_line.h"

#include <optional>

namespace fieldcost::aggregator {

const std::string_view kHelpText =
    R"(fieldcost-aggregator: sums what agents measured, and publishes it.

Usage:
  fieldcost-aggregator [serve] --config FILE   take batches, publish, until SIGTERM
  fieldcost-aggregator verify --config FILE    re-add and check every stored row (server stopped)

Options:
  --config FILE    configuration (TOML); see deploy/config/aggregator.toml
  --check-config   read the configuration, say whether it is good, and end
  --help           this text
  --version        the version

Signals: SIGTERM, SIGINT  finish what is in progress, save, end with status 0
         SIGUSR1          publish now

Examples:
  fieldcost-aggregator --config /etc/fieldcost/aggregator.toml
  fieldcost-aggregator --config aggregator.toml --check-config
  fieldcost-aggregator verify --config aggregator.toml
  kill -USR1 $(pidof fieldcost-aggregator)

Exit status: 0 done; 1 verify found a problem; otherwise as in sysexits(3).
)";

namespace {

Error BadUsage(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "{}; see fieldcost-aggregator --help", what);
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments) {
  CommandLine line;
  std::optional<Command> option;
  bool command_given = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    constexpr std::string_view kConfigIs = "--config=";
    if (argument == "--help" || argument == "-h") {
      return CommandLine{.command = Command::kHelp};
    }
    if (argument == "--version") return CommandLine{.command = Command::kVersion};
    if (argument == "--check-config") {
      option = Command::kCheckConfig;
    } else if (argument == "--config") {
      if (i + 1 == arguments.size()) return BadUsage("--config needs a file name");
      line.config_file = arguments[++i];
    } else if (argument.starts_with(kConfigIs)) {
      line.config_file = argument.substr(kConfigIs.size());
    } else if (!command_given && (argument == "serve" || argument == "verify")) {
      line.command = argument == "serve" ? Command::kServe : Command::kVerify;
      command_given = true;
    } else {
      return BadUsage(fmt::format("unknown argument '{}'", argument));
    }
  }
  if (option) line.command = *option;
  if (line.config_file.empty()) return BadUsage("--config FILE is missing");
  return line;
}

}  // namespace fieldcost::aggregator
