// Folded stacks as a user names them.

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "tools/analysis/stack_tree.h"
#include "tools/report/checked_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  analysis::StackTree tree;
  if (!analysis::AddFoldedStacks(text, tree)) return 0;
  // What is below adds up, and nothing of a name reaches the terminal as it is.
  for (const analysis::StackTree::Node& node : tree.nodes()) {
    std::uint64_t sum = node.self;
    for (const std::uint32_t child : node.children) sum += tree.nodes()[child].total;
    FIELDCOST_CHECK(sum == node.total);
  }
  const std::string shown = report::CheckedTreeText(tree, {}, "", {});
  for (const char c : shown) FIELDCOST_CHECK(c == '\n' || (c >= 0 ? c >= ' ' && c != 0x7f : true));
  return 0;
}
