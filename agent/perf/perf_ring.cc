#include "agent/perf/perf_ring.h"

#include <linux/perf_event.h>

#include <atomic>
#include <cstring>

namespace fieldcost::perf {

std::uint64_t PerfRing::Head() const {
  auto* const page = static_cast<perf_event_mmap_page*>(first_page_);
  const std::uint64_t head = *const_cast<const volatile __u64*>(&page->data_head);
  std::atomic_thread_fence(std::memory_order_acquire);
  return head;
}

void PerfRing::SetTail(std::uint64_t tail) {
  auto* const page = static_cast<perf_event_mmap_page*>(first_page_);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  *const_cast<volatile __u64*>(&page->data_tail) = tail;
  tail_ = tail;
  front_bytes_ = 0;
}

std::optional<std::span<const std::uint8_t>> PerfRing::Front() {
  const std::uint64_t head = Head();
  if (head == tail_) return std::nullopt;
  const std::uint64_t filled = head - tail_;
  perf_event_header header{};
  const auto at = static_cast<std::size_t>(tail_ & (data_bytes_ - 1));
  const std::size_t to_end = data_bytes_ - at;
  // Records and the ring's end are at multiples of 8 bytes, so headers are contiguous.
  if (filled > data_bytes_ || filled < sizeof header || at % sizeof header != 0) {
    ++broken_;
    SetTail(head);
    return std::nullopt;
  }
  std::memcpy(&header, data_ + at, sizeof header);
  if (header.size < sizeof header || header.size % sizeof header != 0 || header.size > filled) {
    ++broken_;
    SetTail(head);
    return std::nullopt;
  }
  front_bytes_ = header.size;
  if (front_bytes_ <= to_end) return std::span<const std::uint8_t>(data_ + at, front_bytes_);
  straightened_.resize(front_bytes_);
  std::memcpy(straightened_.data(), data_ + at, to_end);
  std::memcpy(straightened_.data() + to_end, data_, front_bytes_ - to_end);
  return std::span<const std::uint8_t>(straightened_);
}

double PerfRing::fill() const {
  return static_cast<double>(Head() - tail_) / static_cast<double>(data_bytes_);
}

void PerfRing::Pop() {
  if (front_bytes_ != 0) SetTail(tail_ + front_bytes_);
}

}  // namespace fieldcost::perf
