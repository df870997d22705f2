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

// How costs are said in an editor. Numbers are those of tools/report. Names come from other
// people's binaries: in Markdown they stand in code spans, which nothing inside can end, and
// control characters are escaped.

struct TextStyle {
  bool markdown = false;
  WallTime now{};
  std::string_view link_template;  // a setting, see report::FillUntrustedLink
  std::string note = "";  // below the headline: how sure it is; plain or Markdown, as asked
};

// One hovered name: all libraries that have the symbol, or all overloads of a C++ name; the first
// in full. REQUIRES: !found.empty().
std::string CostText(const std::vector<ApiCosts>& found, const catalog::Freshness& freshness,
                     const TextStyle& style);

// "1.2 µs", or "64 KiB" allocated if it was not timed; " (synthetic)" behind it if it is.
std::string ShortCost(const ApiCosts& costs, const catalog::Freshness& freshness);

// What is above the user's thresholds, "" if nothing is: "1.2 ms, p99 85 ms, allocates 64 KiB".
std::string HintText(const ApiCosts& costs, const catalog::Freshness& freshness,
                     const Settings& settings);

// One line for a status bar: "fieldcost: 2 days ago", "fieldcost: no catalogue".
std::string StatusText(const std::optional<catalog::Freshness>& freshness, WallTime now);

// A name as source code has it: the symbol, or what it is called in C++.
std::string SourceName(const ApiCosts& costs);

// `untrusted_text` as a Markdown code span, or as it is without Markdown.
std::string Code(std::string_view untrusted_text, bool markdown);

}  // namespace fieldcost::lsp
