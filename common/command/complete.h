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

// Names "soname!symbol" of functions whose symbol begins so, ascending; bounded by whoever looks.
using ApiLookup = std::function<std::vector<std::string>(std::string_view symbol_prefix)>;

// What may follow on a line of `program`. `words` are those behind the program's name, the last one
// unfinished (empty = a new one). Quotes are the shell's matter. Pure but for `apis`.
Completion Complete(const Command& program, const std::vector<std::string>& words,
                    const ApiLookup& apis);

// What the completion scripts read: a line that says what more the shell shall offer ("nothing",
// "files", "programs", "command N"), then "candidate TAB description" lines.
std::string CompletionAnswer(const Completion& completion);

}  // namespace fieldcost::command
