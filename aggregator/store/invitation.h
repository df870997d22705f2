#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::store {

// Allows a limited number of agents to enrol with one token. Since an agent has a new key in each
// epoch, uses are counted per epoch. Pure value; LAYOUT.md has the bytes.
struct Invitation {
  std::uint32_t uses = 1;              // keys per epoch, 1 to kMaxInvitationUses
  std::chrono::sys_seconds made_at{};  // from 1970 to 2038, as is expires_at
  // The first key must enrol before this time. Afterwards, keys of later epochs may enrol at any
  // time, since they belong to agents that already took part.
  std::chrono::sys_seconds expires_at{};
  std::string label;  // for the operator; at most kMaxInvitationLabelBytes
  std::map<std::uint64_t, std::uint32_t> used;  // epoch -> keys; the last kMaxInvitationEpochs
  bool operator==(const Invitation&) const = default;

  bool WasUsed() const { return !used.empty(); }
  std::uint32_t UsedIn(std::uint64_t epoch) const;
  // Counts a key. Removes the oldest epoch if there are too many.
  void Use(std::uint64_t epoch);

  std::string Encode() const;
  static Result<Invitation> Decode(std::string_view untrusted_bytes);
};

enum class InvitationUse {
  kEnrolled,  // also if the key had enrolled before
  kUnknown,   // there is no such invitation
  kExpired,   // it was not used in time
  kUsedUp,    // enough keys have enrolled in this epoch
};

}  // namespace fieldcost::store
