// Checks rows, ledger, held and kept batches against each other: the part of Store that verifies.
#include <algorithm>
#include <limits>
#include <map>

#include "aggregator/store/kept.h"
#include "aggregator/store/store_state.h"
#include "aggregator/store/verify_ledger.h"
#include "aggregator/store/verify_published.h"
#include "common/base/text.h"

namespace fieldcost::store {
namespace {

// Returns what is wrong with a row, or success.
Status CheckRow(const stats::RowKey& key, const CompactRow& row) {
  FIELDCOST_TRY(wire::ValidateApiKey(key.api));
  FIELDCOST_TRY(wire::ValidateHardwareClass(key.hardware));
  if (row.buckets.empty()) return Fail(ErrorCode::kCorrupt, "row without values");
  return CheckSums(row);
}

// Escapes names, since those of damaged rows may contain anything.
void Note(std::string_view problem, VerifyReport& report) {
  ++report.problems;
  if (report.first_problem.empty()) report.first_problem = EscapeControl(problem);
}

void Count(const stats::RowKey& key, const Status& status, VerifyReport& report) {
  if (status) return;
  ++report.invalid_rows;
  Note(fmt::format("{} ({}): {}", stats::DisplayName(key.api), stats::Name(key.metric),
                   status.error().message),
       report);
}

// Checks the rows of a held or kept batch, or of a withdrawal.
Status CheckRecord(std::string_view record, VerifyReport& report) {
  FIELDCOST_ASSIGN(const RecordKind kind, RecordKindOf(record));
  std::string rows(record);
  if (kind != RecordKind::kWithdrawn) {
    FIELDCOST_ASSIGN(rows, AcceptedRowsOf(record));
  }
  return ForEachAcceptedRow(rows, [&](std::string_view bytes, const CompactRow& row) {
    stats::RowKey key;
    const Status known = DecodeRowKey(bytes, key);
    Count(key, known ? CheckRow(key, row) : known, report);
  });
}

Status ReadBindings(const Database& database, VerifyReport& report) {
  const std::string_view prefix = kBindingPrefix;
  return database.ForEach(Table::kMeta, prefix, nullptr,
                          [&](std::string_view key, std::string_view value) -> Status {
                            if (key.starts_with(prefix)) {
                              report.bindings.emplace(key.substr(prefix.size()), value);
                            }
                            return {};
                          });
}

// Converts a read error to a finding.
Status NoteIfCorrupt(const Status& status, VerifyReport& report) {
  if (status || status.error().code != ErrorCode::kCorrupt) return status;
  Note(status.error().message, report);
  return {};
}

// Checks that each file is what was written. Counts all damaged ones.
Status CheckFiles(const Database& database, VerifyReport& report) {
  const auto note = [&](const Status& status) { return NoteIfCorrupt(status, report); };
  for (const Database::TableFile& file : database.TableFiles()) {
    ++report.files;
    report.file_bytes += file.bytes;
    FIELDCOST_TRY(note(database.CheckTableFile(file)));
  }
  FIELDCOST_TRY(note(database.CheckWrittenLogs()));
  for (const Database::TornLog& log : database.torn_logs()) {
    report.torn_bytes += log.bytes;
  }
  return {};
}

Status CheckHeld(const Database& database, const Database::View* view, VerifyReport& report) {
  return database.ForEach(Table::kHeld, "", view,
                          [&](std::string_view, std::string_view value) -> Status {
                            ++report.held_batches;
                            FIELDCOST_ASSIGN(const HeldBatch held, HeldBatch::Decode(value));
                            return CheckRecord(held.record, report);
                          });
}

// Checks that every kept batch is in the ledger, or about to be removed, and vice versa.
Status CheckKept(const Database& database, const Database::View* view, NumberSet known,
                 VerifyReport& report) {
  NumberSet kept;
  const auto look = [&](std::string_view key, std::string_view record) -> Status {
    ++report.kept_batches;
    FIELDCOST_ASSIGN(const std::uint64_t number, DecodeKeptNumber(key));
    kept.Add(number);
    return CheckRecord(record, report);
  };
  const auto look_at_going = [&](std::string_view key, std::string_view value) -> Status {
    std::uint64_t withdrawal = 0;
    std::uint64_t batch = 0;
    if (!IsRemovalKey(key, withdrawal, batch)) return CheckRecord(value, report);
    FIELDCOST_ASSIGN(const auto record, database.Get(Table::kBatches, NumberKey(batch), view));
    if (record) known.Add(batch);
    return {};
  };
  FIELDCOST_TRY(database.ForEach(Table::kBatches, "", view, look));
  FIELDCOST_TRY(database.ForEach(Table::kInbox, "", view, look_at_going));
  if (kept != known) {
    Note(fmt::format("{} batches are kept, but the ledger knows {} of them", kept.count,
                     known.count),
         report);
  }
  return {};
}

// Sums the rows; `weeks` gets their contributions by week.
class RowSumsCheck {
 public:
  explicit RowSumsCheck(VerifyReport& report) : report_(report) {}
  void Add(const stats::RowKey& key, const CompactRow& row) {
    ++report_.rows;
    report_.found.AddRow(row);
    if (row.saturated) ++report_.saturated_rows;
    weeks_[key.week] += row.scalars.contributions;
    Count(key, CheckRow(key, row), report_);
  }
  void CompareWith(const Totals& expected) {
    report_.expected = expected;
    report_.found.batches = expected.batches;  // rows do not reveal their batches
    // Saturated numbers cannot add up.
    const bool adds_up = report_.saturated_rows != 0
                             ? report_.found.contributions == expected.contributions
                             : report_.found == expected;
    if (!adds_up) Note("the rows do not add up to the totals of the accepted batches", report_);
  }
  // Checks that the rows have at least as many contributions as the ledger.
  void CompareWith(const LedgerSums& ledger, std::uint32_t first_week) {
    for (const auto& [week, contributions] : ledger.contributions) {
      if (week < first_week || report_.saturated_rows != 0) continue;
      if (weeks_[week] >= contributions) continue;
      Note(fmt::format("week {}: the ledger has {} contributions, the rows have {}", week,
                       contributions, weeks_[week]),
           report_);
    }
  }

 private:
  VerifyReport& report_;
  std::map<std::uint32_t, std::uint64_t> weeks_;
};

}  // namespace

Result<LedgerSums> Store::State::CheckTables(const Database::View* view, const Totals& expected,
                                             VerifyReport& report) const {
  FIELDCOST_TRY(CheckHeld(*database, view, report));
  LedgerCheck check(*database, view,
                    {.first_week = bounds.first_week(), .first_epoch = bounds.first_epoch()},
                    [&](const std::string& problem) { Note(problem, report); });
  FIELDCOST_ASSIGN(LedgerSums found, check.Run());
  report.ledger_entries = found.entries;
  FIELDCOST_TRY(CheckKept(*database, view, found.kept, report));
  // The totals count the batches of forgotten epochs, which the ledger no longer knows.
  const bool all_known = bounds.first_epoch() == 0;
  if (all_known ? found.batches != expected.batches : found.batches > expected.batches) {
    Note(fmt::format("the ledger knows {} batches that are in the sums, the totals are of {}",
                     found.batches, expected.batches),
         report);
  }
  return found;
}

Result<PublishedCheck> Store::State::CheckOfPublished(const std::shared_ptr<Database::View>& view,
                                                      VerifyReport& report) const {
  FIELDCOST_ASSIGN(const std::uint64_t published_number,
                   ReadMetaNumber(*database, kPublishedNumberKey, view.get()));
  // Also reads the marks of withdrawals that are not in the rows yet.
  constexpr std::uint64_t kAllMarks = std::numeric_limits<std::uint64_t>::max();
  return PublishedCheck(PublishedReader(*database, view, kAllMarks),
                        {.first_week = bounds.first_week(),
                         .published_number = published_number,
                         .last_number = sums.last_number()},
                        [&report](const std::string& problem) { Note(problem, report); });
}

Status Store::CheckRunning(VerifyReport& report) {
  FIELDCOST_ASSIGN(const Snapshot snapshot, TakeSnapshot());
  report.sequence = snapshot.sequence();
  RowSumsCheck rows(report);
  FIELDCOST_ASSIGN(PublishedCheck units, state_->CheckOfPublished(snapshot.state_->view, report));
  const auto add = [&](const stats::RowKey& key, const CompactRow& row) -> Status {
    rows.Add(key, row);
    return units.Add(key, row);
  };
  FIELDCOST_TRY(snapshot.ForEach(add));
  FIELDCOST_TRY(units.Finish(report));
  rows.CompareWith(snapshot.totals());
  // Batches that arrived meanwhile are in the ledger but not in the snapshot.
  FIELDCOST_ASSIGN(const StoredSums::Moment now, state_->sums.MomentBetweenCommits());
  const auto ledger = state_->CheckTables(now.view.get(), now.totals, report);
  return ledger ? Status() : Status(ledger.error());
}

Status Store::State::CheckStopped(VerifyReport& report) const {
  RowSumsCheck rows(report);
  FIELDCOST_ASSIGN(PublishedCheck units, CheckOfPublished(nullptr, report));
  stats::RowKey key;
  const auto add = [&](std::string_view key_bytes, const CompactRow& row) -> Status {
    FIELDCOST_TRY(DecodeRowKey(key_bytes, key));
    rows.Add(key, row);
    return units.Add(key, row);
  };
  FIELDCOST_TRY(sums.ForEachNewest(add));
  FIELDCOST_TRY(units.Finish(report));
  const Totals expected = sums.NewestTotals();
  rows.CompareWith(expected);
  FIELDCOST_ASSIGN(const LedgerSums of_ledger, CheckTables(nullptr, expected, report));
  rows.CompareWith(of_ledger, bounds.first_week());
  return {};
}

Result<VerifyReport> Store::Verify() {
  // Otherwise rows that expire meanwhile would be missing.
  const LevelLock expire_lock(state_->expire_mutex, lock_order::kExpiry);
  VerifyReport report;
  FIELDCOST_TRY(CheckFiles(*state_->database, report));
  FIELDCOST_TRY(NoteIfCorrupt(ReadBindings(*state_->database, report), report));
  FIELDCOST_TRY(NoteIfCorrupt(CheckRunning(report), report));
  return report;
}

Result<VerifyReport> Store::VerifyStopped(StoreOptions options) {
  FIELDCOST_ASSIGN(const auto state, State::OpenToRead(std::move(options)));
  VerifyReport report;
  report.sequence = state->sums.last_number();
  FIELDCOST_TRY(CheckFiles(*state->database, report));
  FIELDCOST_TRY(NoteIfCorrupt(ReadBindings(*state->database, report), report));
  if (report.torn_bytes != 0) {
    const Database::TornLog& log = state->database->torn_logs().front();
    Note(
        fmt::format("{}: what follows byte {} is not a whole record. A crash has torn it before it "
                    "was acknowledged; the next start of the server removes it",
                    log.file.string(), log.at),
        report);
  }
  FIELDCOST_TRY(NoteIfCorrupt(state->CheckStopped(report), report));
  return report;
}

Result<CheckedFile> Store::CheckNextFile(std::uint64_t after) const {
  const Database& database = *state_->database;
  CheckedFile checked;
  Status status;
  const std::vector<Database::TableFile> files = database.TableFiles();
  for (const Database::TableFile& file : files) checked.all_bytes += file.bytes;
  const auto next = std::find_if(files.begin(), files.end(), [&](const Database::TableFile& file) {
    return file.number > after;
  });
  if (next == files.end()) {
    status = database.CheckWrittenLogs();
  } else {
    checked.number = next->number;
    checked.bytes = next->bytes;
    status = database.CheckTableFile(*next);
  }
  if (status) return checked;
  if (status.error().code != ErrorCode::kCorrupt) return status.error();
  checked.good = false;
  database.NoteDamage(status.error().message);
  return checked;
}

std::vector<std::pair<std::string_view, std::uint64_t>> NumbersOf(const VerifyReport& report) {
  return {{"sequence", report.sequence},
          {"batches", report.expected.batches},
          {"rows", report.rows},
          {"contributions", report.found.contributions},
          {"held_batches", report.held_batches},
          {"invalid", report.invalid_rows},
          {"saturated", report.saturated_rows},
          {"kept_batches", report.kept_batches},
          {"published_units", report.published_units},
          {"marked_withdrawals", report.marked_withdrawals},
          {"ledger_entries", report.ledger_entries},
          {"problems", report.problems},
          {"files", report.files},
          {"file_bytes", report.file_bytes},
          {"torn_bytes", report.torn_bytes}};
}

}  // namespace fieldcost::store
