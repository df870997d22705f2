#pragma once

#include <cstddef>
#include <string>

#include "common/draw/terminal.h"

namespace fieldcost::cli {

// "|#####     |": a bar whose length is `share` of `columns`; a share above 0 has at least one
// mark.
std::string BarText(double share, std::size_t columns, const draw::Style& style);

}  // namespace fieldcost::cli
