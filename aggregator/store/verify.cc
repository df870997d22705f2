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

// The rows of a batch that is held or kept.
Status CheckRecord(std::string_view record, VerifyReport& report) {
  FIELDCOST_ASSIGN(const std::string rows, AcceptedRowsOf(record));
  return ForEachAcceptedRow(rows, [&](std::string_view bytes, const CompactRow& row) {
    stats::RowKey key;
    const Status known = DecodeRowKey(bytes, key);
    Count(key, known ? CheckRow(key, row) : known, report);
  });
}

// Some numbers, whatever their order.
struct NumberSet {
  std::uint64_t count = 0;
  std::uint64_t mixed = 0;
  bool operator==(const NumberSet&) const = default;
  void Add(std::uint64_t number) {
    ++count;
    std::uint64_t bits = (number + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 31)) * 0xbf58476d1ce4e5b9;
    mixed += bits ^ (bits >> 29);
  }
};

// Every batch that is kept is one of the ledger's, or going, and the other way round.
Status CheckKept(Database& database, VerifyReport& report) {
  const auto view = database.Freeze();
  NumberSet kept;
  NumberSet known;
  FIELDCOST_TRY(database.ForEach(Table::kBatches, "", view.get(),
                                 [&](std::string_view key, std::string_view record) -> Status {
                                   ++report.kept_batches;
                                   FIELDCOST_ASSIGN(const std::uint64_t number,
                                                    DecodeKeptNumber(key));
                                   kept.Add(number);
                                   return CheckRecord(record, report);
                                 }));
  FIELDCOST_TRY(database.ForEach(
      Table::kLedger, "", view.get(), [&](std::string_view key, std::string_view value) -> Status {
        std::uint64_t sequence = 0;
        if (!IsKeptKey(key, sequence)) return {};
        FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(value));
        known.Add(number);
        return {};
      }));
  FIELDCOST_TRY(database.ForEach(
      Table::kInbox, "", view.get(), [&](std::string_view key, std::string_view) -> Status {
        std::uint64_t withdrawal = 0;
        std::uint64_t batch = 0;
        if (!IsGoingKey(key, withdrawal, batch)) return {};
        FIELDCOST_ASSIGN(const auto record,
                         database.Get(Table::kBatches, NumberKey(batch), view.get()));
        if (record) known.Add(batch);
        return {};
      }));
  if (report.first_problem.empty() && kept != known) {
    report.first_problem =
        fmt::format("{} batches are kept, and the ledger knows {} such", kept.count, known.count);
  }
  return {};
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
        return CheckRecord(held.record, report);
      }));
  FIELDCOST_TRY(CheckKept(*state_->database, report));
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
