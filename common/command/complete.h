#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// The possible words at the cursor.
struct Completion {
  // Names that the shell itself offers, in addition to `candidates`.
  enum class More {
    kNothing,
    kFiles,
    kPrograms,
    kCommandLine,  // words[program_word] is a program, whose own completion takes over
  };
  struct Candidate {
    std::string text;
    std::string description;  // one line, may be empty
    bool operator==(const Candidate&) const = default;
  };
  More more = More::kNothing;
  std::size_t program_word = 0;
  std::vector<Candidate> candidates;  // each begins with the last word
};

// Look-ups in the catalogue. Each returns a limited number of names with the given prefix,
// ascending.
struct NameLookups {
  using Names = std::vector<std::string>;
  // "soname!symbol" of functions whose symbol has this prefix.
  std::function<Names(std::string_view symbol_prefix)> symbols;
  // The same for C++ names as written in source code ("libjsoncpp.so.25!Json::Reader::parse").
  std::function<Names(std::string_view name_prefix)> names;
  // Sonames with this prefix, or the only one that contains `text`.
  std::function<Names(std::string_view text)> libraries;
  // Versions with this prefix of `library`, or of the library of `api`; one of the two is empty.
  std::function<Names(std::string_view library, std::string_view api, std::string_view prefix)>
      versions;
};

// Returns how a line of `program` may continue. `words` follow the program's name; the last one is
// unfinished (empty = a new word). The shell handles quotes. Pure except for the look-ups; at most
// one of them is called, once.
Completion Complete(const Command& program, const std::vector<std::string>& words,
                    const NameLookups& lookups);

// The text for the completion scripts: a line that states what the shell itself should offer
// ("nothing", "files", "programs", "command N"), then "candidate TAB description" lines.
std::string CompletionAnswer(const Completion& completion);

}  // namespace fieldcost::command
