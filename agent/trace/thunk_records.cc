#include "agent/trace/thunk_records.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "agent/intercept/thunk.h"
#include "agent/runs/x86_64/runs_machine.h"
#include "common/base/clock.h"

namespace fieldcost::trace {
namespace {

// Maximum slew of a clock, and maximum time between reading both clocks.
constexpr std::uint64_t kSlewParts = 1000;  // one part in this many
constexpr std::uint64_t kLookTicks = 4000;

// Offsets in a record, in words; the third word is the function, which the unwinder does not read.
constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kStackPointer = FIELDCOST_RECORD_STACK_POINTER / kWord;
constexpr std::size_t kStartTicks = FIELDCOST_RECORD_START_TICKS / kWord;
constexpr std::size_t kFrameId = 5;  // in records of the lab and the tracer
constexpr std::size_t kWords = kFrameId + 1;
constexpr std::array<std::size_t, 3> kAskedFor = {
    FIELDCOST_RECORD_RETURN_ADDRESS / kWord, FIELDCOST_RECORD_SAVED_REGISTER / kWord, kFrameId};

}  // namespace

TicksOfTime::Both TicksOfTime::Now() {
  const std::uint64_t ticks = runs::ReadTimeStamp();
  return {.ns = MonotonicNs(), .ticks = ticks};
}

TicksOfTime::TicksOfTime() : first_(Now()), last_(first_) {}

void TicksOfTime::Look() { last_ = Now(); }

std::uint64_t TicksOfTime::NotAfter(std::uint64_t time_ns) const {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t span_ns = last_.ns - first_.ns;
  if (span_ns == 0 || last_.ticks <= first_.ticks) return 0;
  const std::uint64_t age_ns = last_.ns - std::min(last_.ns, time_ns);
  const std::uint64_t age =
      static_cast<std::uint64_t>(Wide{age_ns} * (last_.ticks - first_.ticks) / span_ns);
  return last_.ticks - std::min(last_.ticks, age + age / kSlewParts + kLookTicks);
}

std::size_t ThunkRecords::Read(std::uint64_t address, void* to, std::size_t size) {
  if (size != kWord || address % kWord != 0) return 0;
  was_asked_ = true;
  for (const std::size_t asked : kAskedFor) {
    std::array<std::uint64_t, kWords> record{};
    const std::uint64_t begin = address - asked * kWord;
    if (memory_.Read(begin, record.data(), sizeof record) != sizeof record) continue;
    const std::uint64_t place = record[kStackPointer];
    // 0: the call has ended, and no other one has begun.
    const bool is_on_stack =
        place % kWord == 0 && (place == 0 || (place >= base_ && place - base_ < stack_.size()));
    const bool is_as_it_was = record[kStartTicks] != 0 && record[kStartTicks] <= ticks_;
    if (!is_on_stack || !is_as_it_was) continue;
    std::memcpy(to, &record[asked], kWord);
    return kWord;
  }
  return 0;
}

}  // namespace fieldcost::trace
