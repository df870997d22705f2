// The only source that uses CLI11, which separates options, values and operands; everything else
// about them is implemented here.
#include "common/command/parse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <span>

#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/command/help_text.h"
#include "common/command/program_word.h"

namespace fieldcost::command {

// Parses one line.
class Parser {
 public:
  Parser(const Command& program, std::string_view version) : version_(version) {
    app_.set_help_flag();
    app_.name(std::string(program.name));
    root_ = &Describe(program, app_);
    version_flag_ = app_.add_flag("--version");
  }

  std::variant<Call, Answer> Parse(std::vector<std::string> arguments);

 private:
  // A command and its CLI11 objects.
  struct Node {
    const Command* command = nullptr;
    CLI::App* app = nullptr;
    CLI::Option* help = nullptr;
    std::vector<std::pair<const Option*, CLI::Option*>> options;
    std::vector<Node*> below;
  };

  Node& Describe(const Command& command, CLI::App& app);
  void FollowPath();
  Answer BadUsage(std::string_view why) const;
  // Each of these returns an error message; "" = no error.
  std::string Missing() const;
  std::string UnknownText(const std::string& word) const;
  std::string SurplusText(const std::string& word) const;
  std::string TakeValues();
  std::string TakeValue(const Option& option, const CLI::Option& found);
  std::string CheckOption(const Option& option) const;
  std::string_view TitleOfNamed(std::string_view name) const;
  std::string CheckProgram(const std::optional<std::vector<std::string>>& program) const;
  std::string CheckAll(std::optional<std::vector<std::string>> program);

  const std::string_view version_;
  CLI::App app_;
  std::deque<Node> nodes_;  // addresses are stable
  Node* root_ = nullptr;
  CLI::Option* version_flag_ = nullptr;
  std::vector<const Node*> path_;
  std::vector<const Command*> commands_;  // those of path_
  std::vector<std::string> line_;         // unmodified
  Arguments arguments_;
};

namespace {

std::vector<std::string> NamesOf(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.emplace_back(command.name);
  return names;
}

// Adds the full name of each command with this name below the last one of `path`.
void FindNamed(std::string_view name, std::vector<const Command*>& path,
               std::vector<std::string>& found) {
  for (const Command& below : path.back()->commands) {
    path.push_back(&below);
    if (below.name == name) found.push_back(NameOf(path));
    FindNamed(name, path, found);
    path.pop_back();
  }
}

// The name of an option in messages.
std::string_view TitleOf(const Option& option) {
  return option.is_operand() ? option.value : option.first_name();
}

// The text of an error that CLI11 itself detects; begins with the option's name.
std::string TextOf(const CLI::ParseError& error) {
  const std::string what = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return what;
  const std::string name = what.substr(0, what.find_first_of(": "));
  if (name.starts_with('-')) return name + " needs a value";
  return fmt::format("--{} takes no value", name);  // CLI11 omits the dashes of flags
}

// CLI11 would use the next word as the value of "--name=".
std::vector<std::string> WithEmptyValues(std::vector<std::string> arguments) {
  std::vector<std::string> words;
  for (std::string& argument : arguments) {
    const bool is_empty = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (is_empty) argument.pop_back();
    words.push_back(std::move(argument));
    if (is_empty) words.emplace_back();
  }
  return words;
}

// Accepts what many users type first: "help top" for "top --help", "version" for "--version".
std::vector<std::string> AsOptions(std::vector<std::string> arguments) {
  if (arguments.empty()) return arguments;
  if (arguments[0] == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  } else if (arguments.size() == 1 && arguments[0] == "version") {
    arguments[0] = "--version";
  }
  return arguments;
}

}  // namespace

Parser::Node& Parser::Describe(const Command& command, CLI::App& app) {
  Node& node = nodes_.emplace_back();
  node.command = &command;
  node.app = &app;
  app.allow_extras();  // we report them
  app.require_subcommand(0, 1);
  node.help = app.add_flag(std::string(HelpOption().names));
  for (const Option& option : command.options) {
    const std::string names(option.names);
    CLI::Option* added = nullptr;
    if (option.is_flag()) {
      added = app.add_flag(names)->disable_flag_override();
    } else {
      added = app.add_option(names);
      added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      if (option.is_operand()) added->allow_extra_args(option.repeats);
    }
    node.options.emplace_back(&option, added);
  }
  for (const Command& below : command.commands) {
    CLI::App* added = app.add_subcommand(std::string(below.name));
    added->set_help_flag();
    added->fallthrough();
    node.below.push_back(&Describe(below, *added));
  }
  return node;
}

void Parser::FollowPath() {
  const Node* node = root_;
  while (node != nullptr) {
    path_.push_back(node);
    commands_.push_back(node->command);
    const auto next = std::find_if(node->below.begin(), node->below.end(),
                                   [](const Node* below) { return below->app->parsed(); });
    node = next == node->below.end() ? nullptr : *next;
  }
}

Answer Parser::BadUsage(std::string_view why) const {
  return {.exit_status = ExitStatus(ErrorCode::kInvalidArgument),
          .output = "",
          .errors = fmt::format("{}; see {} --help", why, NameOf(commands_))};
}

std::string Parser::Missing() const {
  const Command& command = *commands_.back();
  const std::vector<std::string> extras = app_.remaining(true);
  // CLI11 returns them in a different order.
  const auto first = std::ranges::find_first_of(line_, extras);
  if (first != line_.end()) return UnknownText(*first);
  if (command.handler) return "";
  const std::string choices = fmt::format("{}", fmt::join(NamesOf(command.commands), ", "));
  if (commands_.size() == 1) return "a command is needed: " + choices;
  return fmt::format("{} needs one of: {}", NameOf(std::span(commands_).subspan(1)), choices);
}

// The error message for the first unknown word.
std::string Parser::UnknownText(const std::string& word) const {
  const Command& command = *commands_.back();
  std::vector<std::string> known;
  const char* kind = "argument";
  if (word.starts_with('-')) {
    kind = "option";
    for (const Command* one : commands_) {
      for (const Option& option : one->options) {
        if (!option.is_operand()) known.emplace_back(option.first_name());
      }
    }
    known.emplace_back(HelpOption().first_name());
  } else if (!command.commands.empty()) {
    kind = "command";
    known = NamesOf(command.commands);
    // A command of another group, given without its group.
    std::vector<const Command*> path = {root_->command};
    std::vector<std::string> elsewhere;
    FindNamed(word, path, elsewhere);
    if (!elsewhere.empty()) {
      return fmt::format("unknown command '{}'; did you mean {}?", word,
                         fmt::join(elsewhere, " or "));
    }
  } else {
    return SurplusText(word);
  }
  const std::string meant = MeantName(word.substr(0, word.find('=')), known);
  return fmt::format("unknown {} '{}'{}", kind, word,
                     meant.empty() ? "" : fmt::format("; did you mean {}?", meant));
}

// The error message for a word that is not an option, if the command takes no more operands.
std::string Parser::SurplusText(const std::string& word) const {
  const Command& command = *commands_.back();
  const auto operand = std::ranges::find_if(command.options, &Option::is_operand);
  std::string text = fmt::format("unknown argument '{}'", word);
  if (operand == command.options.end()) return text;
  const auto name = std::ranges::find(line_, command.name);
  if (commands_.size() > 1 && std::ranges::find(line_, word) < name) {
    return text + fmt::format("; the command comes first: {} {}", NameOf(commands_), word);
  }
  if (operand->completes != Completes::kSymbol || operand->repeats) return text;
  // As in "show libz deflate".
  return text + fmt::format("; {} takes one {}; SONAME!SYMBOL names its library, too", command.name,
                            operand->value);
}

std::string Parser::TakeValue(const Option& option, const CLI::Option& found) {
  Arguments::Value& value = arguments_.values_[std::string(option.first_name())];
  value.given = found.count() != 0;
  if (option.is_flag()) return "";
  value.texts = found.results();
  if (value.texts.size() > 1 && !option.repeats) {
    return fmt::format("{} may be given only once", TitleOf(option));
  }
  for (std::string& text : value.texts) {
    const std::vector<std::string>& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return fmt::format("{}: invalid value '{}'; expected one of {}", TitleOf(option), text,
                         fmt::join(choices, ", "));
    }
    if (!option.check) continue;
    const std::string before = text;
    if (const Status status = option.check(text); !status) {
      const std::string& why = status.error().message;
      return fmt::format("{}: invalid value '{}'{}{}", TitleOf(option), before,
                         why.empty() ? "" : "; ", why);
    }
  }
  if (value.texts.empty() && !option.default_text.empty()) {
    value.texts.emplace_back(option.default_text);
  }
  return "";
}

std::string Parser::TakeValues() {
  for (const Node* node : path_) {
    for (const auto& [option, found] : node->options) {
      if (std::string why = TakeValue(*option, *found); !why.empty()) return why;
    }
  }
  return "";
}

std::string_view Parser::TitleOfNamed(std::string_view name) const {
  for (const Command* command : commands_) {
    for (const Option& option : command->options) {
      if (option.first_name() == name) return TitleOf(option);
    }
  }
  return name;
}

std::string Parser::CheckOption(const Option& option) const {
  const bool given = arguments_.Has(option.first_name());
  if (option.required && !given) {
    return fmt::format("{} needs {}", NameOf(std::span(commands_).subspan(commands_.size() > 1)),
                       option.is_operand() ? std::string(option.value)
                                           : fmt::format("{} {}", option.names, option.value));
  }
  if (!given) return "";
  for (const std::string_view other : option.needs) {
    if (arguments_.Has(other)) continue;
    return fmt::format("{} requires {}", TitleOf(option), TitleOfNamed(other));
  }
  for (const std::string_view other : option.excludes) {
    if (!arguments_.Has(other)) continue;
    return fmt::format("{} cannot be combined with {}", TitleOf(option), TitleOfNamed(other));
  }
  return "";
}

std::string Parser::CheckProgram(const std::optional<std::vector<std::string>>& program) const {
  const Command& command = *commands_.back();
  if (!command.takes_program) {
    return program ? fmt::format("{} takes no program after --", NameOf(commands_)) : "";
  }
  const std::vector<std::string_view>& instead = command.instead_of_program;
  const auto given = std::ranges::find_if(
      instead, [&](std::string_view option) { return arguments_.Has(option); });
  if (program && given != instead.end()) {
    return fmt::format("{} cannot be combined with a program after --", TitleOfNamed(*given));
  }
  if (given != instead.end()) return "";
  if (!program) {
    std::string text = fmt::format("put the program after --: {} -- PROGRAM", NameOf(commands_));
    for (const std::string_view option : instead) {
      text += fmt::format(", or use {}", TitleOfNamed(option));
    }
    return text;
  }
  return program->empty() ? "no program after --" : "";
}

std::string Parser::CheckAll(std::optional<std::vector<std::string>> program) {
  if (std::string why = Missing(); !why.empty()) return why;
  if (std::string why = TakeValues(); !why.empty()) return why;
  for (const std::string_view name : commands_.back()->without) {
    if (!arguments_.Has(name)) continue;
    return fmt::format("{} cannot be combined with {}", name,
                       NameOf(std::span(commands_).subspan(commands_.size() > 1)));
  }
  for (const Node* node : path_) {
    for (const auto& [option, found] : node->options) {
      if (std::string why = CheckOption(*option); !why.empty()) return why;
    }
  }
  if (std::string why = CheckProgram(program); !why.empty()) return why;
  if (program) arguments_.program_ = *std::move(program);
  const Command& command = *commands_.back();
  return command.check ? command.check(arguments_) : "";
}

std::variant<Call, Answer> Parser::Parse(std::vector<std::string> arguments) {
  // The first "--", which may be omitted, begins another program's command line.
  std::optional<std::vector<std::string>> program;
  const std::size_t word = ProgramWord(*root_->command, arguments);
  if (word < arguments.size()) {
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(word), "--");
  }
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) {
    program.emplace(std::make_move_iterator(mark + 1), std::make_move_iterator(arguments.end()));
    arguments.erase(mark, arguments.end());
  }
  if (!program) arguments = AsOptions(std::move(arguments));
  line_ = arguments;
  arguments = WithEmptyValues(std::move(arguments));
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
  std::string wrong;
  try {
    app_.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    wrong = TextOf(error);
  }
  FollowPath();
  const auto asks_for_help = [](const Node* node) { return node->help->count() != 0; };
  if (std::any_of(path_.begin(), path_.end(), asks_for_help)) {
    return Answer{.exit_status = 0, .output = HelpText(commands_), .errors = ""};
  }
  if (version_flag_->count() != 0) {
    return Answer{0, fmt::format("{} {}\n", commands_[0]->name, version_), ""};
  }
  if (wrong.empty()) wrong = CheckAll(std::move(program));
  if (!wrong.empty()) return BadUsage(wrong);
  return Call{commands_.back(), std::move(arguments_)};
}

Status CheckNumber(std::string& untrusted_text) {
  if (ParseUint64(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected an integer");
}

CheckText CheckBetween(std::uint64_t least, std::uint64_t most) {
  return [least, most](std::string& untrusted_text) -> Status {
    const auto number = ParseUint64(untrusted_text);
    if (number && *number >= least && *number <= most) return {};
    return Fail(ErrorCode::kInvalidArgument, "expected a number from {} to {}", least, most);
  };
}

Status CheckPort(std::string& untrusted_text) {
  const auto number = ParseUint64(untrusted_text);
  if (number && *number <= std::numeric_limits<std::uint16_t>::max()) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected a port from 0 to 65535");
}

Status CheckNotEmpty(std::string& untrusted_text) {
  if (!untrusted_text.empty()) return {};
  return Error{ErrorCode::kInvalidArgument, ""};
}

std::variant<Call, Answer> Parse(const Command& program, std::string_view version,
                                 std::vector<std::string> arguments) {
  // Scripts ask for the version most often, so skip describing all commands.
  if (arguments.size() == 1 && arguments[0] == "--version") {
    return Answer{0, fmt::format("{} {}\n", program.name, version), ""};
  }
  return Parser(program, version).Parse(std::move(arguments));
}

}  // namespace fieldcost::command
