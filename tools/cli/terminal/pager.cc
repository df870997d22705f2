#include "tools/cli/terminal/pager.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "common/draw/terminal.h"
#include "tools/cli/terminal/helper_program.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr char kDefaultPager[] = "less";
// Quit if the text fits on one screen, keep colours, do not fold lines, leave the text on the
// screen.
constexpr char kLessOptions[] = "FRSX";
constexpr unsigned kUsualRows = 24;
constexpr unsigned kUsualColumns = 80;
constexpr int kCannotRun = 126;  // a shell's exit status in this case
constexpr int kNotThere = 127;

std::string ChoosePager() {
  for (const char* name : {"FIELDCOST_PAGER", "PAGER"}) {
    if (std::getenv(name) != nullptr) {
      const std::string_view pager = Variable(name);
      return pager == "cat" ? "" : std::string(pager);
    }
  }
  return kDefaultPager;
}

bool FitsTerminal(std::string_view text) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return !IsLonger(text, known ? size.ws_row : kUsualRows,
                   known && size.ws_col > 0 ? size.ws_col : kUsualColumns);
}

// Returns false if the pager cannot be run, so that no text has been shown.
Result<bool> Show(std::string_view text, const std::string& pager) {
  FIELDCOST_ASSIGN(Pipe pipe, MakePipe());
  const IgnoreInterrupts ignore;
  FIELDCOST_ASSIGN(const pid_t child, StartHelper({.arguments = {"/bin/sh", "-c", pager},
                                                   .input = pipe.read_end.get()}));
  pipe.read_end.Reset();
  Feed(pipe.write_end.get(), text);
  pipe.write_end.Reset();
  const int status = WaitForHelper(child);
  return status != kCannotRun && status != kNotThere;
}

}  // namespace

bool IsLonger(std::string_view text, unsigned rows, unsigned columns) {
  std::size_t used = 1;  // for the shell's prompt
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t width = draw::PlainWidth(text.substr(0, end));
    used += width == 0 ? 1 : (width + columns - 1) / columns;
    if (used > rows) return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

Status WritePaged(std::string_view long_lines, const Output& output) {
  std::string text = draw::WrapLines(long_lines, output.style);
  const std::string pager = ChoosePager();
  if (!output.pager || pager.empty() || Variable("TERM").empty() || Variable("TERM") == "dumb" ||
      ::isatty(STDOUT_FILENO) != 1 || FitsTerminal(text)) {
    return WriteStdout(text, TerminalColors::kKeep);
  }
  text = EscapeForTerminal(text, TerminalColors::kKeep);
  ::setenv("LESS", kLessOptions, 0);
  FIELDCOST_ASSIGN(const bool shown, Show(text, pager));
  if (shown) return {};
  Remark(fmt::format("the pager '{}' cannot be run", pager));
  return WriteStdout(text, TerminalColors::kKeep);
}

}  // namespace fieldcost::cli
