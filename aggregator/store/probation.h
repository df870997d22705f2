#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// An agent's progress in an epoch: until it has delivered enough honest batches and is old enough,
// its batches are held and not summed. Pure value; see LAYOUT.md for the bytes.
struct Probation {
  std::uint64_t honest_batches = 0;  // ever delivered; withdrawing one changes nothing
  std::uint64_t held_batches = 0;    // in Table::kHeld, now
  std::chrono::sys_seconds began{};  // when its first batch was received
  bool released = false;             // it is over, for the whole epoch
  bool dishonest = false;            // some row before its end was one that no honest agent sends
  bool operator==(const Probation&) const = default;

  std::string Encode() const;
  static Result<Probation> Decode(std::string_view untrusted_bytes);
};

// Its key in the ledger table.
std::string ProbationKey(std::string_view head_key);
// The key of a held batch.
std::string HeldKey(std::string_view head_key, std::uint64_t sequence);

}  // namespace fieldcost::store
