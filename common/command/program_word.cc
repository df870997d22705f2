#include "common/command/program_word.h"

#include <algorithm>

#include "common/base/nearest.h"
#include "common/command/help_text.h"

namespace fieldcost::command {
namespace {

const Command* Below(const Command& command, std::string_view name) {
  const auto found = std::ranges::find(command.commands, name, &Command::name);
  return found == command.commands.end() ? nullptr : &*found;
}

bool HasOperands(const Command& command) {
  return std::ranges::any_of(command.options, &Option::is_operand);
}

// The number of words of an option and its value; 0 if it is unknown.
std::size_t WordsOf(const std::vector<const Command*>& path, const std::string& word) {
  constexpr std::size_t kShort = 2;  // "-n"
  const std::size_t sign = word.find('=');
  const Option* option = FindOption(path, word.substr(0, sign));
  if (option != nullptr) return option->is_flag() || sign != std::string::npos ? 1 : 2;
  if (word.starts_with("--")) return 0;
  option = FindOption(path, word.substr(0, kShort));  // "-n7"
  return option != nullptr && !option->is_flag() ? 1 : 0;
}

}  // namespace

std::vector<std::string> NamesOf(const Option& option) {
  std::vector<std::string> names;
  for (std::string_view rest = option.names; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

std::vector<const Option*> OptionsOf(const Command& command, bool is_program) {
  std::vector<const Option*> options;
  for (const Option& option : command.options) {
    if (!option.is_operand()) options.push_back(&option);
  }
  options.push_back(&HelpOption());
  if (is_program) options.push_back(&VersionOption());
  return options;
}

const Option* FindOption(const std::vector<const Command*>& path, std::string_view name) {
  for (const Command* command : path) {
    for (const Option* option : OptionsOf(*command, command == path.front())) {
      for (const std::string& known : NamesOf(*option)) {
        if (known == name) return option;
      }
    }
  }
  return nullptr;
}

bool IsProgramWord(const Command& command, std::string_view word) {
  if (!command.takes_program) return false;
  if (HasOperands(command)) return false;
  std::vector<std::string> names;
  for (const Command& below : command.commands) names.emplace_back(below.name);
  return MeantName(word, names).empty();
}

bool IsFirstOfTwoPrograms(const Command& command, const std::vector<std::string>& words,
                          std::size_t word) {
  const auto& instead = command.instead_of_program;
  const auto replaces = [&](const Option& option) {
    return option.is_operand() && std::ranges::find(instead, option.first_name()) != instead.end();
  };
  if (!command.takes_program || std::ranges::none_of(command.options, replaces)) return false;
  return std::find(words.begin() + static_cast<std::ptrdiff_t>(word), words.end(), "--") !=
         words.end();
}

std::size_t ProgramWord(const Command& program, const std::vector<std::string>& words) {
  std::vector<const Command*> path = {&program};
  for (std::size_t i = 0; i < words.size();) {
    const std::string& word = words[i];
    if (word == "--") break;
    if (word.starts_with('-')) {
      const std::size_t taken = WordsOf(path, word);
      if (taken == 0) break;
      i += taken;
    } else if (const Command* below = Below(*path.back(), word)) {
      path.push_back(below);
      ++i;
    } else if (IsProgramWord(*path.back(), word) || IsFirstOfTwoPrograms(*path.back(), words, i)) {
      return i;
    } else {
      break;
    }
  }
  return words.size();
}

}  // namespace fieldcost::command
