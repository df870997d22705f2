#pragma once

#include "common/command/arguments.h"
#include "common/draw/terminal.h"

namespace fieldcost::cli {

// The output form that the user has chosen.
struct Output {
  bool json = false;
  bool csv = false;   // never with json; only for commands that print one table
  bool pager = true;  // allowed; see pager.h
  draw::Style style;
};
// Reads the program's own options (cli_program.cc).
Output OutputOf(const command::Arguments& arguments);

// Exit statuses of commands that compare: whether something is slower, worse or costs more.
inline constexpr int kNoIncrease = 0;
inline constexpr int kIncrease = 1;
inline constexpr int kTooLittleData = 2;

}  // namespace fieldcost::cli
