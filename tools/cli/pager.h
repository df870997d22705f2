#pragma once

#include <string_view>

#include "common/base/result.h"
#include "tools/cli/output.h"

namespace fieldcost::cli {

// Writes text for people to stdout; through the user's pager if stdout is a terminal that it does
// not fit, unless the user wants none (--no-pager, a dumb terminal). The pager is
// $FIELDCOST_PAGER, else $PAGER (a shell's command line; empty or "cat" = none), else `less`, with
// LESS=FRSX unless the user has set LESS. A pager that cannot be run is remarked upon, and the text
// written without. How the pager ends, and when, is the user's business and no error.
Status WritePaged(std::string_view text, const Output& output);

// Whether `text` takes more lines than a terminal of that size has, or as many.
bool IsLonger(std::string_view text, unsigned rows, unsigned columns);

}  // namespace fieldcost::cli
