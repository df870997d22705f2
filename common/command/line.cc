#include "common/command/line.h"

#include <algorithm>
#include <string_view>

#include "common/base/ascii.h"
#include "common/base/result.h"
#include "common/command/program_word.h"

namespace fieldcost::command {
namespace {

class LineReader {
 public:
  LineReader(const Command& program, const std::vector<std::string>& words)
      : word_(words.begin()), end_(words.end()) {
    line_.path = {&program};
  }

  Line Run() {
    while (word_ != end_) {
      const std::string& word = *word_++;
      if (word.starts_with("--")) {
        ReadLong(word);
      } else if (IsShort(word)) {
        ReadShort(word);
      } else {
        ReadWord(word);
      }
    }
    return std::move(line_);
  }

 private:
  const Option* Find(std::string_view name) const { return FindOption(line_.path, name); }

  bool IsShort(std::string_view word) const {
    if (word.size() < 2 || word[0] != '-') return false;
    return !IsDigit(word[1]) || Find(word.substr(0, 2)) != nullptr;
  }

  void ReadLong(const std::string& word) {
    const std::size_t sign = word.find('=');
    const Option* option = Find(word.substr(0, sign));
    if (option == nullptr) return AddUnknown(word);
    std::optional<std::string> value;
    if (sign != std::string::npos) value = word.substr(sign + 1);
    if (!option->is_flag()) return AddValue(*option, std::move(value));
    if (value)
      return AddError(Fail(ErrorCode::kInvalidArgument, "{} takes no value", option->first_name()));
    line_.given[option];
  }

  void ReadShort(const std::string& word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      const Option* option = Find(std::string{'-', word[i]});
      if (option == nullptr) return AddUnknown(word);
      if (!option->is_flag()) {
        std::optional<std::string> value;
        if (i + 1 < word.size()) value = word.substr(i + 1);
        return AddValue(*option, std::move(value));
      }
      line_.given[option];
    }
  }

  // Reads a command or an operand of the last command or, if it takes no more, of a parent.
  void ReadWord(const std::string& word) {
    const auto& commands = line_.path.back()->commands;
    const auto below = std::ranges::find(commands, word, &Command::name);
    if (below != commands.end()) {
      line_.path.push_back(&*below);
      return;
    }
    for (auto command = line_.path.rbegin(); command != line_.path.rend(); ++command) {
      for (const Option& option : (*command)->options) {
        if (!option.is_operand() || (line_.given.contains(&option) && !option.repeats)) continue;
        line_.given[&option].push_back(word);
        return;
      }
    }
    AddUnknown(word);
  }

  // Without `value`, the next word is the value.
  void AddValue(const Option& option, std::optional<std::string> value) {
    if (!value && word_ == end_) {
      return AddError(Fail(ErrorCode::kInvalidArgument, "{} needs a value", option.first_name()));
    }
    line_.given[&option].push_back(value ? *std::move(value) : *word_++);
  }

  void AddUnknown(const std::string& word) {
    if (!line_.unknown) line_.unknown = {word, line_.path.size()};
  }

  void AddError(Error error) {
    if (line_.status) line_.status = std::move(error);
  }

  Line line_;
  std::vector<std::string>::const_iterator word_;
  const std::vector<std::string>::const_iterator end_;
};

}  // namespace

Line ReadLine(const Command& program, const std::vector<std::string>& words) {
  return LineReader(program, words).Run();
}

}  // namespace fieldcost::command
