#include "agent/probe_recorder/look_pace.h"

#include <algorithm>

#include "common/shm/probe_file.h"

namespace fieldcost::probe {

std::chrono::milliseconds LookPace::After(std::uint64_t bytes) {
  constexpr std::uint64_t kWanted = shm::kProbeRingBytes / 8;
  // More than the capacity of a ring's two parts is implausible.
  const std::uint64_t written =
      std::clamp<std::uint64_t>(bytes, 1, shm::kProbeRingBytes + shm::kProbeAreaBytes);
  const auto now = static_cast<std::uint64_t>(wait_.count());
  const std::chrono::milliseconds next(
      static_cast<std::int64_t>(std::min(now * kWanted / written, 2 * now)));
  wait_ = std::clamp(next, kLeast, kMost);
  return wait_;
}

}  // namespace fieldcost::probe
