#include "common/base/terminal_text.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/text.h"
#include "common/base/write_all.h"

namespace fieldcost {
namespace {

// The length of the colour sequence ("ESC [ 38;5;196 m") at the beginning of the text; 0 if none.
std::size_t ColorBytes(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Escapes the text between the characters of `marks` (ASCII). For text that begins with a mark,
// `kept` returns how many bytes stay unchanged, or 0 to escape the mark.
template <typename Kept>
std::string EscapeBetween(std::string_view untrusted_text, std::string_view marks, Kept kept) {
  std::string out;
  out.reserve(untrusted_text.size());
  while (!untrusted_text.empty()) {
    const std::size_t end = std::min(untrusted_text.find_first_of(marks), untrusted_text.size());
    out += EscapeControl(untrusted_text.substr(0, end));
    untrusted_text.remove_prefix(end);
    if (untrusted_text.empty()) break;
    const std::size_t bytes = kept(untrusted_text);
    out += bytes == 0 ? EscapeControl(untrusted_text.substr(0, 1))
                      : std::string(untrusted_text.substr(0, bytes));
    untrusted_text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

}  // namespace

std::string EscapeForTerminal(std::string_view untrusted_text, TerminalColors colors) {
  return EscapeBetween(untrusted_text, "\n\t\\\x1b", [colors](std::string_view text) {
    if (text[0] != '\x1b') return std::size_t{1};
    return colors == TerminalColors::kKeep ? ColorBytes(text) : 0;
  });
}

std::size_t TerminalColumns(int fd) {
  winsize size{};
  return ::isatty(fd) == 1 && ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : std::size_t{0};
}

std::string RemarkLine(std::string_view untrusted_text) {
  return "fieldcost: " +
         EscapeBetween(untrusted_text, "\\", [](std::string_view) { return std::size_t{1}; });
}

void PrintRemark(std::string_view untrusted_text) {
  static_cast<void>(WriteAll(STDERR_FILENO, RemarkLine(untrusted_text) + "\n"));
}

}  // namespace fieldcost
