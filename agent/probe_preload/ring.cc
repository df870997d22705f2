#include "agent/probe_preload/ring.h"

#include <time.h>

#include "agent/intercept/mapped_memory.h"

namespace fieldcost::probe_preload {
namespace {

// Where incomplete events are reported: in a ring or in the header.
struct Losses {
  uint32_t* count;
  shm::ProbeEventId* events;
  uint64_t* first_ticks;
  uint64_t* last_ticks;
};

void Tell(const Losses& losses, const shm::ProbeEventId& event) {
  if (event.run == 0) return;
  const uint32_t known = __atomic_load_n(losses.count, __ATOMIC_RELAXED);
  for (uint32_t i = 0; i < known && i < shm::kProbeIncomplete; ++i) {
    if (losses.events[i].run == event.run && losses.events[i].number == event.number) return;
  }
  if (known < shm::kProbeIncomplete) {
    const uint32_t index = __atomic_fetch_add(losses.count, 1, __ATOMIC_RELAXED);
    if (index < shm::kProbeIncomplete) {
      losses.events[index] = event;
      return;
    }
  }
  // Too many to list: marks all events that are open now.
  const uint64_t now = Now();
  uint64_t none = 0;
  __atomic_compare_exchange_n(losses.first_ticks, &none, now, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
  __atomic_store_n(losses.last_ticks, now, __ATOMIC_RELAXED);
  __atomic_store_n(losses.count, shm::kProbeIncomplete + 1, __ATOMIC_RELAXED);
}

Losses Of(shm::ProbeRing* ring) {
  return {&ring->incomplete_count, ring->incomplete, &ring->open_from_ticks,
          &ring->open_until_ticks};
}

// Takes over the space that the reader has released in the meantime; never more than was written.
void LookAtTail(ThreadState* thread) {
  const uint8_t given_back = __atomic_load_n(&thread->ring->given_back, __ATOMIC_ACQUIRE);
  const auto known = static_cast<uint8_t>(thread->tail / shm::kProbeBlockBytes);
  const uint64_t blocks = static_cast<uint8_t>(given_back - known);
  const uint64_t tail = (thread->tail / shm::kProbeBlockBytes + blocks) * shm::kProbeBlockBytes;
  if (tail - thread->tail <= thread->head - thread->tail) thread->tail = tail;
}

bool IsBefore(uint64_t one, uint64_t other) { return static_cast<int64_t>(one - other) < 0; }

// Returns the position from which on `data` is in use.
uint64_t UsedFrom(const ThreadState* thread) {
  return IsBefore(thread->tail, thread->origin) ? thread->origin : thread->tail;
}

uint64_t Free(const ThreadState* thread) {
  return thread->size - (thread->head - UsedFrom(thread));
}

void SetLimit(ThreadState* thread) {
  uint64_t limit = UsedFrom(thread) + thread->size;
  const uint64_t first_round = thread->origin + thread->populated;
  if (thread->populated < thread->size && IsBefore(first_round, limit)) limit = first_round;
  thread->limit = limit;
}

// Populates the next part of an area: stores must not fail, and populating all of it at once would
// take milliseconds.
bool PopulateMore(ThreadState* thread) {
  constexpr uint64_t kAtOnce = 128 << 10;
  static_assert(shm::kProbeAreaBytes % kAtOnce == 0);
  if (thread->populated == thread->size ||
      !intercept::Populate(reinterpret_cast<uint64_t>(thread->data) + thread->populated, kAtOnce)) {
    return false;
  }
  thread->populated += kAtOnce;
  SetLimit(thread);
  return true;
}

// Moves a full ring to an area of its own, from the next hit on.
bool MoveToArea(ThreadState* thread) {
  uint32_t* const areas = &process.header->area_count;
  if (thread->ring->area != 0 || __atomic_load_n(areas, __ATOMIC_RELAXED) >= shm::kProbeAreas) {
    return false;
  }
  const uint32_t area = __atomic_fetch_add(areas, 1, __ATOMIC_RELAXED);
  if (area >= shm::kProbeAreas) return false;
  thread->data = process.InFile<uint8_t>(shm::ProbeAreasOffset(), area * shm::kProbeAreaBytes);
  thread->size = shm::kProbeAreaBytes;
  thread->origin = thread->head;
  thread->populated = 0;
  SetLimit(thread);
  thread->ring->grown_at = thread->head;
  // A reader that sees a position beyond this one sees the area as well.
  __atomic_store_n(&thread->ring->area, area + 1, __ATOMIC_RELEASE);
  return true;
}

// Returns how much of the stack is certainly mapped and fits into the ring.
uint32_t StackBytes(const ThreadState* thread, uint64_t sp, bool* is_short) {
  const uint64_t free = Free(thread);
  *is_short = true;
  const uint64_t used = thread->size - free;
  // In an area, most of the space is reserved for bursts of hits that arrive faster than they are
  // read.
  const bool in_area = thread->size == shm::kProbeAreaBytes;
  if (used >= (in_area ? thread->size / 4 : thread->size / 4 * 3)) return 0;
  const uint64_t most = used >= (in_area ? thread->size / 8 : thread->size / 2)
                            ? shm::kProbeShortStackBytes
                            : shm::kProbeStackBytes;
  // Other stacks, of fibres or signals, are only known to be mapped up to the end of the page.
  const bool is_own = thread->stack.Holds(sp);
  const uint64_t end = is_own ? thread->stack.end : intercept::PageOf(sp) + intercept::kPageBytes;
  const uint64_t there = end - sp;
  *is_short = most < shm::kProbeStackBytes || (!is_own && there < most);
  return static_cast<uint32_t>((there < most ? there : most) & ~uint64_t{7});
}

// Fills the end of the ring if `bytes` would go beyond it.
bool MakeRoomAtOnce(ThreadState* thread, uint64_t bytes) {
  const uint64_t left = thread->size - ((thread->head - thread->origin) & (thread->size - 1));
  const uint64_t needed = bytes <= left ? bytes : left + bytes;
  while (thread->limit - thread->head < needed) {
    if (!PopulateMore(thread)) return false;
  }
  if (bytes <= left) return true;
  shm::ProbeRecord* const record = Place(thread);
  record->size_bytes = static_cast<uint16_t>(left);
  record->kind = shm::kProbeFill;
  Publish(thread, left);
  return true;
}

}  // namespace

__attribute__((noinline)) uint64_t ClockTicks() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

__attribute__((cold)) void LoseWithoutRing(const shm::ProbeEventId& event) {
  if (Attached() == 0) return;
  __atomic_fetch_add(&process.header->lost_hits, 1, __ATOMIC_RELAXED);
  TellIncomplete(event);
}

void TellIncomplete(const shm::ProbeEventId& event) {
  shm::ProbeHeader* const header = process.header;
  Tell({&header->incomplete_count, header->incomplete, &header->open_from_ticks,
        &header->open_until_ticks},
       event);
}

__attribute__((cold)) void Interrupted(ThreadState* thread, const shm::ProbeEventId& event) {
  __atomic_fetch_add(&thread->ring->interrupted, 1, __ATOMIC_RELAXED);
  Tell(Of(thread->ring), event);
}

__attribute__((cold, noinline)) void Drop(ThreadState* thread, const shm::ProbeEventId& event) {
  __atomic_fetch_add(&thread->ring->dropped, 1, __ATOMIC_RELAXED);
  Tell(Of(thread->ring), event);
}

__attribute__((noinline)) bool MakeRoom(ThreadState* thread, uint64_t bytes) {
  LookAtTail(thread);
  SetLimit(thread);
  return MakeRoomAtOnce(thread, bytes) || (MoveToArea(thread) && MakeRoomAtOnce(thread, bytes));
}

__attribute__((noinline)) void PutWithStack(ThreadState* thread, const Hit& hit) {
  LookAtTail(thread);
  SetLimit(thread);
  bool is_short = false;
  const uint32_t stack = StackBytes(thread, hit.registers->sp, &is_short);
  const bool has_registers = stack != 0;
  constexpr uint64_t kRecordBytes = sizeof(shm::ProbeRecord);
  const uint64_t bytes = has_registers
                             ? (2 * kRecordBytes + stack + kRecordBytes - 1) & ~(kRecordBytes - 1)
                             : kRecordBytes;
  if (!MakeRoomAtOnce(thread, bytes) && !MakeRoom(thread, bytes)) return Drop(thread, hit.event);
  shm::ProbeRecord* const record = Place(thread);
  record->size_bytes = static_cast<uint16_t>(bytes);
  record->stack_bytes = static_cast<uint16_t>(stack);
  uint32_t flags = hit.flags;
  if (is_short) flags |= shm::kProbeShortStack;
  if (has_registers) flags |= shm::kProbeHasRegisters;
  record->flags = static_cast<uint16_t>(flags);
  Fill(thread, record, hit);
  if (has_registers) {
    auto* const registers = reinterpret_cast<shm::ProbeRegisters*>(record + 1);
    *registers = *hit.registers;
    intercept::CopyWords(registers + 1, reinterpret_cast<const void*>(hit.registers->sp),
                         stack / 8);
  }
  Publish(thread, bytes);
}

}  // namespace fieldcost::probe_preload
