#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/byte_order.h"
#include "common/base/result.h"

namespace fieldcost::store {

// Keys and values that the parts of Store::State exchange; for this folder's sources only.

// Keys in Table::kProgress.
inline constexpr char kAppliedKey[] = "applied";
inline constexpr char kTotalsKey[] = "totals";
inline constexpr char kRestorations[] = "restorations";  // see Store::RestoreBackup()

// The error returned by every call after a failure.
inline Error StoreFailed() {
  return Fail(ErrorCode::kIo, "the store has failed; see the server's log");
}

inline std::string NumberKey(std::uint64_t number) {
  std::string key;
  AppendBigEndian64(number, key);
  return key;
}

// A batch's addition to the sums, in the form of the log.
struct Addition {
  std::string record;
  std::uint64_t sequence = 0;
};

// A kept batch that is removed once its withdrawal is in the rows.
struct PendingRemoval {
  std::uint64_t withdrawal = 0;  // its number
  std::uint64_t batch = 0;
};

// How accepting a batch changes the held batches.
struct ProbationStep {
  bool held = false;  // the batch itself is held
  std::uint64_t held_bytes = 0;
  bool no_room = false;            // it should be held, but others would have to be dropped
  std::vector<Addition> released;  // in the order of their sequences
  std::uint64_t released_bytes = 0;
};

}  // namespace fieldcost::store
