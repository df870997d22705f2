// Cuts off the damaged end of a log, and reports which agents' batches were in it:
// Store::Recover().
#include <algorithm>
#include <map>
#include <set>

#include "aggregator/store/directory_lock.h"
#include "aggregator/store/format_mark.h"
#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/text.h"

namespace fieldcost::store {
namespace {

std::uint64_t NumberAt(std::string_view key, std::size_t at) {
  return ReadBigEndian(key.substr(at, kNumberBytes));
}

// The contents of the lost records.
struct Lost {
  std::map<std::string, LedgerHead> heads;                // the newest, by head key
  std::set<std::pair<std::string, std::uint64_t>> known;  // head key, sequence: answered in them
  std::vector<LostWrite> writes;

  void Add(Table table, std::string_view key, std::string_view value) {
    if (table == Table::kMeta && key.starts_with(kRevokedPrefix)) {
      writes.push_back({.what = LostWrite::kRevocation,
                        .agent_id = std::string(key.substr(kRevokedPrefix.size()))});
    }
    if (table != Table::kLedger || key.size() < kHeadKeyBytes) return;
    const std::string head_key(key.substr(0, kHeadKeyBytes));
    LostWrite write{.agent_id = head_key.substr(0, kAgentIdBytes),
                    .epoch = NumberAt(key, kAgentIdBytes)};
    if (key.size() == kHeadKeyBytes) {
      const auto head = LedgerHead::Decode(value);
      if (head) heads[head_key] = *head;
    } else if (key.size() == kHeadKeyBytes + kNumberBytes) {
      write.sequence = NumberAt(key, kHeadKeyBytes);
      if (known.emplace(head_key, write.sequence).second) writes.push_back(std::move(write));
    } else if (IsTombstoneKey(key)) {
      write.what = LostWrite::kWithdrawal;
      write.sequence = NumberAt(key, kHeadKeyBytes);
      writes.push_back(std::move(write));
    } else if (key == EnrolmentKey(head_key)) {
      write.what = LostWrite::kEnrolment;
      writes.push_back(std::move(write));
    }
  }
};

// Adds the batches of unreadable records that later records reveal.
Status AddUnreadable(const Database& database, Lost& lost) {
  for (const auto& [head_key, head] : lost.heads) {
    FIELDCOST_ASSIGN(const auto bytes, database.Get(Table::kLedger, head_key));
    LedgerHead left;
    if (bytes) {
      FIELDCOST_ASSIGN(left, LedgerHead::Decode(*bytes));
    }
    for (std::uint64_t sequence = head.high_water();
         sequence != 0 && head.high_water() - sequence < kLedgerWindow; --sequence) {
      if (head.Classify(sequence) != LedgerHead::Seen::kReplay) continue;
      if (left.Classify(sequence) != LedgerHead::Seen::kNew) continue;
      if (lost.known.count({head_key, sequence}) != 0) continue;
      lost.writes.push_back({.agent_id = head_key.substr(0, kAgentIdBytes),
                             .epoch = NumberAt(head_key, kAgentIdBytes),
                             .sequence = sequence});
    }
  }
  return {};
}

}  // namespace

Result<RecoveryReport> Store::Recover(const StoreOptions& options, bool drop_damaged) {
  const std::filesystem::path directory = options.data_dir / "store";
  FIELDCOST_ASSIGN(UniqueFd lock, LockDirectory(options.data_dir));
  RecoveryReport report;
  FIELDCOST_ASSIGN(const auto end, Database::FindDamage(directory));
  const std::string attempt = fmt::format("open the store in {}", directory.string());
  if (!end) {
    FIELDCOST_ASSIGN(const auto database,
                     Database::Open({.directory = directory,
                                     .access = DatabaseAccess::kRead,
                                     .write_buffer_bytes = options.write_buffer_bytes,
                                     .block_cache_bytes = options.block_cache_bytes}));
    FIELDCOST_TRY(CheckFormat(*database, attempt));
    return report;
  }
  report.damage = end->text;
  Lost lost;
  {
    FIELDCOST_ASSIGN(const auto database,
                     Database::Open({.directory = directory,
                                     .access = DatabaseAccess::kReadDamaged,
                                     .write_buffer_bytes = options.write_buffer_bytes,
                                     .block_cache_bytes = options.block_cache_bytes}));
    FIELDCOST_TRY(CheckFormat(*database, attempt));
    const auto add = [&](Table table, std::string_view key, std::string_view value) {
      lost.Add(table, key, value);
    };
    FIELDCOST_TRY(database->ForLost(*end, add));
    FIELDCOST_TRY(AddUnreadable(*database, lost));
  }
  report.lost = std::move(lost.writes);
  std::sort(report.lost.begin(), report.lost.end());
  if (!drop_damaged) return report;
  FIELDCOST_ASSIGN(report.kept_in, Database::DropBehind(*end, options.data_dir));
  {
    FIELDCOST_ASSIGN(const auto database,
                     Database::Open({.directory = directory,
                                     .access = DatabaseAccess::kWriteCut,
                                     .write_buffer_bytes = options.write_buffer_bytes,
                                     .block_cache_bytes = options.block_cache_bytes}));
    FIELDCOST_TRY(database->Flush());
  }
  lock = UniqueFd();
  FIELDCOST_ASSIGN(const VerifyReport verified, VerifyStopped(options));
  report.problem = verified.first_problem;
  return report;
}

std::string TextOf(const LostWrite& write) {
  std::string text = fmt::format("agent {}", HexEncode(write.agent_id));
  switch (write.what) {
    case LostWrite::kBatch:
      return text + fmt::format(", epoch {}, batch {}", write.epoch, write.sequence);
    case LostWrite::kWithdrawal:
      return text + fmt::format(", epoch {}, withdrawal of batch {}", write.epoch, write.sequence);
    case LostWrite::kEnrolment:
      return text + fmt::format(", epoch {}, enrolment", write.epoch);
    case LostWrite::kRevocation:
      break;
  }
  return text + ", revocation";
}

}  // namespace fieldcost::store
