#pragma once

#include "common/command/arguments.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// How the user wants a command's answer.
struct Output {
  bool json = false;
  bool csv = false;   // never beside json; only for commands whose answer is one table
  bool pager = true;  // allowed, see pager.h
  draw::Style style;
};
// What the program's own options say (program.cc).
Output OutputOf(const command::Arguments& arguments);

// Exit statuses of commands that compare: whether something costs more, is slower or worse.
inline constexpr int kNoIncrease = 0;
inline constexpr int kIncrease = 1;
inline constexpr int kTooLittleData = 2;

}  // namespace fieldcost::cli
