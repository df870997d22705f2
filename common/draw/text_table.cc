#include "common/draw/text_table.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/draw/terminal.h"

namespace fieldcost::draw {

std::string TextTable(const std::vector<std::vector<TextCell>>& lines, std::string_view indent) {
  std::vector<std::size_t> widths(lines.empty() ? 0 : lines[0].size());
  for (const auto& line : lines) {
    FIELDCOST_CHECK(line.size() == widths.size());
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(line[i].text));
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string out(indent);
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i != 0) out += "  ";
      out += line[i].right ? PadLeft(line[i].text, widths[i]) : PadRight(line[i].text, widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  }
  return text;
}

}  // namespace fieldcost::draw
