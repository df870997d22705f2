// Reads folded stacks: "app!main;libz.so.1!inflate 5", the outermost frame first, a line each.
#include <fmt/format.h>

#include <optional>

#include "common/base/text.h"
#include "tools/exchange/importers.h"
#include "tools/exchange/text_lines.h"

namespace fieldcost::exchange {
namespace {

Status AddLine(std::string_view untrusted_line, std::size_t metric, TreeBuilder& builder) {
  const std::size_t space = untrusted_line.rfind(' ');
  const auto value = space == std::string_view::npos
                         ? std::nullopt
                         : ParseUint64(untrusted_line.substr(space + 1));
  if (!value || space == 0) {
    return Fail(ErrorCode::kCorrupt, "not a folded stack (\"a;b;c 12\")");
  }
  std::string_view stack = untrusted_line.substr(0, space);
  tree::PathId path = tree::kRootPath;
  for (std::size_t mark = 0; mark != std::string_view::npos;) {
    mark = stack.find(';');
    FIELDCOST_ASSIGN(const tree::FrameId frame, builder.AddFrameText(stack.substr(0, mark)));
    FIELDCOST_ASSIGN(path, builder.AddPath(path, frame));
    if (mark != std::string_view::npos) stack.remove_prefix(mark + 1);
  }
  return builder.Add(metric, path, *value);
}

}  // namespace

Result<tree::Tree> ImportFolded(std::string_view untrusted_text, const tree::Metric& metric,
                                Remarks&) {
  TreeBuilder builder;
  FIELDCOST_ASSIGN(const std::size_t column, builder.AddMetric(metric));
  TextLines lines(untrusted_text);
  while (!lines.at_end()) {
    FIELDCOST_ASSIGN(const std::string_view untrusted_line, lines.Take());
    if (untrusted_line.empty()) continue;
    if (const Status added = AddLine(untrusted_line, column, builder); !added) {
      return Within(added.error(), fmt::format("line {}", lines.number()));
    }
  }
  return builder.Build();
}

}  // namespace fieldcost::exchange
