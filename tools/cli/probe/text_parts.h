#pragma once

#include <cstddef>
#include <string>

#include "common/draw/terminal.h"

namespace fieldcost::cli {

// "|#####     |", as long a bar as the share of `columns`; any part of one is at least a mark.
std::string BarText(double share, std::size_t columns, const draw::Style& style);

}  // namespace fieldcost::cli
