#include "common/base/terminal_text.h"

#include <gtest/gtest.h>

namespace fieldcost {
namespace {

TEST(EscapeForTerminalTest, KeepsLinesAndNothingThatSteers) {
  EXPECT_EQ(EscapeForTerminal("a\tb\n\\x9b"), "a\tb\n\\x9b");
  EXPECT_EQ(EscapeForTerminal("\x1b[31m\r\x9b\u202e"), "\\x1b[31m\\x0d\\x9b\\xe2\\x80\\xae");
  EXPECT_EQ(EscapeForTerminal("\x1b[38;5;196mred\x1b[0m", TerminalColors::kKeep),
            "\x1b[38;5;196mred\x1b[0m");
  EXPECT_EQ(EscapeForTerminal("\x1b[2J\x1b]0;title\a\x1b", TerminalColors::kKeep),
            "\\x1b[2J\\x1b]0;title\\x07\\x1b");
}

TEST(RemarkLineTest, IsOneLineAndKeepsBackslashes) {
  EXPECT_EQ(RemarkLine("a\nb\x1b[0m \\x9b"), "fieldcost: a\\x0ab\\x1b[0m \\x9b");
}

}  // namespace
}  // namespace fieldcost
