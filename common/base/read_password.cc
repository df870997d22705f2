#include "common/base/read_password.h"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include "common/base/text.h"

namespace fieldcost {
namespace {

// Turns off the terminal's echo during its lifetime.
class Silence {
 public:
  Silence() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0;
  }
  ~Silence() {
    if (!changed_) return;
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    fmt::print(stderr, "\n");
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

Result<std::string> ReadLine() {
  std::string line;
  if (!std::getline(std::cin, line)) {
    return Fail(ErrorCode::kInvalidArgument, "read a password: standard input has no line");
  }
  return line;
}

Result<std::string> Ask(const std::string& question) {
  const Silence silence;  // before the question: early typing is neither echoed nor lost
  fmt::print(stderr, "{}: ", question);
  return ReadLine();
}

}  // namespace

Result<std::string> ReadPassword(const std::string& user) {
  if (::isatty(STDIN_FILENO) != 1) return ReadLine();
  return Ask(fmt::format("Password of {}", EscapeControl(user)));
}

Result<std::string> ReadNewPassword(const std::string& user) {
  if (::isatty(STDIN_FILENO) != 1) return ReadLine();
  FIELDCOST_ASSIGN(const std::string first,
                   Ask(fmt::format("New password of {}", EscapeControl(user))));
  FIELDCOST_ASSIGN(const std::string second, Ask("Repeat it"));
  if (first == second) return first;
  return Fail(ErrorCode::kInvalidArgument, "read a password: the two differ; try again");
}

}  // namespace fieldcost
