#include "common/command/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "common/base/ascii.h"
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/command/help_text.h"
#include "common/command/line.h"
#include "common/command/program_word.h"

namespace fieldcost::command {

// Parses one line.
class Parser {
 public:
  explicit Parser(std::string_view version) : version_(version) {}

  std::variant<Call, Answer> Parse(const Command& program, std::vector<std::string> arguments);

 private:
  Answer BadUsage(std::string_view why) const;
  Status Missing() const;
  std::string UnknownText(const std::string& word) const;
  std::string SurplusText(const std::string& word) const;
  Status TakeValues();
  Status TakeValue(const Option& option);
  Status CheckOption(const Option& option) const;
  std::string_view TitleOfNamed(std::string_view name) const;
  Status CheckProgram(const std::optional<std::vector<std::string>>& program) const;
  Status CheckAll(std::optional<std::vector<std::string>> program);

  const std::string_view version_;
  Line line_;
  Arguments arguments_;
};

namespace {

std::vector<std::string> CommandNames(const std::vector<Command>& commands) {
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

Answer Parser::BadUsage(std::string_view why) const {
  return {.exit_status = ExitStatus(ErrorCode::kInvalidArgument),
          .output = "",
          .errors = fmt::format("{}; see {} --help", why, NameOf(line_.path))};
}

Status Parser::Missing() const {
  const Command& command = *line_.path.back();
  if (line_.unknown) {
    return Fail(ErrorCode::kInvalidArgument, "{}", UnknownText(line_.unknown->word));
  }
  if (command.handler) return {};
  const std::string choices = fmt::format("{}", fmt::join(CommandNames(command.commands), ", "));
  if (line_.path.size() == 1)
    return Fail(ErrorCode::kInvalidArgument, "a command is needed: {}", choices);
  return Fail(ErrorCode::kInvalidArgument, "{} needs one of: {}",
              NameOf(std::span(line_.path).subspan(1)), choices);
}

// The error message for the first unknown word.
std::string Parser::UnknownText(const std::string& word) const {
  const Command& command = *line_.path.back();
  std::vector<std::string> known;
  const char* kind = "argument";
  if (word.starts_with('-')) {
    kind = "option";
    for (const Command* one : line_.path) {
      for (const Option& option : one->options) {
        if (!option.is_operand()) known.emplace_back(option.first_name());
      }
    }
    known.emplace_back(HelpOption().first_name());
  } else if (!command.commands.empty()) {
    kind = "command";
    known = CommandNames(command.commands);
    // A command of another group, given without its group.
    std::vector<const Command*> path = {line_.path.front()};
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
  const Command& command = *line_.path.back();
  const auto operand = std::ranges::find_if(command.options, &Option::is_operand);
  std::string text = fmt::format("unknown argument '{}'", word);
  if (operand == command.options.end()) return text;
  if (line_.unknown->path_size < line_.path.size()) {
    return text + fmt::format("; the command comes first: {} {}", NameOf(line_.path), word);
  }
  if (operand->completes != Completes::kSymbol || operand->repeats) return text;
  // As in "show libz deflate".
  return text + fmt::format("; {} takes one {}; SONAME!SYMBOL names its library, too", command.name,
                            operand->value);
}

Status Parser::TakeValue(const Option& option) {
  Arguments::Value& value = arguments_.values_[std::string(option.first_name())];
  const auto given = line_.given.find(&option);
  value.given = given != line_.given.end();
  if (value.given) value.texts = std::move(given->second);
  if (value.texts.size() > 1 && !option.repeats) {
    return Fail(ErrorCode::kInvalidArgument, "{} may be given only once", TitleOf(option));
  }
  for (std::string& text : value.texts) {
    const std::vector<std::string>& choices = option.choices;
    if (!choices.empty() && std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return Fail(ErrorCode::kInvalidArgument, "{}: invalid value '{}'; expected one of {}",
                  TitleOf(option), text, fmt::join(choices, ", "));
    }
    if (!option.check) continue;
    const std::string before = text;
    if (const Status status = option.check(text); !status) {
      const std::string& why = status.error().message;
      return Fail(ErrorCode::kInvalidArgument, "{}: invalid value '{}'{}{}", TitleOf(option),
                  before, why.empty() ? "" : "; ", why);
    }
  }
  if (value.texts.empty() && !option.default_text.empty()) {
    value.texts.emplace_back(option.default_text);
  }
  return {};
}

Status Parser::TakeValues() {
  for (const Command* command : line_.path) {
    for (const Option& option : command->options) {
      FIELDCOST_TRY(TakeValue(option));
    }
  }
  return {};
}

std::string_view Parser::TitleOfNamed(std::string_view name) const {
  for (const Command* command : line_.path) {
    for (const Option& option : command->options) {
      if (option.first_name() == name) return TitleOf(option);
    }
  }
  return name;
}

Status Parser::CheckOption(const Option& option) const {
  const bool given = arguments_.Has(option.first_name());
  if (option.required && !given) {
    return Fail(ErrorCode::kInvalidArgument, "{} needs {}",
                NameOf(std::span(line_.path).subspan(line_.path.size() > 1)),
                option.is_operand() ? std::string(option.value)
                                    : fmt::format("{} {}", option.names, option.value));
  }
  if (!given) return {};
  for (const std::string_view other : option.needs) {
    if (arguments_.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} requires {}", TitleOf(option),
                TitleOfNamed(other));
  }
  for (const std::string_view other : option.excludes) {
    if (!arguments_.Has(other)) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} cannot be combined with {}", TitleOf(option),
                TitleOfNamed(other));
  }
  return {};
}

Status Parser::CheckProgram(const std::optional<std::vector<std::string>>& program) const {
  const Command& command = *line_.path.back();
  if (!command.takes_program) {
    if (!program) return {};
    return Fail(ErrorCode::kInvalidArgument, "{} takes no program after --", NameOf(line_.path));
  }
  const std::vector<std::string_view>& instead = command.instead_of_program;
  const auto given = std::ranges::find_if(
      instead, [&](std::string_view option) { return arguments_.Has(option); });
  if (program && given != instead.end()) {
    return Fail(ErrorCode::kInvalidArgument, "{} cannot be combined with a program after --",
                TitleOfNamed(*given));
  }
  if (given != instead.end()) return {};
  if (!program && command.program_is_optional) return {};
  if (!program) {
    std::string text = fmt::format("put the program after --: {} -- PROGRAM", NameOf(line_.path));
    for (const std::string_view option : instead) {
      text += fmt::format(", or use {}", TitleOfNamed(option));
    }
    return Fail(ErrorCode::kInvalidArgument, "{}", text);
  }
  if (program->empty()) return Fail(ErrorCode::kInvalidArgument, "no program after --");
  return {};
}

Status Parser::CheckAll(std::optional<std::vector<std::string>> program) {
  FIELDCOST_TRY(line_.status);
  FIELDCOST_TRY(Missing());
  FIELDCOST_TRY(TakeValues());
  for (const std::string_view name : line_.path.back()->without) {
    if (!arguments_.Has(name)) continue;
    return Fail(ErrorCode::kInvalidArgument, "{} cannot be combined with {}", name,
                NameOf(std::span(line_.path).subspan(line_.path.size() > 1)));
  }
  for (const Command* command : line_.path) {
    for (const Option& option : command->options) {
      FIELDCOST_TRY(CheckOption(option));
    }
  }
  FIELDCOST_TRY(CheckProgram(program));
  if (program) arguments_.program_ = *std::move(program);
  const Command& command = *line_.path.back();
  return command.check ? command.check(arguments_) : Status();
}

std::variant<Call, Answer> Parser::Parse(const Command& root, std::vector<std::string> arguments) {
  // The first "--", which may be omitted, begins another program's command line.
  std::optional<std::vector<std::string>> program;
  const std::size_t word = ProgramWord(root, arguments);
  if (word < arguments.size()) {
    arguments.insert(arguments.begin() + static_cast<std::ptrdiff_t>(word), "--");
  }
  const auto mark = std::find(arguments.begin(), arguments.end(), "--");
  if (mark != arguments.end()) {
    program.emplace(std::make_move_iterator(mark + 1), std::make_move_iterator(arguments.end()));
    arguments.erase(mark, arguments.end());
  }
  if (!program) arguments = AsOptions(std::move(arguments));
  line_ = ReadLine(root, arguments);
  if (line_.given.contains(&HelpOption())) {
    return Answer{.exit_status = 0, .output = HelpText(line_.path), .errors = ""};
  }
  if (line_.given.contains(&VersionOption())) {
    return Answer{0, fmt::format("{} {}\n", root.name, version_), ""};
  }
  if (const Status status = CheckAll(std::move(program)); !status) {
    return BadUsage(status.error().message);
  }
  return Call{line_.path.back(), std::move(arguments_)};
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

Status CheckSha256(std::string& untrusted_text) {
  untrusted_text = LowerCase(untrusted_text);
  if (IsHexSha256(untrusted_text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "expected 64 hexadecimal digits, as sha256sum prints");
}

std::variant<Call, Answer> Parse(const Command& program, std::string_view version,
                                 std::vector<std::string> arguments) {
  return Parser(version).Parse(program, std::move(arguments));
}

}  // namespace fieldcost::command
