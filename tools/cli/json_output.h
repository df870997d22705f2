#pragma once

#include <string>

#include "common/base/error.h"

namespace fieldcost::cli {

// The --json output: one JSON object and a newline. Names are stable. Numbers that may exceed 2^53
// (sums, sums of squares) are decimal strings. Built with json_parts.h.

// The output of a command that has failed.
std::string ErrorJson(const Error& error);

}  // namespace fieldcost::cli
