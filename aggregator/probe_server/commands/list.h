#pragma once

#include <vector>

#include "common/draw/text_table.h"

namespace fieldcost::probe_server {

// Prints a list to stdout, below its headings: on a terminal as a table that fits it, elsewhere
// with a tab between two texts, for scripts.
void PrintList(const std::vector<draw::TextColumn>& columns,
               const std::vector<draw::TextLine>& lines);

}  // namespace fieldcost::probe_server
