#include "tools/cli/complete.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace fieldcost::cli {
namespace {

constexpr std::array<std::string_view, 4> kMetricNames = {"time", "alloc", "io", "cycles"};
constexpr OptionInfo const* kNoOption = nullptr;

const OptionInfo* FindOption(const std::vector<const CommandInfo*>& path, std::string_view name) {
  for (const CommandInfo* command : path) {
    for (const OptionInfo& option : command->options) {
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end()) {
        return &option;
      }
    }
  }
  return kNoOption;
}

class Completer {
 public:
  Completer(const CommandInfo& root, const ApiLookup& apis) : path_{&root}, apis_(apis) {}

  Completion Run(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] == "--") return BehindMark(words.size(), i + 1);
      Take(words[i]);
    }
    Last(words.back());
    return std::move(found_);
  }

 private:
  const CommandInfo& command() const { return *path_.back(); }

  // Behind `run --` another program's command line begins.
  Completion BehindMark(std::size_t word_count, std::size_t program_word) {
    if (command().name != "run") return {};
    if (program_word + 1 == word_count) return {.more = Completion::More::kPrograms};
    return {.more = Completion::More::kCommandLine, .program_word = program_word};
  }

  // A finished word.
  void Take(const std::string& word) {
    if (word == "=" && waiting_ != nullptr) return;  // bash makes three words of --color=auto
    if (waiting_ != nullptr) {
      waiting_ = nullptr;
    } else if (word.starts_with("-")) {
      const OptionInfo* option = FindOption(path_, word);
      if (option != nullptr && option->takes_value) waiting_ = option;
    } else if (const CommandInfo* below = Below(word)) {
      path_.push_back(below);
    } else {
      ++positionals_;
    }
  }

  const CommandInfo* Below(std::string_view name) const {
    for (const CommandInfo& below : command().commands) {
      if (below.name == name) return &below;
    }
    return nullptr;
  }

  void Last(std::string_view word) {
    if (waiting_ != nullptr) return Value(*waiting_, "", word == "=" ? "" : word);
    const std::size_t sign = word.find('=');
    if (word.starts_with("--") && sign != std::string_view::npos) {
      const OptionInfo* option = FindOption(path_, word.substr(0, sign));
      if (option == nullptr || !option->takes_value) return;
      return Value(*option, std::string(word.substr(0, sign + 1)), word.substr(sign + 1));
    }
    if (word.starts_with("-")) return Options(word);
    for (const CommandInfo& below : command().commands) Offer(word, below.name, below.description);
    const std::vector<OptionInfo>& positionals = command().positionals;
    if (positionals_ < positionals.size()) {
      Value(positionals[positionals_], "", word);
    } else if (!positionals.empty() && positionals.back().repeats) {
      Value(positionals.back(), "", word);
    }
  }

  void Offer(std::string_view begin, const std::string& text, const std::string& description) {
    if (text.starts_with(begin)) found_.candidates.push_back({text, description});
  }

  void Options(std::string_view word) {
    std::set<std::string> offered;  // --help is every command's own
    for (auto command = path_.rbegin(); command != path_.rend(); ++command) {
      for (const OptionInfo& option : (*command)->options) {
        for (const std::string& name : option.names) {
          if (word == "-" && !name.starts_with("--")) continue;
          if (offered.insert(name).second) Offer(word, name, option.description);
        }
      }
    }
    if (command().name == "run") Offer(word, "--", "The program follows");
  }

  // `before` is what the last word holds in front of the value.
  void Value(const OptionInfo& option, const std::string& before, std::string_view begin) {
    for (const std::string& choice : option.choices) {
      if (choice.starts_with(begin)) found_.candidates.push_back({before + choice, ""});
    }
    if (option.type == "FILE" || option.type == "DIRECTORY") {
      found_.more = Completion::More::kFiles;
    } else if (option.type == "PROGRAM|PID") {
      found_.more = Completion::More::kPrograms;
    } else if (option.type == "METRICS") {
      Metrics(before, begin);
    } else if (option.type == "API") {
      ApiNames(before, begin, true);
    } else if (option.type == "SONAME!SYMBOL") {
      ApiNames(before, begin, false);
    } else if (option.type == "GLOB,...") {
      const std::size_t comma = begin.rfind(',') + 1;  // 0 if there is none
      ApiNames(before + std::string(begin.substr(0, comma)), begin.substr(comma), false);
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

  // A bare symbol goes on as a symbol where that is enough; else as the full names, if these have
  // all one library, so that no shell shortens the word to what different ones have in common.
  void ApiNames(const std::string& before, std::string_view begin, bool symbol_is_enough) {
    const std::size_t mark = begin.find('!');
    const bool is_full = mark != std::string_view::npos;
    const std::vector<std::string> names = apis_(is_full ? begin.substr(mark + 1) : begin);
    std::set<std::string> texts;
    std::set<std::string> libraries;
    for (const std::string& name : names) {
      const std::size_t end = name.find('!');
      if (is_full && !name.starts_with(begin)) continue;
      libraries.insert(name.substr(0, end));
      texts.insert(is_full || !symbol_is_enough ? name : name.substr(end + 1));
    }
    if (!is_full && !symbol_is_enough && libraries.size() > 1) return;
    for (const std::string& text : texts) found_.candidates.push_back({before + text, ""});
  }

  std::vector<const CommandInfo*> path_;  // from the root to the command reached
  const ApiLookup& apis_;
  const OptionInfo* waiting_ = nullptr;  // an option whose value comes next
  std::size_t positionals_ = 0;
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

Completion Complete(const CommandInfo& root, const std::vector<std::string>& words,
                    const ApiLookup& apis) {
  return Completer(root, apis).Run(words);
}

std::string CompletionAnswer(const Completion& completion) {
  std::string text = MoreText(completion) + "\n";
  for (const Completion::Candidate& candidate : completion.candidates) {
    text += fmt::format("{}\t{}\n", candidate.text, candidate.description);
  }
  return text;
}

}  // namespace fieldcost::cli
