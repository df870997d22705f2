#pragma once

#include <cstdint>
#include <string>

#include "aggregator/store/dirty_table.h"

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
  std::uint64_t held_bytes = 0;               // as README.md counts them
  std::uint64_t held_room_bytes = 0;          // for all of them: StoreOptions::held_bytes
  std::uint64_t honest_held_bytes = 0;        // of agents that were never dishonest
  std::uint64_t evicted_batches = 0;          // held, and gone to make room
  std::uint64_t stored_bytes = 0;             // the engine's estimate of its live data

  // Nine tenths of the room are taken by agents that were never dishonest. The rest is as good as
  // free: whoever was dishonest makes room for the others.
  bool IsHeldRoomShort() const { return honest_held_bytes > held_room_bytes / 10 * 9; }
};

// What Expire() removed.
struct ExpiryReport {
  std::uint64_t rows = 0;
  std::uint64_t ledger_entries = 0;
  std::uint64_t held_batches = 0;
};

struct VerifyReport {
  std::uint64_t sequence = 0;
  std::uint64_t rows = 0;
  std::uint64_t held_batches = 0;  // on probation: their rows are not in the sums
  std::uint64_t invalid_rows = 0;  // of those held, too
  std::uint64_t saturated_rows = 0;
  Totals expected;            // kept beside the rows as batches came and were withdrawn
  Totals found;               // re-added from the rows
  std::string first_problem;  // empty if there is none
  bool ok() const { return first_problem.empty(); }
};

}  // namespace fieldcost::store
