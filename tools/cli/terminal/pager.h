#pragma once

#include <string_view>

#include "common/base/result.h"
#include "tools/cli/terminal/output.h"

namespace fieldcost::cli {

// Writes text to stdout, through the user's pager if stdout is a terminal too small for the text,
// unless paging is off (--no-pager, a dumb terminal). The pager is $FIELDCOST_PAGER, else $PAGER (a
// shell command line; empty or "cat" = none), else `less` with LESS=FRSX unless the user has set
// LESS. If the pager cannot be run, prints a remark and writes the text directly. A pager's exit
// status is never an error.
Status WritePaged(std::string_view text, const Output& output);

// Whether `text` fills at least as many lines as a terminal of that size has.
bool IsLonger(std::string_view text, unsigned rows, unsigned columns);

}  // namespace fieldcost::cli
