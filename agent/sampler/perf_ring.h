#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/check.h"

namespace fieldcost::sampler {

// Records of the kernel in a ring of perf_event_open(2), in place. One reader; the kernel writes
// beside it. What is in the ring is checked as if it came from outside. Not thread-safe.
class PerfRing {
 public:
  // A ring that is mapped: its first page and the data behind it. REQUIRES: mapped as long as this
  // lives; `data_bytes` is a power of two.
  PerfRing(void* first_page, std::uint8_t* data, std::size_t data_bytes)
      : first_page_(first_page), data_(data), data_bytes_(data_bytes) {
    FIELDCOST_CHECK(std::has_single_bit(data_bytes));
  }

  // The next record, with its header; nullopt: there is none yet. The same one until Pop(); lives
  // until then. A record that cannot be one empties the ring, and is counted.
  std::optional<std::span<const std::uint8_t>> Front();
  // Removes the record that Front() gave; nothing, if it gave none.
  void Pop();

  // How full it is, from 0 to 1.
  double fill() const;
  std::uint64_t broken() const { return broken_; }
  // How many bytes the kernel has written so far. Any thread may ask.
  std::uint64_t Head() const;

 private:
  void SetTail(std::uint64_t tail);

  void* first_page_;
  std::uint8_t* data_;
  std::size_t data_bytes_;
  std::uint64_t tail_ = 0;
  std::uint64_t broken_ = 0;
  std::size_t front_bytes_ = 0;             // 0: not looked at
  std::vector<std::uint8_t> straightened_;  // a record that goes round the end
};

}  // namespace fieldcost::sampler
