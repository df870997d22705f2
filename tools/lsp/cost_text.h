#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/catalog/catalog.h"
#include "tools/lsp/cost_book.h"
#include "tools/lsp/settings.h"

namespace fieldcost::lsp {

// The wording of costs in an editor. Numbers are formatted by tools/report. Names come from other
// people's binaries: in Markdown, they are put in code spans that their text cannot close, and
// control characters are escaped.

struct TextStyle {
  bool markdown = false;
  WallTime now{};
  // The address of the page about the first API; "" = none. In Markdown it ends at a parenthesis.
  std::string link = "";
  std::string note = "";  // shown below the headline: how certain it is; plain or Markdown
};

// The hover of one name: all libraries that have the symbol, or all overloads of a C++ name; the
// first in full. REQUIRES: !found.empty().
std::string CostText(const std::vector<ApiCosts>& found, const catalog::Freshness& freshness,
                     const TextStyle& style);

// "1.2 µs", or "64 KiB" allocated if it was not timed; followed by " (synthetic)" if it is.
std::string ShortCost(const ApiCosts& costs, const catalog::Freshness& freshness);

// The costs above the user's thresholds, "" if none: "1.2 ms, p99 85 ms, allocates 64 KiB".
std::string HintText(const ApiCosts& costs, const catalog::Freshness& freshness,
                     const Settings& settings);

// One line for a status bar: "fieldcost: 2 days ago", "fieldcost: no catalogue".
std::string StatusText(const std::optional<catalog::Freshness>& freshness, WallTime now);

// The name as written in source code: the symbol, or its C++ name.
std::string SourceName(const ApiCosts& costs);

// `untrusted_text` as a Markdown code span, or unchanged without Markdown.
std::string Code(std::string_view untrusted_text, bool markdown);

}  // namespace fieldcost::lsp
