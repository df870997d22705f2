#pragma once

#include <vector>

#include "common/draw/text_table.h"

namespace fieldcost::probe_server {

// Prints a list with headings to stdout: on a terminal as a table that fits it, otherwise
// tab-separated, for scripts.
void PrintList(const std::vector<draw::TextColumn>& columns,
               const std::vector<draw::TextLine>& lines);

}  // namespace fieldcost::probe_server
