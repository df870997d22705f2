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

// Reports and gauges of the store. Plain values.

namespace fieldcost::store {

// Values for the operator, current or since the start.
struct StoreGauges {
  std::uint64_t sequence = 0;  // as Store::sequence()
  std::uint64_t dirty_rows = 0;
  std::uint64_t dirty_bytes = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t checkpoint_microseconds = 0;  // of all checkpoints
  std::uint64_t held_batches = 0;             // on probation, now
  std::uint64_t held_bytes = 0;               // as LEDGER.md counts them
  std::uint64_t held_room_bytes = 0;          // for all held batches: StoreOptions::held_bytes
  std::uint64_t honest_held_bytes = 0;        // of agents that were never dishonest
  std::uint64_t damages = 0;                  // damaged places found, by reading or by checks
  std::uint64_t evicted_batches = 0;          // held batches dropped to make room
  std::uint64_t kept_bytes = 0;               // kept batches, estimated by the engine

  // True if agents that were never dishonest take more than nine tenths of the room. Other agents'
  // room counts as free, since dishonest agents are evicted first.
  bool IsHeldRoomShort() const { return honest_held_bytes > held_room_bytes / 10 * 9; }
};

// What Expire() removed.
struct ExpiryReport {
  std::uint64_t rows = 0;
  std::uint64_t ledger_entries = 0;
  std::uint64_t held_batches = 0;
  std::uint64_t kept_batches = 0;  // their rows stay in the sums
};

// What expiring up to certain bounds would remove.
struct ExpiryEffect : ExpiryReport {
  std::uint64_t rows_left = 0;
  std::uint32_t oldest_week = 0;  // of the rows to be removed; 0 if there are none
  std::uint32_t newest_week = 0;
};

// How removing all kept batches of an agent changes one API, all metrics together.
struct ApiChange {
  stats::ApiKey api;
  std::uint64_t calls_before = 0;
  std::uint64_t calls_after = 0;
  std::uint64_t contributions_before = 0;
  std::uint64_t contributions_after = 0;
};

// The total effect of such a removal.
struct RemovalEffect {
  std::uint64_t batches = 0;
  std::uint64_t held_batches = 0;  // on probation: in no sum, dropped when the agent is revoked
  std::uint64_t not_kept = 0;      // AgentBatches::not_kept; these stay
  std::uint64_t rows = 0;          // stored rows
  std::uint64_t contributions = 0;
  std::uint64_t calls = 0;
  // Pairs of API and metric that would no longer reach the threshold in any quarter.
  std::uint64_t below_threshold = 0;
  std::vector<ApiChange> most_changed;  // at most kMaxShownChanges; by the share of calls removed
};

// The removed data.
struct RemovalReport {
  std::uint64_t batches = 0;
  std::uint64_t rows = 0;       // rows of these batches
  std::uint64_t not_taken = 0;  // batches with a saturated row, which stay
  std::uint64_t not_kept = 0;   // AgentBatches::not_kept
};

// An acknowledged write that is lost with a damaged log.
struct LostWrite {
  enum What { kBatch, kWithdrawal, kEnrolment, kRevocation };
  What what = kBatch;
  std::string agent_id;
  std::uint64_t epoch = 0;     // except for revocations
  std::uint64_t sequence = 0;  // for batches and withdrawals
  auto operator<=>(const LostWrite&) const = default;
};
// "agent HEX, epoch 7, batch 3".
std::string TextOf(const LostWrite& write);

struct RecoveryReport {
  std::string damage;             // the place; empty: no log is damaged, and nothing was done
  std::vector<LostWrite> lost;    // the known ones; an unreadable record may contain more
  std::filesystem::path kept_in;  // where the damaged logs are now; empty: nothing was changed
  std::string problem;            // found by verifying afterwards
};

// The file that Store::CheckNextFile() has read.
struct CheckedFile {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
  std::uint64_t all_bytes = 0;  // of all table files
  bool good = true;
};

struct VerifyReport {
  std::uint64_t sequence = 0;
  std::uint64_t rows = 0;
  std::uint64_t held_batches = 0;  // on probation: their rows are not in the sums
  std::uint64_t kept_batches = 0;
  std::uint64_t published_units = 0;
  std::uint64_t marked_withdrawals = 0;  // marks of them, one per unit, for the next publication
  std::uint64_t files = 0;               // table files; every one was read
  std::uint64_t file_bytes = 0;
  std::uint64_t torn_bytes = 0;  // at the end of a log, torn by a crash
  std::uint64_t ledger_entries = 0;
  std::uint64_t problems = 0;
  std::uint64_t invalid_rows = 0;  // including held and kept ones
  std::uint64_t saturated_rows = 0;
  Totals expected;                              // counted as batches arrived and were withdrawn
  Totals found;                                 // summed again from the rows
  std::string first_problem;                    // empty if there is none
  std::map<std::string, std::string> bindings;  // the values passed to Store::Bind(), by name
  bool ok() const { return first_problem.empty(); }
};

// The report's numbers, with the names that commands display.
std::vector<std::pair<std::string_view, std::uint64_t>> NumbersOf(const VerifyReport& report);

}  // namespace fieldcost::store
