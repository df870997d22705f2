#include "aggregator/operate/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "common/base/clock.h"
#include "common/base/text.h"

namespace fieldcost::aggregator {
namespace {

Error BadUsage(std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, "{}; see fieldcost-aggregator --help", what);
}

constexpr Command kAnywhere = Command::kHelp;  // an option's mark

// May be given as --agent, too.
constexpr std::string_view kAgentOperand = "the agent's name or public key";

struct CommandSyntax {
  std::string_view first;
  std::string_view second;  // "" = one word only
  Command command;
  std::string_view operand;          // what follows the words; "" = nothing
  std::string_view required_option;  // "" = none
};

constexpr std::array kCommands = {
    CommandSyntax{"serve", "", Command::kServe, "", ""},
    CommandSyntax{"verify", "", Command::kVerify, "", ""},
    CommandSyntax{"recover", "", Command::kRecover, "", ""},
    CommandSyntax{"publish", "", Command::kPublish, "", ""},
    CommandSyntax{"compact", "", Command::kCompact, "", ""},
    CommandSyntax{"expire", "", Command::kExpire, "", "--before"},
    CommandSyntax{"revoke", "", Command::kRevoke, kAgentOperand, ""},
    CommandSyntax{"backup", "", Command::kBackup, "", "--to"},
    CommandSyntax{"restore", "", Command::kRestore, "", "--from"},
    CommandSyntax{"policy", "sign", Command::kPolicySign, "the file to sign", ""},
    CommandSyntax{"policy", "show", Command::kPolicyShow, "", ""},
    CommandSyntax{"keys", "show", Command::kKeysShow, "", ""},
    CommandSyntax{"keys", "rotate", Command::kKeysRotate, "the role", ""},
    CommandSyntax{"keys", "add-policy", Command::kKeysAddPolicy, "", ""},
    CommandSyntax{"keys", "renew", Command::kKeysRenew, "", ""},
    CommandSyntax{"keys", "export-offline", Command::kKeysExportOffline, "the role", "--to"},
    CommandSyntax{"demo", "", Command::kDemo, "", "--data"},
};

// Takes the value (or "" if the option has none); false if it is not one.
using TakeValue = bool (*)(CommandLine& line, std::string_view value);

struct OptionSyntax {
  std::string_view name;
  bool has_value;
  std::array<Command, 4> commands;  // kAnywhere: all
  TakeValue take;
};

bool TakeCount(std::string_view text, unsigned& count) {
  const auto number = ParseUint64(text);
  if (!number || *number == 0 || *number > std::numeric_limits<unsigned>::max()) return false;
  count = static_cast<unsigned>(*number);
  return true;
}

bool TakeNumber(std::string_view text, std::optional<std::uint64_t>& number) {
  number = ParseUint64(text);
  return number.has_value();
}

// Its number, or a day that is in it.
bool TakeWeek(std::string_view text, std::uint32_t& week) {
  if (const auto of_day = WeekOfDay(text)) {
    week = *of_day;
    return true;
  }
  const auto number = ParseUint64(text);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return false;
  week = static_cast<std::uint32_t>(*number);
  return true;
}

constexpr std::array kOptions = {
    OptionSyntax{"--config",
                 true,
                 {kAnywhere},
                 [](CommandLine& line, std::string_view value) {
                   line.config_file = value;
                   return !value.empty();
                 }},
    OptionSyntax{"--json",
                 false,
                 {kAnywhere},
                 [](CommandLine& line, std::string_view) { return line.json = true; }},
    OptionSyntax{"--agent",
                 true,
                 {Command::kRevoke},
                 [](CommandLine& line, std::string_view value) {
                   line.agent = value;
                   return true;
                 }},
    OptionSyntax{"--withdraw",
                 false,
                 {Command::kRevoke, Command::kRevoke, Command::kRevoke},
                 [](CommandLine& line, std::string_view) { return line.withdraw = true; }},
    OptionSyntax{"--dry-run",
                 false,
                 {Command::kRevoke, Command::kRevoke, Command::kRevoke},
                 [](CommandLine& line, std::string_view) { return line.dry_run = true; }},
    OptionSyntax{"--drop-damaged",
                 false,
                 {Command::kRecover, Command::kRecover, Command::kRecover},
                 [](CommandLine& line, std::string_view) { return line.drop_damaged = true; }},
    OptionSyntax{"--before",
                 true,
                 {Command::kExpire},
                 [](CommandLine& line, std::string_view value) {
                   return TakeWeek(value, line.before_week);
                 }},
    OptionSyntax{"--yes",
                 false,
                 {Command::kExpire},
                 [](CommandLine& line, std::string_view) { return line.yes = true; }},
    OptionSyntax{"--to",
                 true,
                 {Command::kBackup, Command::kKeysExportOffline},
                 [](CommandLine& line, std::string_view value) {
                   line.directory = value;
                   return !value.empty();
                 }},
    OptionSyntax{"--data",
                 true,
                 {Command::kDemo},
                 [](CommandLine& line, std::string_view value) {
                   line.directory = value;
                   return !value.empty();
                 }},
    OptionSyntax{
        "--seed",
        true,
        {Command::kDemo},
        [](CommandLine& line, std::string_view value) { return TakeNumber(value, line.seed); }},
    OptionSyntax{
        "--agents",
        true,
        {Command::kDemo},
        [](CommandLine& line, std::string_view value) { return TakeNumber(value, line.agents); }},
    OptionSyntax{"--last-week",
                 true,
                 {Command::kDemo},
                 [](CommandLine& line, std::string_view value) {
                   return TakeNumber(value, line.last_week);
                 }},
    OptionSyntax{"--profile",
                 true,
                 {Command::kDemo},
                 [](CommandLine& line, std::string_view value) {
                   line.profile_file = value;
                   return !value.empty();
                 }},
    OptionSyntax{"--from",
                 true,
                 {Command::kRestore},
                 [](CommandLine& line, std::string_view value) {
                   line.directory = value;
                   return !value.empty();
                 }},
    OptionSyntax{
        "--without-signing-keys",
        false,
        {Command::kBackup},
        [](CommandLine& line, std::string_view) { return line.without_signing_keys = true; }},
    OptionSyntax{"--root-key",
                 true,
                 {Command::kKeysRotate, Command::kKeysAddPolicy, Command::kKeysRenew},
                 [](CommandLine& line, std::string_view value) {
                   line.root_key_files.emplace_back(value);
                   return !value.empty();
                 }},
    OptionSyntax{
        "--offline",
        true,
        {Command::kKeysRotate, Command::kKeysAddPolicy, Command::kKeysRenew, Command::kPolicySign},
        [](CommandLine& line, std::string_view value) {
          line.offline_dir = value;
          return !value.empty();
        }},
    OptionSyntax{
        "--keys",
        true,
        {Command::kKeysRotate},
        [](CommandLine& line, std::string_view value) { return TakeCount(value, line.root_keys); }},
    OptionSyntax{"--threshold",
                 true,
                 {Command::kKeysRotate},
                 [](CommandLine& line, std::string_view value) {
                   return TakeCount(value, line.root_threshold);
                 }},
};

bool Allows(const OptionSyntax& option, Command command) {
  if (option.name == "--json") return command != Command::kServe;
  if (option.name == "--config") return command != Command::kDemo;
  // What an option's list does not fill is kServe, which has only those two.
  return option.commands[0] == kAnywhere ||
         (command != Command::kServe &&
          std::count(option.commands.begin(), option.commands.end(), command) != 0);
}

// Which command the words that are no options name.
Result<CommandSyntax> FindCommand(const std::vector<std::string_view>& words) {
  if (words.empty()) return kCommands[0];
  std::string verbs;
  for (const CommandSyntax& syntax : kCommands) {
    if (words[0] != syntax.first) continue;
    if (syntax.second.empty() || (words.size() > 1 && words[1] == syntax.second)) return syntax;
    verbs += fmt::format("{}'{}'", verbs.empty() ? "" : ", ", syntax.second);
  }
  if (!verbs.empty()) return BadUsage(fmt::format("{} needs one of {}", words[0], verbs));
  return BadUsage(fmt::format("unknown argument '{}'", words[0]));
}

Status TakeWords(const std::vector<std::string_view>& words, CommandLine& line,
                 const std::vector<std::string_view>& given) {
  FIELDCOST_ASSIGN(const CommandSyntax syntax, FindCommand(words));
  line.command = syntax.command;
  std::size_t taken = words.empty() ? 0 : syntax.second.empty() ? 1 : 2;
  const bool is_option = syntax.operand == kAgentOperand && !line.agent.empty();
  if (!syntax.operand.empty() && !is_option) {
    if (words.size() == taken) {
      return BadUsage(fmt::format("{}{}{} needs {}", syntax.first, syntax.second.empty() ? "" : " ",
                                  syntax.second, syntax.operand));
    }
    if (line.command == Command::kPolicySign) {
      line.policy_file = words[taken];
    } else if (line.command == Command::kRevoke) {
      line.agent = words[taken];
    } else {
      line.role = words[taken];
    }
    ++taken;
  }
  if (taken != words.size()) return BadUsage(fmt::format("unknown argument '{}'", words[taken]));
  if (!syntax.required_option.empty() &&
      std::count(given.begin(), given.end(), syntax.required_option) == 0) {
    return BadUsage(fmt::format("{} needs {}", syntax.first, syntax.required_option));
  }
  return {};
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> arguments) {
  CommandLine line;
  std::vector<std::string_view> words;
  std::vector<std::string_view> given;  // names of options
  bool check_only = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--help" || argument == "-h") return CommandLine{.command = Command::kHelp};
    if (argument == "--version") return CommandLine{.command = Command::kVersion};
    if (argument == "--check-config") {
      check_only = true;
      continue;
    }
    if (!argument.starts_with('-')) {
      words.push_back(argument);
      continue;
    }
    // "--name VALUE", "--name=VALUE" or "--name".
    const std::size_t equals = std::min(argument.find('='), argument.size());
    const std::string_view name = argument.substr(0, equals);
    const auto* const option = std::find_if(kOptions.begin(), kOptions.end(),
                                            [&](const auto& known) { return known.name == name; });
    if (option == kOptions.end() || (!option->has_value && name != argument)) {
      return BadUsage(fmt::format("unknown argument '{}'", argument));
    }
    std::string_view value;
    if (option->has_value) {
      const bool attached = equals != argument.size();
      if (!attached && i + 1 == arguments.size()) {
        return BadUsage(fmt::format("{} needs a value", name));
      }
      value = attached ? argument.substr(equals + 1) : std::string_view(arguments[++i]);
    }
    if (!option->take(line, value)) {
      return BadUsage(fmt::format("{} cannot be '{}'", name, value));
    }
    given.push_back(option->name);
  }
  FIELDCOST_TRY(TakeWords(words, line, given));
  for (const OptionSyntax& option : kOptions) {
    if (std::count(given.begin(), given.end(), option.name) != 0 && !Allows(option, line.command)) {
      return BadUsage(fmt::format("{} does not go with this command", option.name));
    }
  }
  if (line.dry_run && !line.withdraw) return BadUsage("--dry-run goes with --withdraw");
  if (check_only && line.command == Command::kDemo) {
    return BadUsage("--check-config does not go with this command");
  }
  if (check_only) line.command = Command::kCheckConfig;
  if (line.command == Command::kDemo) return line;
  if (line.config_file.empty()) return BadUsage("--config FILE is missing");
  return line;
}

}  // namespace fieldcost::aggregator
