#pragma once

#include <cstddef>
#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/check_report.h"

namespace fieldcost::report {

// The result of a check as text for terminals. Pure; thread-safe.

// Lists APIs that are worse than the field, or have too little data, with n, A, ratio, delta, p of
// the machines and of the calls, q, seed and stratum, and states how many are normal. Unless `all`
// is set, normal APIs are only counted, and of those with too little data the first kMaxLacking are
// listed. Names are escaped.
inline constexpr std::size_t kMaxLacking = 10;
std::string CheckText(const analysis::CheckReport& report, bool all, const draw::Style& style);

// All details of one API of the report: the test over machines, the test over calls, the effects,
// the data that it was compared with, and both distributions side by side, bucket by bucket, with
// bars on one scale of shares.
std::string ExplainText(const analysis::CheckedApi& api, stats::Metric metric,
                        const draw::Style& style);

}  // namespace fieldcost::report
