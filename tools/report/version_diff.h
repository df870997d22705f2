#pragma once

#include <string>
#include <vector>

#include "common/draw/terminal.h"
#include "tools/analysis/version_change.h"
#include "tools/report/csv_columns.h"

namespace fieldcost::report {

// The changes between two versions, as text and CSV. Deterministic.

// One changed metric of one API.
struct ChangedMetric {
  const analysis::ApiChange* api = nullptr;
  const analysis::MetricChange* metric = nullptr;
};
// The metrics with this change: for kMore and kLess the greatest ratio (or its reciprocal) first,
// otherwise by name. Valid as long as `change`.
std::vector<ChangedMetric> WithChange(const analysis::LibraryChange& change,
                                      inference::Verdict wanted);

// The changes in one sentence without a full stop: "2 of 40 APIs are slower, 1 is faster; most:
// deflateInit_, 2.0 × slower". For wall time, or another metric if only that was compared: "1 of 40
// APIs takes more". Control characters are escaped.
std::string DiffSentence(const analysis::LibraryChange& change, const draw::Style& style);

// That sentence, a table of slower and faster APIs (all APIs with `all`), the number of the others,
// and how they were compared.
std::string DiffText(const analysis::LibraryChange& change, bool all, const draw::Style& style);

// One record per API and metric: library, before, after (versions), symbol, symbol_version, metric,
// unit, change; for both versions calls (timed or not), count, contributions, mean, p50, p95, p99
// (..._before, ..._after); ratio, ratio_low, ratio_high, delta, p, q, classes, machines_before,
// machines_after (of the test); provenance as in CostCsv().
std::string DiffCsv(const analysis::LibraryChange& change, const Provenance& provenance);

// "2 of 40 APIs are slower, 1 is faster".
struct ChangeCounts {
  std::uint64_t more = 0;
  std::uint64_t less = 0;
  std::uint64_t all = 0;  // APIs
};
std::string CountsText(const ChangeCounts& counts, stats::Metric metric);

// "2.1 × slower", "1.8 × faster", "2.0 × more": the factor of a change, as a number above 1; else
// the change's name.
std::string ChangeWords(inference::Verdict change, stats::Metric metric, double ratio,
                        const draw::Style& style);
inline std::string ChangeWords(const analysis::MetricChange& change, const draw::Style& style) {
  return ChangeWords(change.change, change.metric, change.ratio, style);
}
// "1.80..2.50": the confidence interval of a ratio that was compared.
std::string ConfidenceText(const analysis::MetricChange& change);
// "2.1x [1.8x, 2.5x]": a ratio and its confidence interval; "-" if nothing was compared.
std::string RatioText(const analysis::MetricChange& change);
// "0.0012": two digits.
std::string ProbabilityText(double p);
// States how the metrics were compared: "within 4 hardware classes", "all classes together", ...
std::string ComparedText(const analysis::MetricChange& change);

}  // namespace fieldcost::report
