#include "agent/preload/overhead.h"

#include "agent/intercept/cycle_clock.h"
#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/gaps.h"
#include "agent/preload/measuring_run.h"

// Runs inside handlers: no libc call, no vector register, no lock.

namespace fieldcost::preload {

using intercept::ReadClock;

namespace {

constexpr int64_t kPicosecondsPerNanosecond = 1000;
// A program that has just begun has not earned anything yet.
constexpr int64_t kStartCredit = 30'000 * kPicosecondsPerNanosecond;
// Unused credit is limited: an overhead of 10 ms at once would be noticeable.
constexpr int64_t kMaxCredit = 10'000'000 * kPicosecondsPerNanosecond;
constexpr uint32_t kMaxStep = 3;  // doublings of N at a time
constexpr uint64_t kMaxElapsedNs = uint64_t{1} << 40;

uint32_t used_slots;  // by threads that existed at the same time

// Returns the CPU time that this slot's threads have used since the last check. That of ended
// threads is unknown; it is estimated as at least this slot's share of the process's CPU time in
// between.
uint64_t ElapsedSinceCheck(ThreadState* thread) {
  const uint64_t now = ReadClock(CLOCK_THREAD_CPUTIME_ID);
  uint64_t elapsed = now - thread->cpu_ns_at_check;
  thread->cpu_ns_at_check = now;
  if (thread->has_successor != 0) {
    const uint64_t of_all =
        ReadClock(CLOCK_PROCESS_CPUTIME_ID) - thread->process_cpu_ns_at_succession;
    const uint64_t part = of_all / __atomic_load_n(&used_slots, __ATOMIC_RELAXED);
    if (part > elapsed) elapsed = part;
    thread->has_successor = 0;
  }
  return elapsed > kMaxElapsedNs ? kMaxElapsedNs : elapsed;
}

// Returns the sampling at which `calls` fit into `allowed_ps`, at least `from`; above the maximum
// if even counting them would not fit.
uint32_t NeededSampling(uint64_t calls, int64_t allowed_ps, uint32_t from) {
  const int64_t left = allowed_ps - static_cast<int64_t>(calls * process.untimed_call_ps);
  uint32_t log2 = from;
  while (log2 <= shm::kMaxSamplingLog2 &&
         static_cast<int64_t>((calls * process.timed_call_ps) >> log2) > left) {
    ++log2;
  }
  return log2;
}

// Called if the sampling has changed since the last gap was drawn. The record that is prepared for
// the next call has the old weight.
__attribute__((cold, noinline)) uint32_t ChangeGap(ThreadState* thread, uint32_t pick,
                                                   uint32_t log2) {
  const uint32_t from = thread->gap_log2[pick];
  thread->gap_log2[pick] = static_cast<uint8_t>(log2);
  if (thread->records[0].usual == (pick | intercept::kSampledFlag))
    thread->records[0].usual = kNoPick;
  return DrawChangedGap(from, log2, &thread->random);
}

}  // namespace

void StartCostAccount(ThreadState* thread) {
  if (thread->check_in == 0) {
    thread->check_in = kCallsPerCheck;
    thread->credit_ps = kStartCredit;
    if (thread->slot >= __atomic_load_n(&used_slots, __ATOMIC_RELAXED)) {
      __atomic_store_n(&used_slots, thread->slot + 1, __ATOMIC_RELAXED);
    }
  } else if (thread->has_successor == 0 && process.overhead_per_65536 != 0) {
    // Continues its predecessor's account; otherwise many short threads would never settle one.
    thread->has_successor = 1;
    thread->process_cpu_ns_at_succession = ReadClock(CLOCK_PROCESS_CPUTIME_ID);
  }
  thread->cpu_ns_at_check =
      process.overhead_per_65536 == 0 ? 0 : ReadClock(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((cold, noinline)) void SettleCost(ThreadState* thread, uint32_t pick) {
  thread->check_in = kCallsPerCheck;
  if (process.overhead_per_65536 == 0) return;
  const uint64_t untimed = thread->untimed_since_check;
  thread->untimed_since_check = 0;
  const uint64_t elapsed = ElapsedSinceCheck(thread);
  const auto earned = static_cast<int64_t>((elapsed * process.overhead_per_65536) >> 16) *
                      kPicosecondsPerNanosecond;
  const uint64_t calls = kCallsPerCheck + untimed;
  const auto spent = static_cast<int64_t>(uint64_t{kCallsPerCheck} * process.timed_call_ps +
                                          untimed * process.untimed_call_ps);
  thread->credit_ps += earned - spent;
  if (thread->credit_ps > kMaxCredit) thread->credit_ps = kMaxCredit;
  const bool was_too_much = thread->counting_is_too_much != 0;
  thread->counting_is_too_much = 0;
  if (thread->credit_ps >= 0) return;
  const uint32_t log2 = __atomic_load_n(&process.picks[pick].sampling_log2, __ATOMIC_RELAXED);
  // A single window may mislead: its CPU time may include time taken by interrupts, or lack time
  // that the machine's host took before.
  const uint32_t needed = NeededSampling(calls, earned, log2);
  const uint32_t next = log2 + kMaxStep < needed ? log2 + kMaxStep : needed;
  thread->counting_is_too_much = needed > shm::kMaxSamplingLog2 ? 1 : 0;
  if (was_too_much && thread->counting_is_too_much != 0) {
    DropPick(pick);
  } else if (next > log2 && next <= shm::kMaxSamplingLog2) {
    SamplePick(pick, next);
  }
  thread->credit_ps = 0;
}

void DrawGap(ThreadState* thread, uint32_t pick) {
  shm::CallCounter* const counter = &fieldcost_counters[pick];
  if (shm::GapOf(*counter) >= 0) return;
  const uint32_t log2 = __atomic_load_n(&process.picks[pick].sampling_log2, __ATOMIC_RELAXED);
  const uint32_t gap = FIELDCOST_LIKELY(thread->gap_log2[pick] == log2)
                           ? DrawUsualGap(log2, &thread->random)
                           : ChangeGap(thread, pick, log2);
  for (;;) {  // again if a signal handler made a call in between
    const shm::CallCounter before = *counter;
    if (shm::GapOf(before) >= 0) return;
    const shm::CallCounter after = shm::MakeCallCounter(shm::CallsOf(before), gap);
    if (intercept::ReplaceOnThisThread(counter, before, after)) break;
  }
  thread->untimed_since_check += gap;
}

bool EndGap(ThreadState* thread, uint32_t pick, uint32_t* weight_log2) {
  *weight_log2 = 0;
  if (fieldcost_counters == no_counters) {
    if (!MakeCounters(thread)) return false;
    // The stub counted the call in the counters shared by threads without their own, where each
    // call must find its gap at the end. The rest of a gap of this slot's former thread does not
    // apply.
    no_counters[pick] = 0;
    const shm::CallCounter before = fieldcost_counters[pick];
    fieldcost_counters[pick] = shm::MakeCallCounter(shm::CallsOf(before), 0) - (uint64_t{1} << 48);
    thread->gap_log2[pick] = 0;
  } else if (shm::GapOf(fieldcost_counters[pick]) == -1) {
    *weight_log2 = thread->gap_log2[pick];
  }
  // Below -1, the previous call ended the gap and drew none: this call is timed with certainty.
  DrawGap(thread, pick);
  return true;
}

}  // namespace fieldcost::preload
