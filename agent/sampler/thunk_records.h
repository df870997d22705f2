#pragma once

#include <cstdint>
#include <span>

#include "common/unwind/memory.h"

namespace fieldcost::sampler {

// The time stamp counter's value at moments of CLOCK_MONOTONIC that have just been. Not
// thread-safe.
class TicksOfTime {
 public:
  TicksOfTime();
  // Looks at both clocks: to be called before moments since the last call are asked for.
  void Look();
  // No later than the moment, and hardly earlier.
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

// Reads the records in which our own libraries, in a process that is sampled, keep the return
// addresses of calls that they measure (agent/intercept/thunk.h): to follow such a call to its
// caller, its record is read while the thread runs on. It counts if it stands for a place in the
// copied stack, or for none any more, and if its call began before the sample: so it has not been
// used for another one since. Not thread-safe.
class ThunkRecords : public unwind::MemoryReader {
 public:
  // `stack`: the copy, from `base` on. `ticks`: of the sample. REQUIRES: `memory` outlives this.
  ThunkRecords(unwind::MemoryReader& memory, std::uint64_t base,
               std::span<const std::uint8_t> stack, std::uint64_t ticks)
      : memory_(memory), base_(base), stack_(stack), ticks_(ticks) {}

  // Eight bytes of a record that an unwinder needs; 0 for all else.
  std::size_t Read(std::uint64_t address, void* to, std::size_t size) override;

  // Whether it matters how soon after the sample this is.
  bool was_asked() const { return was_asked_; }

 private:
  unwind::MemoryReader& memory_;
  std::uint64_t base_;
  std::span<const std::uint8_t> stack_;
  std::uint64_t ticks_;
  bool was_asked_ = false;
};

}  // namespace fieldcost::sampler
