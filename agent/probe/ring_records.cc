#include "agent/probe/ring_records.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace fieldcost::probe {
namespace {

constexpr std::size_t kMostRecordBytes =
    kRecordBytes + sizeof(shm::ProbeRegisters) + shm::kProbeStackBytes;

bool IsSound(const shm::ProbeRecord& untrusted) {
  const bool has_registers = (untrusted.flags & shm::kProbeHasRegisters) != 0;
  const std::size_t used =
      kRecordBytes +
      (has_registers ? sizeof(shm::ProbeRegisters) + untrusted.stack_bytes : std::size_t{0});
  return untrusted.kind <= shm::kProbeJoin && used <= untrusted.size_bytes &&
         untrusted.stack_bytes % sizeof(std::uint64_t) == 0 &&
         (has_registers || untrusted.stack_bytes == 0) && untrusted.site < shm::kProbeSites &&
         untrusted.event.run != 0 && untrusted.sequence != 0;
}

RingHit HitOf(const shm::ProbeRecord& record, std::span<const std::uint64_t> after,
              shm::ProbeRegisters& registers) {
  RingHit hit{.kind = static_cast<shm::ProbeKind>(record.kind),
              .site = record.site,
              .thread = record.thread,
              .ticks = record.ticks,
              .sequence = record.sequence,
              .event = record.event,
              .parent = record.parent,
              .entered = (record.flags & shm::kProbeEntered) != 0,
              .returned = (record.flags & shm::kProbeReturned) != 0,
              .stack_is_short = (record.flags & shm::kProbeShortStack) != 0};
  if ((record.flags & shm::kProbeHasValue) != 0) hit.value = record.value;
  if ((record.flags & shm::kProbeHasRegisters) != 0) {
    std::memcpy(&registers, after.data(), sizeof registers);
    hit.registers = &registers;
    hit.stack =
        after.subspan(sizeof registers / sizeof after[0], record.stack_bytes / sizeof after[0]);
  }
  return hit;
}

// Returns the record at the beginning of `rest`, which is followed by `to_end` bytes of the ring;
// nullopt if it is invalid. REQUIRES: room for a ProbeRecord.
std::optional<shm::ProbeRecord> RecordAt(std::span<const std::uint64_t> rest,
                                         std::uint64_t to_end) {
  shm::ProbeRecord record;
  std::memcpy(&record, rest.data(), sizeof record);
  const bool fits = record.size_bytes >= kRecordBytes && record.size_bytes % kRecordBytes == 0 &&
                    record.size_bytes <= kMostRecordBytes && record.size_bytes <= to_end;
  const bool is_sound =
      record.kind == shm::kProbeFill ? record.size_bytes == to_end : IsSound(record);
  return fits && is_sound ? std::optional(record) : std::nullopt;
}

}  // namespace

Records VisitRecords(std::span<const std::uint64_t> untrusted_words, std::uint64_t to_ring_end,
                     std::size_t most, const std::function<void(const RingHit&)>& visit) {
  Records records;
  const std::size_t end = untrusted_words.size_bytes();
  while (end - records.bytes >= kRecordBytes && records.hits < most) {
    const auto rest = untrusted_words.subspan(records.bytes / sizeof untrusted_words[0]);
    const auto record = RecordAt(rest, to_ring_end - records.bytes);
    records.is_broken = !record;
    if (!record || record->size_bytes > end - records.bytes) return records;
    if (record->kind != shm::kProbeFill) {
      shm::ProbeRegisters registers;
      visit(HitOf(*record, rest.subspan(kRecordBytes / sizeof rest[0]), registers));
      ++records.hits;
    }
    records.bytes += record->size_bytes;
  }
  return records;
}

Records WipeRecords(std::span<std::uint64_t> untrusted_words, std::uint64_t to_ring_end) {
  Records records;
  const std::size_t end = untrusted_words.size_bytes();
  while (end - records.bytes >= kRecordBytes) {
    const auto rest = untrusted_words.subspan(records.bytes / sizeof untrusted_words[0]);
    auto record = RecordAt(rest, to_ring_end - records.bytes);
    records.is_broken = !record;
    if (!record || record->size_bytes > end - records.bytes) return records;
    const std::size_t words = record->size_bytes / sizeof rest[0];
    std::fill_n(rest.begin(), words, 0);
    record->flags &= static_cast<std::uint16_t>(~shm::kProbeHasRegisters);
    record->stack_bytes = 0;
    std::memcpy(rest.data(), &*record, sizeof *record);
    if (record->kind != shm::kProbeFill) ++records.hits;
    records.bytes += record->size_bytes;
  }
  return records;
}

}  // namespace fieldcost::probe
