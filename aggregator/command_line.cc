#include "aggregator/command_line.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

namespace fieldcost::aggregator {

const std::string_view kHelpText =
    R"(fieldcost-aggregator: sums what agents measured, and publishes it.

Usage:
  fieldcost-aggregator [serve] --config FILE   take batches, publish, until SIGTERM
  fieldcost-aggregator verify --config FILE    re-add and check every stored row (server stopped)
  fieldcost-aggregator policy sign --config FILE POLICY
                                               sign POLICY (TOML; see deploy/config/policy.toml) as
                                               the next version and publish it (server may run)
  fieldcost-aggregator policy show --config FILE
                                               print the policy in force, in the form that sign takes
  fieldcost-aggregator revoke --config FILE --agent KEY
                                               take no more batches of the agent with this public
                                               key, 64 hex digits (server stopped)

Options:
  --config FILE    configuration (TOML); see deploy/config/aggregator.toml
  --check-config   read the configuration, say whether it is good, and end
  --json           policy: print one JSON object
  --help           this text
  --version        the version

Signals: SIGTERM, SIGINT  finish what is in progress, save, end with status 0
         SIGUSR1          publish now

Examples:
  fieldcost-aggregator --config /etc/fieldcost/aggregator.toml
  fieldcost-aggregator --config aggregator.toml --check-config
  fieldcost-aggregator verify --config aggregator.toml
  fieldcost-aggregator policy sign --config aggregator.toml policy.toml
  fieldcost-aggregator policy show --config aggregator.toml --json
  kill -USR1 $(pidof fieldcost-aggregator)

Exit status: 0 done; 1 verify found a problem; otherwise as in sysexits(3): 64 wrong use or
configuration, 65 damaged data, 66 there is no such thing, e.g. no policy, 73 the data directory is
in use, 74 the disk failed, 76 a key is not the root's, 77 no permission.
)";

namespace {

Error BadUsage(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "{}; see fieldcost-aggregator --help", what);
}

// What the words that are no options say.
Status TakeWords(const std::vector<std::string_view>& words, CommandLine& line) {
  if (words.empty()) return {};
  const std::string_view verb = words.size() > 1 ? words[1] : std::string_view();
  std::size_t taken = 1;
  if (words[0] == "serve") {
    line.command = Command::kServe;
  } else if (words[0] == "verify") {
    line.command = Command::kVerify;
  } else if (words[0] == "revoke") {
    line.command = Command::kRevoke;
  } else if (words[0] == "policy" && verb == "show") {
    line.command = Command::kPolicyShow;
    taken = 2;
  } else if (words[0] == "policy" && verb == "sign") {
    if (words.size() < 3) return BadUsage("policy sign needs the file to sign");
    line.command = Command::kPolicySign;
    line.policy_file = words[2];
    taken = 3;
  } else if (words[0] == "policy") {
    return BadUsage("policy needs 'sign' or 'show'");
  } else {
    taken = 0;
  }
  if (taken == words.size()) return {};
  return BadUsage(fmt::format("unknown argument '{}'", words[taken]));
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments) {
  CommandLine line;
  std::vector<std::string_view> words;
  bool check_only = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    // The value of "--name VALUE" or "--name=VALUE".
    const auto value_of = [&](std::string_view name) -> std::optional<std::string_view> {
      if (argument == name && i + 1 < arguments.size()) return arguments[++i];
      if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
        return argument.substr(name.size() + 1);
      }
      return std::nullopt;
    };
    if (argument == "--help" || argument == "-h") return CommandLine{.command = Command::kHelp};
    if (argument == "--version") return CommandLine{.command = Command::kVersion};
    if (argument == "--check-config") {
      check_only = true;
    } else if (argument == "--json") {
      line.json = true;
    } else if (const auto file = value_of("--config")) {
      line.config_file = *file;
    } else if (const auto agent = value_of("--agent")) {
      line.agent = *agent;
    } else if (argument == "--config" || argument == "--agent") {
      return BadUsage(fmt::format("{} needs a value", argument));
    } else if (argument.starts_with('-')) {
      return BadUsage(fmt::format("unknown argument '{}'", argument));
    } else {
      words.push_back(argument);
    }
  }
  FIELDCOST_TRY(TakeWords(words, line));
  const bool policy = line.command == Command::kPolicySign || line.command == Command::kPolicyShow;
  if (line.json && !policy) return BadUsage("--json is for policy only");
  if (line.agent.empty() != (line.command != Command::kRevoke)) {
    return BadUsage("revoke, and only it, needs --agent");
  }
  if (check_only) line.command = Command::kCheckConfig;
  if (line.config_file.empty()) return BadUsage("--config FILE is missing");
  return line;
}

}  // namespace fieldcost::aggregator
