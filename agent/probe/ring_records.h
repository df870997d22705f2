#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "agent/probe/ring_reader.h"

namespace fieldcost::probe {

inline constexpr std::size_t kRecordBytes = sizeof(shm::ProbeRecord);

struct Records {
  std::size_t bytes = 0;   // of complete records, from the beginning
  std::size_t hits = 0;    // visited
  bool is_broken = false;  // the data that follows is not a record
};

// Visits at most `most` hits of a piece of a ring. The ring's end (where places start again) is
// `to_ring_end` bytes after the piece's beginning, possibly beyond the piece's end. Stops at a
// record that the piece cuts off. Pure, except for `visit`.
Records VisitRecords(std::span<const std::uint64_t> untrusted_words, std::uint64_t to_ring_end,
                     std::size_t most, const std::function<void(const RingHit&)>& visit);

// Removes registers and raw stacks from the complete records of a piece (hits keep the rest). Sets
// `is_broken` and `bytes` as VisitRecords() does.
Records WipeRecords(std::span<std::uint64_t> untrusted_words, std::uint64_t to_ring_end);

}  // namespace fieldcost::probe
