#pragma once

#include <cstddef>
#include <string>

#include "common/draw/terminal.h"
#include "tools/analysis/check_report.h"

namespace fieldcost::report {

// A check in words, for terminals. Pure; thread-safe.

// The lists "worse than the field" and "too little data" with n, A, ratio, delta, p of the machines
// and of the calls, q, seed and stratum, and how many are normal. Without `all` normal ones are
// only counted, and of those with too little data the first kMaxLacking are named. Names are
// escaped.
inline constexpr std::size_t kMaxLacking = 10;
std::string CheckText(const analysis::CheckReport& report, bool all, const draw::Style& style);

// All details of one API of the report: the test of machines, that of calls, the effects, the other
// side of the comparison, and both distributions side by side, bucket by bucket, with bars on one
// scale of shares.
std::string ExplainText(const analysis::CheckedApi& api, stats::Metric metric,
                        const draw::Style& style);

}  // namespace fieldcost::report
