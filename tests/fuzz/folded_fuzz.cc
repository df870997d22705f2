// Folded stacks named by a user, through to the printed text.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "tools/exchange/exchange.h"
#include "tools/report/tree/checked_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto imported = exchange::Import(text, {.format = exchange::Format::kFolded});
  if (!imported) return 0;
  const auto mean = tree::Average(imported->tree);
  FIELDCOST_CHECK(mean);
  // No control characters of a name reach the terminal.
  const std::string shown = report::CheckedTreeText(analysis::TopDown(*mean, 0), {}, {});
  for (const char c : shown) FIELDCOST_CHECK(c == '\n' || (c >= 0 ? c >= ' ' && c != 0x7f : true));
  return 0;
}
