#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/base/terminal_text.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// The process's standard streams and environment.

// The value of an environment variable; empty if not set.
std::string_view Variable(const char* name);

// The drawing style for stdout, from its kind and the environment.
draw::Style StdoutStyle(draw::ColorChoice choice);
// The same for stderr, without a user's choice.
draw::Style StderrStyle();

// Wraps lines to the width of stdout if it is a terminal; else returns the text unchanged.
std::string FitStdout(std::string_view text);
// The FILE that means stdout.
inline constexpr char kStdout[] = "-";
// Writes all of `text`, escaped if stdout is a terminal. A closed pipe (`| head`) is not an error.
Status WriteStdout(std::string_view text, TerminalColors colors = TerminalColors::kEscape);

// Writes `text`, escaped except for colours. Errors are ignored.
void WriteStderr(std::string_view text);
// Writes our own text unchanged, including characters that move the cursor.
void WriteProgress(std::string_view own_text);

// Prints the line "fieldcost: <text>" on stderr, escaping control characters.
void Remark(std::string_view text);

bool StderrIsTerminal();
bool StdinIsTerminal();

// The exit status of a command that the user declined.
inline constexpr int kDeclined = 1;
// Writes `question` to stderr and reads a line from stdin. Returns true for "y" or "yes" in any
// case.
bool AskYes(std::string_view question);

}  // namespace fieldcost::cli
