#pragma once

#include "common/draw/terminal.h"

namespace fieldcost::report {

// The style of the texts in pages, cards and pictures: UTF-8 and no terminal sequences. It does not
// depend on the terminal of the command that writes them.
inline constexpr draw::Style kPageTextStyle{.utf8 = true};

}  // namespace fieldcost::report
