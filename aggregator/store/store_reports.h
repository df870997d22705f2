#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aggregator/store/dirty_table.h"
#include "common/stats/api_key.h"

// What a store tells of itself. Plain values.

namespace fieldcost::store {

// What the service shows its operator. All since the start, or now.
struct StoreGauges {
  std::uint64_t sequence = 0;  // as Store::sequence()
  std::uint64_t dirty_rows = 0;
  std::uint64_t dirty_bytes = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoint_microseconds = 0;  // all of them together
  std::uint64_t held_batches = 0;             // on probation, now
  std::uint64_t held_bytes = 0;               // as LEDGER.md counts them
  std::uint64_t held_room_bytes = 0;          // for all of them: StoreOptions::held_bytes
  std::uint64_t honest_held_bytes = 0;        // of agents that were never dishonest
  std::uint64_t damages = 0;                  // that were met or searched for and found
  std::uint64_t evicted_batches = 0;          // held, and dropped to make room
  std::uint64_t kept_bytes = 0;               // the engine's estimate of what is kept of batches

  // Nine tenths of the room are taken by agents that were never dishonest. The rest counts as free:
  // dishonest agents make room for the others.
  bool IsHeldRoomShort() const { return honest_held_bytes > held_room_bytes / 10 * 9; }
};

// What Expire() removed.
struct ExpiryReport {
  std::uint64_t rows = 0;
  std::uint64_t ledger_entries = 0;
  std::uint64_t held_batches = 0;
  std::uint64_t kept_batches = 0;  // their rows stay in the sums
};

// What deleting up to some bounds would remove.
struct ExpiryEffect : ExpiryReport {
  std::uint64_t rows_left = 0;
  std::uint32_t oldest_week = 0;  // of the rows to be removed; 0 if there are none
  std::uint32_t newest_week = 0;
};

// What removing all that is kept of an agent changes for one API, all metrics together.
struct ApiChange {
  stats::ApiKey api;
  std::uint64_t calls_before = 0;
  std::uint64_t calls_after = 0;
  std::uint64_t contributions_before = 0;
  std::uint64_t contributions_after = 0;
};

// What it changes altogether.
struct RemovalEffect {
  std::uint64_t batches = 0;
  std::uint64_t held_batches = 0;  // on probation: in no sum, dropped when the agent is revoked
  std::uint64_t not_kept = 0;      // AgentBatches::not_kept: they stay
  std::uint64_t rows = 0;          // stored ones
  std::uint64_t contributions = 0;
  std::uint64_t calls = 0;
  // (API, metric)s that too few others have contributed to in every week.
  std::uint64_t below_threshold = 0;
  std::vector<ApiChange> most_changed;  // at most kMaxShownChanges; by the share of calls removed
};

// What was taken out.
struct RemovalReport {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;       // of these batches
  std::uint64_t not_taken = 0;  // batches with a row at its numbers' limit
  std::uint64_t not_kept = 0;   // AgentBatches::not_kept
};

// Something that was acknowledged and is lost with a damaged log.
struct LostWrite {
  enum What { kBatch, kWithdrawal, kEnrolment, kRevocation };
  What what = kBatch;
  std::string agent_id;
  std::uint64_t epoch = 0;     // of all but revocations
  std::uint64_t sequence = 0;  // of batches and withdrawals
  auto operator<=>(const LostWrite&) const = default;
};
// "agent HEX, epoch 7, batch 3".
std::string TextOf(const LostWrite& write);

struct RecoveryReport {
  std::string damage;             // where; empty: no log is damaged, and nothing was done
  std::vector<LostWrite> lost;    // what is known of it; a record that cannot be read may have more
  std::filesystem::path kept_in;  // where the damaged logs are now; empty: nothing was changed
  std::string problem;            // that verifying found afterwards
};

// What Store::CheckNextFile() has looked at.
struct CheckedFile {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::uint64_t all_bytes = 0;  // of all files of tables
  bool good = true;
};

struct VerifyReport {
  std::uint64_t sequence = 0;
  std::uint64_t rows = 0;
  std::uint64_t held_batches = 0;  // on probation: their rows are not in the sums
  std::uint64_t kept_batches = 0;
  std::uint64_t files = 0;  // of tables, all of which were read
  std::uint64_t file_bytes = 0;
  std::uint64_t torn_bytes = 0;  // at the end of a log, by a crash
  std::uint64_t ledger_entries = 0;
  std::uint64_t problems = 0;
  std::uint64_t invalid_rows = 0;  // of those held and kept, too
  std::uint64_t saturated_rows = 0;
  Totals expected;            // kept beside the rows as batches came and were withdrawn
  Totals found;               // re-added from the rows
  std::string first_problem;  // empty if there is none
  std::map<std::string, std::string> bindings;  // what Store::Bind() was told, by name
  bool ok() const { return first_problem.empty(); }
};

// What it counts, named as the commands show it.
std::vector<std::pair<std::string_view, std::uint64_t>> NumbersOf(const VerifyReport& report);

}  // namespace fieldcost::store
