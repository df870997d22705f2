#include "aggregator/probe_server/commands/list.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/terminal_text.h"

namespace fieldcost::probe_server {

void PrintList(const std::vector<draw::TextColumn>& columns,
               const std::vector<draw::TextLine>& lines) {
  if (const std::size_t width = TerminalColumns(STDOUT_FILENO); width != 0) {
    fmt::print("{}", draw::TextTable(columns, lines, {.columns = width}));
    return;
  }
  draw::TextLine headings;
  for (const draw::TextColumn& column : columns) headings.push_back(column.heading);
  fmt::print("{}\n", fmt::join(headings, "\t"));
  for (const draw::TextLine& line : lines) fmt::print("{}\n", fmt::join(line, "\t"));
}

}  // namespace fieldcost::probe_server
