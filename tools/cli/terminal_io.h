#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/base/terminal_text.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// The process's standard streams and environment.

// A variable's value, empty if it is not set.
std::string_view Variable(const char* name);

// How stdout may be drawn on, from its kind and the environment.
draw::Style StdoutStyle(draw::ColorChoice choice);
// The same of stderr, without a choice.
draw::Style StderrStyle();

// Text as it is, but with lines that fit where the standard output is a terminal.
std::string FitStdout(std::string_view text);
// Writes all of it, escaped if the standard output is a terminal. A reader that has gone away
// (`| head`) is no error.
Status WriteStdout(std::string_view text, TerminalColors colors = TerminalColors::kEscape);

// Writes it, escaped except for colours. Text that cannot be written is lost.
void WriteStderr(std::string_view text);
// Writes our own text as it is, with the characters that move the cursor.
void WriteProgress(std::string_view own_text);

// One line "fieldcost: <text>" on stderr; control characters escaped, if they are not yet.
void Remark(std::string_view text);

bool StderrIsTerminal();
bool StdinIsTerminal();

// Writes `question` to stderr and reads a line of stdin: true for "y" or "yes" in any case.
bool AskYes(std::string_view question);

}  // namespace fieldcost::cli
