#pragma once

#include <string>
#include <string_view>

#include "common/base/result.h"
#include "tools/report/cards/cost_card.h"

namespace fieldcost::cli {

inline constexpr std::size_t kMaxManBytes = 16 * 1024 * 1024;

// Returns the roff source of a manual page, in UTF-8, as man(1) finds it; empty if there is no
// page. Without a section, looks in 3, then 2. kUnavailable: man(1) is missing.
Result<std::string> FindManPage(const std::string& untrusted_name,
                                const std::string& untrusted_section);

// Appends a section COST to the page, using the page's own macros. An empty page becomes a page
// with only that section. Pure.
std::string WithCost(std::string page, std::string_view name, const report::CostCard& card);

// Displays roff source through man(1), which uses the user's pager; returns its exit status.
Result<int> ShowManPage(const std::string& roff);

}  // namespace fieldcost::cli
