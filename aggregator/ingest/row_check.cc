#include "aggregator/ingest/row_check.h"

#include "aggregator/ingest/limits.h"

namespace fieldcost::ingest {

Status CheckRowContent(const wire::UntrustedRow& untrusted_row) {
  if (untrusted_row.malformed) return Fail(ErrorCode::kCorrupt, "row is malformed");
  if (!stats::IsKnownMetric(untrusted_row.metric_number)) {
    return Fail(ErrorCode::kUnsupported, "unknown metric {}", untrusted_row.metric_number);
  }
  FIELDCOST_TRY(wire::ValidateApiKey(untrusted_row.api));
  if (untrusted_row.histogram.empty()) return Fail(ErrorCode::kCorrupt, "row has no calls");
  FIELDCOST_TRY(stats::Validate(untrusted_row.histogram));
  if (untrusted_row.histogram.count() > kMaxRowCalls) {
    return Fail(ErrorCode::kTooLarge, "more than 2^40 calls in one row");
  }
  if (untrusted_row.histogram.sum_of_squares() > kMaxRowSumOfSquares) {
    return Fail(ErrorCode::kTooLarge, "sum of squares beyond 2^104 in one row");
  }
  return {};
}

Status CheckRow(const wire::UntrustedRow& untrusted_row, std::uint32_t current_week) {
  FIELDCOST_TRY(CheckRowContent(untrusted_row));
  const std::uint64_t week = untrusted_row.week;
  if (week + kWeeksBack < current_week || week > std::uint64_t{current_week} + kWeeksAhead) {
    return Fail(ErrorCode::kInvalidArgument, "week {} is not within {} back and {} ahead of {}",
                week, kWeeksBack, kWeeksAhead, current_week);
  }
  return {};
}

}  // namespace fieldcost::ingest
