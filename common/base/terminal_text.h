#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fieldcost {

// Output for a terminal, which external names must not be able to control.

enum class TerminalColors { kKeep, kEscape };
// The final filter for complete output: like EscapeControl(), but keeps newlines, tabs, backslashes
// (names in the text may already be escaped) and, with kKeep, colour sequences.
std::string EscapeForTerminal(std::string_view untrusted_text,
                              TerminalColors colors = TerminalColors::kEscape);

// The number of columns of the terminal that `fd` refers to; 0 if it is not a terminal.
std::size_t TerminalColumns(int fd);

// "fieldcost: <text>": one line without its newline, escaped except for backslashes.
std::string RemarkLine(std::string_view untrusted_text);

// Writes the line with a newline to standard error. A failure to write it is ignored.
void PrintRemark(std::string_view untrusted_text);

}  // namespace fieldcost
