#pragma once

#include <cstdint>
#include <span>

#include "agent/unwind/memory_reader.h"

namespace fieldcost::trace {

// Converts recent times of CLOCK_MONOTONIC to values of the time stamp counter. Not thread-safe.
class TicksOfTime {
 public:
  TicksOfTime();
  // Reads both clocks; must be called before converting times since the previous call.
  void Look();
  // Returns a value no later than the time, and hardly earlier.
  std::uint64_t NotAfter(std::uint64_t time_ns) const;

 private:
  struct Both {
    std::uint64_t ns = 0;
    std::uint64_t ticks = 0;
  };
  static Both Now();

  Both first_;
  Both last_;
};

// Reads the records in which our own libraries in a sampled process keep the return addresses of
// measured calls (agent/intercept/thunk.h). To unwind such a call to its caller, its record is read
// while the thread keeps running. The record counts if its place is in the copied stack, or it no
// longer has one, and its call began before the sample: then it has not been reused for another
// call since. Not thread-safe.
class ThunkRecords : public unwind::MemoryReader {
 public:
  // `stack`: the copy, starting at `base`. `ticks`: the sample's time. REQUIRES: `memory` outlives
  // this.
  ThunkRecords(unwind::MemoryReader& memory, std::uint64_t base,
               std::span<const std::uint8_t> stack, std::uint64_t ticks)
      : memory_(memory), base_(base), stack_(stack), ticks_(ticks) {}

  // Reads eight bytes of a record that an unwinder needs; returns 0 for all other reads.
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override;

  // Returns whether a record was requested, so that the delay since the sample matters.
  bool was_asked() const { return was_asked_; }

 private:
  unwind::MemoryReader& memory_;
  std::uint64_t base_;
  std::span<const std::uint8_t> stack_;
  std::uint64_t ticks_;
  bool was_asked_ = false;
};

}  // namespace fieldcost::trace
