#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/command/command.h"

namespace fieldcost::command {

// What may stand where the cursor is.
struct Completion {
  // Whose names the shell itself offers, beside `candidates`.
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

// What the catalogue knows; each looks names up for what they begin with, ascending, and bounds
// itself.
struct NameLookups {
  using Names = std::vector<std::string>;
  // "soname!symbol" of functions whose symbol begins so.
  std::function<Names(std::string_view symbol_prefix)> symbols;
  // The same, of C++ as it stands in source code ("libjsoncpp.so.25!Json::Reader::parse").
  std::function<Names(std::string_view name_prefix)> names;
  // Sonames that begin so, or the only one that contains it.
  std::function<Names(std::string_view text)> libraries;
  // Versions that begin so, of the library, or of that with the function; one of them is empty.
  std::function<Names(std::string_view library, std::string_view api, std::string_view prefix)>
      versions;
};

// What may follow on a line of `program`. `words` are those behind the program's name, the last one
// unfinished (empty = a new one). Quotes are the shell's matter. Pure but for the look-ups, at most
// one of which is called, once.
Completion Complete(const Command& program, const std::vector<std::string>& words,
                    const NameLookups& lookups);

// What the completion scripts read: a line that says what more the shell shall offer ("nothing",
// "files", "programs", "command N"), then "candidate TAB description" lines.
std::string CompletionAnswer(const Completion& completion);

}  // namespace fieldcost::command
