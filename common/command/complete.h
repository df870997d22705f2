#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// The possible words at the cursor.
struct Completion {
  // The names that the shell itself offers, in addition to `candidates`.
  enum class More {
    kNothing,
    kFiles,
    kPrograms,
    kCommandLine,  // words[program_word] is a program: its own completion goes on from there
  };
  struct Candidate {
    std::string text;
    std::string description;  // one line, may be empty
    bool operator==(const Candidate&) const = default;
  };
  More more = More::kNothing;
  std::size_t program_word = 0;
  std::vector<Candidate> candidates;  // all of them go on as the last word begins
};

// Look-ups in the catalogue; each returns names with the given prefix, ascending, and limits their
// number.
struct NameLookups {
  using Names = std::vector<std::string>;
  // "soname!symbol" of functions whose symbol has this prefix.
  std::function<Names(std::string_view symbol_prefix)> symbols;
  // The same for C++ names as written in source code ("libjsoncpp.so.25!Json::Reader::parse").
  std::function<Names(std::string_view name_prefix)> names;
  // Sonames with this prefix, or the only one that contains `text`.
  std::function<Names(std::string_view text)> libraries;
  // Versions that begin so, of the library, or of that with the function; one of them is empty.
  std::function<Names(std::string_view library, std::string_view api, std::string_view prefix)>
      versions;
};

// Returns how a line of `program` may continue. `words` are those after the program's name, the
// last one unfinished (empty = a new word). The shell handles quotes. Pure except for the look-ups,
// of which at most one is called, once.
Completion Complete(const Command& program, const std::vector<std::string>& words,
                    const NameLookups& lookups);

// The text for the completion scripts: a line that states what the shell itself shall offer
// ("nothing", "files", "programs", "command N"), then "candidate TAB description" lines.
std::string CompletionAnswer(const Completion& completion);

}  // namespace fieldcost::command
