#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// An agent's progress in an epoch: its batches are held, not summed, until it has delivered enough
// honest ones and is old enough. Pure value; see LAYOUT.md for the bytes.
struct Probation {
  std::uint64_t honest_batches = 0;  // ever delivered; a withdrawal does not change it
  std::uint64_t held_batches = 0;    // currently in Table::kHeld
  std::chrono::sys_seconds began{};  // when its first batch was received
  bool released = false;             // probation has ended, for the whole epoch
  bool dishonest = false;            // before its end, it sent a row that no honest agent sends
  bool operator==(const Probation&) const = default;

  std::string Encode() const;
  static Result<Probation> Decode(std::string_view untrusted_bytes);
};

// The key of the record in the ledger table.
std::string ProbationKey(std::string_view head_key);
// The key of a held batch.
std::string HeldKey(std::string_view head_key, std::uint64_t sequence);

}  // namespace fieldcost::store
