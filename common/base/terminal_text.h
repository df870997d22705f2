#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fieldcost {

// Output for a terminal, which must not be steered by names from outside.

enum class TerminalColors { kKeep, kEscape };
// The last filter for whole output: as EscapeControl(), but keeps newlines, tabs, backslashes
// (names in the text may be escaped already) and, with kKeep, sequences that set a colour.
std::string EscapeForTerminal(std::string_view untrusted_text,
                              TerminalColors colors = TerminalColors::kEscape);

// The columns of the terminal that a descriptor refers to; 0 if it refers to none.
std::size_t TerminalColumns(int fd);

// "fieldcost: <text>": one line without its newline, escaped except for backslashes.
std::string RemarkLine(std::string_view untrusted_text);

// Writes the line with a newline to standard error. A failure to write it is ignored.
void PrintRemark(std::string_view untrusted_text);

}  // namespace fieldcost
