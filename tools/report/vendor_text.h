#pragma once

#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/vendor_report.h"

namespace fieldcost::report {

// The vendor report for terminals. Deterministic; everything is escaped.

// Maximum number of APIs that each part of the text lists.
inline constexpr std::size_t kMaxTextApis = 40;
std::string VendorText(const analysis::VendorReport& report, const draw::Style& style);

// The summary for decision makers, in one sentence without a full stop: "1 regression: deflateInit_
// is 2.0 × slower since 1.3.0, 38 s in the field; biggest lever: deflate, 46 %". Regressions are
// those of wall time; the most costly one is named. Not escaped.
std::string VendorSentence(const analysis::VendorReport& report, const draw::Style& style);

// WaitingText() (waiting_text.h) for a report, with a newline; or "".
std::string WaitingText(const analysis::VendorReport& report);

}  // namespace fieldcost::report
