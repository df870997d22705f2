#include "common/command/help_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace fieldcost::command {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kTextColumn = 28;

// "a, b or c".
std::string ListOf(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

// Appends `line` followed by `text`, wrapped to the width with an indentation of `indent` columns.
// Adds no blank before the first word.
void AddFilled(std::string line, std::string_view text, std::size_t indent, std::string& help) {
  bool is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!is_empty && line.size() + 1 + end > kWidth) {
      help += line + '\n';
      line.assign(indent, ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + std::string(text.substr(0, end));
    is_empty = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  help += line + '\n';
}

// Appends `left` and, next to it, `text`.
void AddEntry(std::string_view left, std::string_view text, std::string& help) {
  std::string line = std::string(kIndent, ' ') + std::string(left);
  if (!text.empty() && line.size() + 3 > kTextColumn) {
    help += line + '\n';
    line.clear();
  }
  if (!text.empty()) line.resize(kTextColumn, ' ');
  AddFilled(std::move(line), text, kTextColumn, help);
}

// Appends sentences, wrapped; keeps empty lines and lines that begin with a blank (examples).
void AddParagraphs(std::string_view text, std::string& help) {
  std::string paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) AddFilled("", paragraph, 0, help);
    paragraph.clear();
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.empty() && !line.starts_with(' ')) {
      paragraph += (paragraph.empty() ? "" : " ") + std::string(line);
      continue;
    }
    end_paragraph();
    help += std::string(line) + '\n';
  }
  end_paragraph();
}

std::string JoinedNames(const Option& option) {
  std::string names(option.is_operand() ? option.value : option.names);
  for (std::size_t comma = names.find(','); comma != std::string::npos;
       comma = names.find(',', comma + 2)) {
    if (!option.is_operand()) names.insert(comma + 1, " ");
  }
  if (!option.is_operand() && !option.is_flag()) names += fmt::format(" {}", option.value);
  return names + (option.repeats ? "..." : "");
}

// The titles of these options in the help.
std::vector<std::string> TitlesOf(const std::vector<std::string_view>& names,
                                  const Command& command) {
  std::vector<std::string> titles;
  for (const std::string_view name : names) {
    const auto named = [name](const Option& option) { return option.first_name() == name; };
    const auto found = std::find_if(command.options.begin(), command.options.end(), named);
    const bool is_operand = found != command.options.end() && found->is_operand();
    titles.emplace_back(is_operand ? found->value : name);
  }
  return titles;
}

std::string TextOf(const Option& option, const Command& command) {
  std::string text(option.help);
  if (!option.choices.empty()) text += ": " + ListOf(option.choices);
  if (!option.default_text.empty()) text += fmt::format(" [{}]", option.default_text);
  if (!option.needs.empty()) {
    text += fmt::format("; requires {}", ListOf(TitlesOf(option.needs, command)));
  }
  if (!option.excludes.empty()) {
    text += fmt::format("; not with {}", ListOf(TitlesOf(option.excludes, command)));
  }
  return text;
}

std::string UsageOf(std::span<const Command* const> path) {
  const Command& command = *path.back();
  std::string usage = "Usage: " + NameOf(path) + " [OPTIONS]";
  for (const Option& option : command.options) {
    if (!option.is_operand() && option.required) usage += ' ' + JoinedNames(option);
  }
  for (const Option& option : command.options) {
    if (!option.is_operand()) continue;
    const std::string name = JoinedNames(option);
    usage += option.required ? ' ' + name : " [" + name + ']';
  }
  if (!command.commands.empty()) usage += command.handler ? " [COMMAND]" : " COMMAND";
  const bool is_needed = command.instead_of_program.empty() && !command.program_is_optional;
  if (command.takes_program)
    usage += is_needed ? " -- PROGRAM [ARGUMENT...]" : " [-- PROGRAM [ARGUMENT...]]";
  return usage + '\n';
}

void AddOptions(const Command& command, bool operands, std::string& help) {
  for (const Option& option : command.options) {
    if (option.is_operand() == operands)
      AddEntry(JoinedNames(option), TextOf(option, command), help);
  }
}

}  // namespace

std::string NameOf(std::span<const Command* const> path) {
  std::string name;
  for (const Command* command : path) {
    name += (name.empty() ? "" : " ") + std::string(command->name);
  }
  return name;
}

const Option& VersionOption() {
  static const Option option{.names = "--version", .help = "Print the version and exit"};
  return option;
}

const Option& HelpOption() {
  static const Option option{.names = "--help,-h", .help = "Print this help and exit"};
  return option;
}

std::string HelpText(std::span<const Command* const> path) {
  const Command& command = *path.back();
  std::string help = fmt::format("{}\n{}", command.summary, UsageOf(path));
  if (std::any_of(command.options.begin(), command.options.end(),
                  [](const Option& option) { return option.is_operand(); })) {
    help += "\nOperands:\n";
    AddOptions(command, true, help);
  }
  help += "\nOptions:\n";
  AddOptions(command, false, help);
  AddEntry(JoinedNames(HelpOption()), HelpOption().help, help);
  if (path.size() == 1) AddEntry(VersionOption().names, VersionOption().help, help);
  if (path.size() > 1)
    help += fmt::format("  and the options of every command: {} --help\n", path[0]->name);
  if (!command.commands.empty()) {
    help += "\nCommands:\n";
    for (const Command& below : command.commands) AddEntry(below.name, below.summary, help);
  }
  if (!command.help.empty()) help += '\n';
  AddParagraphs(command.help, help);
  return help;
}

}  // namespace fieldcost::command
