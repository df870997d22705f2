#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/check.h"

namespace fieldcost::perf {

// Reads the kernel's records in a ring of perf_event_open(2), in place. There is one reader; the
// kernel writes concurrently. Records are validated like untrusted input. Not thread-safe.
class PerfRing {
 public:
  // A mapped ring: its first page, followed by the data. REQUIRES: the ring stays mapped while this
  // lives; `data_bytes` is a power of two.
  PerfRing(void* first_page, std::uint8_t* data, std::size_t data_bytes)
      : first_page_(first_page), data_(data), data_bytes_(data_bytes) {
    FIELDCOST_CHECK(std::has_single_bit(data_bytes));
  }

  // Returns the next record, with its header; nullopt if there is none yet. Returns the same record
  // until Pop(), which invalidates it. An invalid record empties the ring and is counted.
  std::optional<std::span<const std::uint8_t>> Front();
  // Removes the record returned by Front(), if any.
  void Pop();

  // Returns how full the ring is, from 0 to 1.
  double fill() const;
  std::uint64_t broken() const { return broken_; }
  // Returns how many bytes the kernel has written so far. Thread-safe.
  std::uint64_t Head() const;

 private:
  void SetTail(std::uint64_t tail);

  void* first_page_;
  std::uint8_t* data_;
  std::size_t data_bytes_;
  std::uint64_t tail_ = 0;
  std::uint64_t broken_ = 0;
  std::size_t front_bytes_ = 0;             // 0: not read yet
  std::vector<std::uint8_t> straightened_;  // a copy of a record that wraps around
};

}  // namespace fieldcost::perf
