#include "tools/cli/terminal/terminal_io.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/terminal_text.h"
#include "common/base/write_all.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64;

draw::Style StyleOf(int fd, draw::ColorChoice choice) {
  draw::TerminalFacts facts;
  facts.is_terminal = ::isatty(fd) == 1;
  facts.columns = TerminalColumns(fd);
  facts.no_color = Variable("NO_COLOR");
  facts.term = Variable("TERM");
  facts.color_term = Variable("COLORTERM");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (facts.locale.empty()) facts.locale = Variable(name);
  }
  return draw::ChooseStyle(choice, facts);
}

}  // namespace

std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

draw::Style StdoutStyle(draw::ColorChoice choice) { return StyleOf(STDOUT_FILENO, choice); }
draw::Style StderrStyle() { return StyleOf(STDERR_FILENO, draw::ColorChoice::kAuto); }

std::string FitStdout(std::string_view text) {
  return draw::WrapLines(text, StdoutStyle(draw::ColorChoice::kNever));
}

Status WriteStdout(std::string_view text, TerminalColors colors) {
  std::string escaped;
  if (::isatty(STDOUT_FILENO) == 1) {
    escaped = EscapeForTerminal(text, colors);
    text = escaped;
  }
  const int failure = WriteAll(STDOUT_FILENO, text);
  if (failure == 0 || failure == EPIPE) return {};
  return ErrnoError("write", "standard output", failure);
}

void WriteStderr(std::string_view text) {
  WriteProgress(EscapeForTerminal(text, TerminalColors::kKeep));
}

void WriteProgress(std::string_view own_text) {
  (void)WriteAll(STDERR_FILENO, own_text);  // a failure could not be reported anywhere
}

void Remark(std::string_view text) {
  WriteProgress(draw::WrapLines(RemarkLine(text), StderrStyle()));
}

bool StderrIsTerminal() { return ::isatty(STDERR_FILENO) == 1; }

bool StdinIsTerminal() { return ::isatty(STDIN_FILENO) == 1; }

bool AskYes(std::string_view question) {
  WriteStderr(question);
  std::string answer;
  char c = 0;
  while (answer.size() < kMaxAnswerBytes) {
    const ssize_t got = ::read(STDIN_FILENO, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') break;
    if (c != '\r') answer += LowerCase(c);
  }
  return answer == "y" || answer == "yes";
}

}  // namespace fieldcost::cli
