// Writes folded stacks, "app!main;libz.so!inflate 5": one metric's self costs, one line per path
// with a cost.
#include <fmt/format.h>

#include <limits>

#include "tools/exchange/exchange_limits.h"
#include "tools/exchange/exporters.h"
#include "tools/exchange/frame_text.h"

namespace fieldcost::exchange {

Result<std::string> ExportFolded(const ExportView& view, std::size_t metric) {
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> self,
                   view.SelfSums(metric, std::numeric_limits<std::uint64_t>::max()));
  std::vector<std::string> names;
  for (const tree::Frame* frame : view.frames()) names.push_back(FrameText(*frame));
  std::string text;
  // The format has no line for costs that belong to no path.
  if (self[0] != 0) text += fmt::format("{} {}\n", tree::kCut, self[0]);
  std::string stack;
  std::vector<std::size_t> lengths;  // of the stack's text, one per outer frame
  for (std::size_t node = 1; node < self.size(); ++node) {
    const ExportView::Node& place = view.nodes()[node];
    const std::size_t depth = view.tree().paths().depth(place.path);
    if (depth <= lengths.size()) {
      stack.resize(lengths[depth - 1]);
      lengths.resize(depth - 1);
    }
    lengths.push_back(stack.size());
    if (!stack.empty()) stack += ';';
    stack += names[place.frame];
    if (self[node] != 0) fmt::format_to(std::back_inserter(text), "{} {}\n", stack, self[node]);
    if (stack.size() > kMaxLineBytes / 2) {
      return Fail(ErrorCode::kTooLarge, "a stack's names have more than {} bytes",
                  kMaxLineBytes / 2);
    }
    if (text.size() > kMaxExportBytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes", kMaxExportBytes);
    }
  }
  return text;
}

}  // namespace fieldcost::exchange
