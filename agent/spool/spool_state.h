#pragma once

#include <cstdint>

namespace fieldcost::agent {

// The state of a batch. The numbers are stored.
enum class SpoolState : std::uint8_t {
  kQueued = 0,
  kSent = 1,         // the service has acknowledged it
  kQuarantined = 2,  // the service has refused it permanently
  kWithdrawn = 3,    // it was withdrawn (forget)
  kDropped = 4,      // never sent: too old, too many, or consent was withdrawn
};

}  // namespace fieldcost::agent
