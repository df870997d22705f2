#include "aggregator/store/store_state.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::store {
namespace {

// What is wrong with one row, or success.
Status CheckRow(const stats::RowKey& key, const CompactRow& row) {
  FIELDCOST_TRY(wire::ValidateApiKey(key.api));
  FIELDCOST_TRY(wire::ValidateHardwareClass(key.hardware));
  if (row.buckets.empty()) return Fail(ErrorCode::kCorrupt, "row without values");
  const stats::CostHistogram histogram = row.ToHistogram();
  FIELDCOST_TRY(stats::Validate(histogram));
  FIELDCOST_TRY(stats::Validate(row.scalars));
  FIELDCOST_TRY(stats::Validate(row.ToWeights(), histogram, row.scalars.contributions));
  return stats::Validate(row.sizes.buckets, row.scalars.contributions, histogram.Totals());
}

void Count(const stats::RowKey& key, const Status& status, VerifyReport& report) {
  if (status) return;
  ++report.invalid_rows;
  if (!report.first_problem.empty()) return;
  report.first_problem = fmt::format("{} ({}): {}", stats::DisplayName(key.api),
                                     stats::Name(key.metric), status.error().message);
}

}  // namespace

Result<VerifyReport> Store::Verify() {
  FIELDCOST_ASSIGN(const Snapshot snapshot, TakeSnapshot());
  VerifyReport report;
  report.sequence = snapshot.sequence();
  report.expected = snapshot.totals();
  FIELDCOST_TRY(snapshot.ForEach([&](const stats::RowKey& key, const CompactRow& row) -> Status {
    ++report.rows;
    report.found.AddRow(row);
    if (row.saturated) ++report.saturated_rows;
    Count(key, CheckRow(key, row), report);
    return {};
  }));
  FIELDCOST_TRY(state_->database->ForEach(
      Table::kHeld, "", nullptr, [&](std::string_view, std::string_view value) -> Status {
        ++report.held_batches;
        FIELDCOST_ASSIGN(const HeldBatch held, HeldBatch::Decode(value));
        FIELDCOST_ASSIGN(const std::string rows, AcceptedRowsOf(held.record));
        return ForEachAcceptedRow(rows, [&](std::string_view bytes, const CompactRow& row) {
          stats::RowKey key;
          const Status known = DecodeRowKey(bytes, key);
          Count(key, known ? CheckRow(key, row) : known, report);
        });
      }));
  report.found.batches = report.expected.batches;  // rows do not know their batches
  // Numbers that stayed at their limit cannot add up.
  const bool adds_up = report.saturated_rows != 0
                           ? report.found.contributions == report.expected.contributions
                           : report.found == report.expected;
  if (report.first_problem.empty() && !adds_up) {
    report.first_problem = "the rows do not add up to the totals of the accepted batches";
  }
  return report;
}

}  // namespace fieldcost::store
