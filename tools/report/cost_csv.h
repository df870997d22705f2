#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/report/cost_table.h"

namespace fieldcost::report {

// Where numbers come from and how fresh they are: the last columns of every record.
struct Provenance {
  std::string source;          // "catalogue" or "local"
  std::uint64_t snapshot = 0;  // 0 = none
  std::string published;       // as FormatTime(); empty = not published
  bool expired = false;
  bool synthetic = false;
};

// A record for each metric of each summary: api, library, symbol, version, build_id,
// symbol_version, metric, unit, classes ("all", else names with | between), first_week, last_week
// (days; empty = all), contributions, count, sum, sum_of_squares (exact), mean, standard_deviation,
// p50, p50_low, p50_high, the same for p95 and p99, machines, and the typical machine's quantiles
// (machine_p50 ...; empty if not known), source, snapshot, published, expired, synthetic.
std::string CostCsv(std::span<const CostSummary> summaries, const Provenance& provenance);

// A record for each bucket that is not empty: api ... last_week and contributions as above, min,
// max (both included), count, sum, sum_of_squares, source, snapshot, published, expired, synthetic.
std::string BucketCsv(std::span<const CostSummary> summaries, const Provenance& provenance);

}  // namespace fieldcost::report
