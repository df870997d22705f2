#include "common/command/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/command/help_text.h"
#include "common/command/program_word.h"

namespace fieldcost::command {
namespace {

constexpr std::array<std::string_view, 4> kMetricNames = {"time", "alloc", "io", "cycles"};

class Completer {
 public:
  Completer(const Command& program, const NameLookups& lookups)
      : path_{&program}, lookups_(lookups) {}

  Completion Run(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "--") return BehindMark(words.size(), i + 1);
      if (BeginsProgram(words[i])) return BehindMark(words.size(), i);
      Take(words[i]);
    }
    if (command().commands.empty() && BeginsProgram(words.back())) return Programs();
    Last(words.back());
    return std::move(found_);
  }

 private:
  const Command& command() const { return *path_.back(); }

  // Whether a word, possibly unfinished, is another program without a preceding "--".
  bool BeginsProgram(const std::string& word) const {
    return waiting_ == nullptr && !word.starts_with('-') && word != "=" && Below(word) == nullptr &&
           IsProgramWord(command(), word);
  }

  static Completion Programs() { return {.more = Completion::More::kPrograms}; }

  // Completes after "--", where another program's command line begins.
  Completion BehindMark(std::size_t word_count, std::size_t program_word) {
    if (!command().takes_program) return {};
    if (program_word + 1 == word_count) return Programs();
    return {.more = Completion::More::kCommandLine, .program_word = program_word};
  }

  // Processes a finished word.
  void Take(const std::string& word) {
    if (word == "=" && waiting_ != nullptr) return;  // bash splits --color=auto into three words
    if (waiting_ != nullptr) {
      Remember(*waiting_, word);
      waiting_ = nullptr;
    } else if (word.starts_with("-")) {
      const std::size_t sign = word.find('=');
      const Option* option = FindOption(path_, word.substr(0, sign));
      if (option == nullptr || option->is_flag()) return;
      if (sign == std::string::npos) {
        waiting_ = option;
      } else {
        Remember(*option, word.substr(sign + 1));
      }
    } else if (const Command* below = Below(word)) {
      path_.push_back(below);
    } else {
      if (const Option* operand = NextOperand()) Remember(*operand, word);
      ++operands_;
    }
  }

  // Remembers the library or API that a later version option refers to.
  void Remember(const Option& option, const std::string& value) {
    if (option.completes == Completes::kLibrary) library_ = value;
    if (option.completes == Completes::kSymbol) api_ = value;
  }

  // The operand for the next word without dashes; nullptr if there is none.
  const Option* NextOperand() const {
    const Option* last = nullptr;
    std::size_t place = 0;
    for (const Option& option : command().options) {
      if (!option.is_operand()) continue;
      if (place++ == operands_) return &option;
      last = &option;
    }
    return last != nullptr && last->repeats ? last : nullptr;
  }

  const Command* Below(std::string_view name) const {
    for (const Command& below : command().commands) {
      if (below.name == name) return &below;
    }
    return nullptr;
  }

  void Last(std::string_view word) {
    if (waiting_ != nullptr) return Value(*waiting_, "", word == "=" ? "" : word);
    const std::size_t sign = word.find('=');
    if (word.starts_with("--") && sign != std::string_view::npos) {
      const Option* option = FindOption(path_, word.substr(0, sign));
      if (option == nullptr || option->is_flag()) return;
      return Value(*option, std::string(word.substr(0, sign + 1)), word.substr(sign + 1));
    }
    if (word.starts_with("-")) return Options(word);
    for (const Command& below : command().commands) Offer(word, below.name, below.summary);
    if (const Option* operand = NextOperand()) Value(*operand, "", word);
  }

  void Offer(std::string_view begin, std::string_view text, std::string_view description) {
    if (!text.starts_with(begin)) return;
    found_.candidates.push_back({std::string(text), std::string(description)});
  }

  void Options(std::string_view word) {
    std::set<std::string> offered;  // each command has its own --help
    for (auto command = path_.rbegin(); command != path_.rend(); ++command) {
      for (const Option* option : OptionsOf(**command, *command == path_.front())) {
        for (const std::string& name : NamesOf(*option)) {
          if (word == "-" && !name.starts_with("--")) continue;
          if (offered.insert(name).second) Offer(word, name, option->help);
        }
      }
    }
    if (command().takes_program) Offer(word, "--", "End of options; program follows");
  }

  // `before` is the part of the last word before the value.
  void Value(const Option& option, const std::string& before, std::string_view begin) {
    for (const std::string& choice : option.choices) {
      if (choice.starts_with(begin)) found_.candidates.push_back({before + choice, ""});
    }
    switch (option.completes) {
      case Completes::kNothing:
        break;
      case Completes::kFiles:
        found_.more = Completion::More::kFiles;
        break;
      case Completes::kPrograms:
        found_.more = Completion::More::kPrograms;
        break;
      case Completes::kMetrics:
        Metrics(before, begin);
        break;
      case Completes::kSymbol:
        ApiNames(before, begin, true, lookups_.names);
        break;
      case Completes::kApi:
        ApiNames(before, begin, false, lookups_.symbols);
        break;
      case Completes::kApiGlobs: {
        const std::size_t comma = begin.rfind(',') + 1;  // 0 if there is none
        ApiNames(before + std::string(begin.substr(0, comma)), begin.substr(comma), false,
                 lookups_.names);
        break;
      }
      case Completes::kLibrary:
        Names(before, lookups_.libraries(begin));
        break;
      case Completes::kVersion:
        if (!library_.empty() || !api_.empty()) {
          Names(before, lookups_.versions(library_, library_.empty() ? api_ : "", begin));
        }
        break;
    }
  }

  void Metrics(const std::string& before, std::string_view begin) {
    const std::size_t comma = begin.rfind(',') + 1;
    const std::string list = "," + std::string(begin.substr(0, comma));
    for (const std::string_view name : kMetricNames) {
      if (!name.starts_with(begin.substr(comma))) continue;
      if (list.find(fmt::format(",{},", name)) != std::string::npos) continue;
      found_.candidates.push_back(
          {fmt::format("{}{}{}", before, begin.substr(0, comma), name), ""});
    }
  }

  void Names(const std::string& before, const std::vector<std::string>& names) {
    for (const std::string& name : names) found_.candidates.push_back({before + name, ""});
  }

  // Completes a bare symbol as a symbol if that is enough. Otherwise, completes it to full names,
  // if all of them have the same library, so that no shell shortens the word to their common
  // prefix.
  void ApiNames(const std::string& before, std::string_view begin, bool symbol_is_enough,
                const std::function<NameLookups::Names(std::string_view)>& look_up) {
    const std::size_t mark = begin.find('!');
    const bool is_full = mark != std::string_view::npos;
    const std::vector<std::string> names = look_up(is_full ? begin.substr(mark + 1) : begin);
    std::set<std::string> texts;
    std::set<std::string> libraries;
    for (const std::string& name : names) {
      const std::size_t end = name.find('!');
      if (is_full && !name.starts_with(begin)) continue;
      libraries.insert(name.substr(0, end));
      texts.insert(is_full || !symbol_is_enough ? name : name.substr(end + 1));
    }
    if (!is_full && !symbol_is_enough && libraries.size() > 1) return;
    Names(before, {texts.begin(), texts.end()});
  }

  std::vector<const Command*> path_;  // from the program to the command reached
  const NameLookups& lookups_;
  const Option* waiting_ = nullptr;  // an option whose value comes next
  std::string library_;              // named on the line
  std::string api_;
  std::size_t operands_ = 0;
  Completion found_;
};

std::string MoreText(const Completion& completion) {
  switch (completion.more) {
    case Completion::More::kNothing:
      break;
    case Completion::More::kFiles:
      return "files";
    case Completion::More::kPrograms:
      return "programs";
    case Completion::More::kCommandLine:
      return fmt::format("command {}", completion.program_word);
  }
  return "nothing";
}

}  // namespace

Completion Complete(const Command& program, const std::vector<std::string>& words,
                    const NameLookups& lookups) {
  return Completer(program, lookups).Run(words);
}

std::string CompletionAnswer(const Completion& completion) {
  std::string text = MoreText(completion) + "\n";
  for (const Completion::Candidate& candidate : completion.candidates) {
    text += fmt::format("{}\t{}\n", candidate.text, candidate.description);
  }
  return text;
}

}  // namespace fieldcost::command
