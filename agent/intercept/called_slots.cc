#include "agent/intercept/called_slots.h"

#include <string.h>

#include "agent/intercept/tables.h"

namespace fieldcost::intercept {
namespace {

uint32_t called_count;

CalledSlotTables& Memory() { return tables->called; }

// Calls visit(relocation) for each of the object's relocations of that type.
template <typename Visitor>
void ForEachOfType(const ElfObject& object, uint32_t type, Visitor visit) {
  for (uint32_t i = object.relative_count; i < object.relocation_count; ++i) {
    const Elf64_Rela& relocation = object.relocations[i];
    if (ELF64_R_TYPE(relocation.r_info) == type) visit(relocation);
  }
}

[[gnu::cold]] shm::SlotRange RangeOf(const ElfObject& object) {
  uint64_t first = ~uint64_t{0};
  uint64_t last = 0;
  ForEachOfType(object, kDataSlot, [&](const Elf64_Rela& relocation) {
    const uint64_t address = object.base + relocation.r_offset;
    if (address < first) first = address;
    if (address > last) last = address;
  });
  if (first > last) return {};
  const uint64_t words = (last - first) / 8 + 1;
  return {.first = first,
          .words = words > shm::kMaxSlotWords ? shm::kMaxSlotWords : static_cast<uint32_t>(words),
          .is_fixed = object.base == 0 && first >> 31 == 0,
          .uses = Memory().uses};
}

// Returns the place that records whether a relocation's symbol is in data. Two symbols may share a
// place: then one of them is not measured.
uint8_t& InData(const Elf64_Rela& relocation) {
  return Memory().in_data[ELF64_R_SYM(relocation.r_info) % CalledSlotTables::kSymbols];
}

// Optimised for speed, unlike other code that runs only once: this is the loop over all bytes.
[[gnu::noinline, gnu::hot]] void SearchBytes(const uint8_t* code, size_t from, size_t to,
                                             uint64_t address, const shm::SlotRange& range) {
  shm::FindSlotUses(code, from, to, address, range);
}

// Searches one segment of code through a copy, since parts of it may be unmapped or unreadable.
[[gnu::cold]] bool SearchSegment(uint64_t begin, uint64_t bytes, const shm::SlotRange& range) {
  constexpr uint64_t kBefore = shm::kBytesBeforeDisplacement;
  constexpr uint64_t kLess = kBefore + shm::kDisplacementBytes - 1;  // bytes that begin no operand
  uint8_t* const code = Memory().code;
  for (uint64_t at = 0; at + kLess < bytes; at += CalledSlotTables::kCodeBytes) {
    uint64_t size = CalledSlotTables::kCodeBytes + kLess;
    if (size > bytes - at) size = bytes - at;
    if (ReadOwnMemory(reinterpret_cast<const void*>(begin + at), code, size) != size) return false;
    SearchBytes(code, kBefore, size - kLess + kBefore, begin + at, range);
  }
  return true;
}

}  // namespace

SlotSearch::SlotSearch(const ElfObject& object) : object_(object), range_(RangeOf(object)) {}

SlotSearch::~SlotSearch() {
  if (!is_any_asked_) return;
  memset(range_.uses, 0, range_.words);
  ForEachOfType(object_, kAddressWord,
                [](const Elf64_Rela& relocation) { InData(relocation) = 0; });
}

uint8_t* SlotSearch::UsesOf(const Elf64_Rela& relocation) {
  const uint64_t offset = object_.base + relocation.r_offset - range_.first;
  return offset % 8 != 0 || offset / 8 >= range_.words ? nullptr : &range_.uses[offset / 8];
}

void SlotSearch::Ask(const Elf64_Rela& relocation) {
  uint8_t* const uses = UsesOf(relocation);
  if (uses == nullptr) return;
  *uses = shm::kSlotAsked;
  is_any_asked_ = true;
}

bool SlotSearch::SearchCode() {
  uint64_t left = shm::kMaxSearchedCodeBytes;
  for (uint32_t i = 0; i < object_.segment_count; ++i) {
    const Elf64_Phdr& segment = object_.segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    if (segment.p_filesz > left) return false;
    left -= segment.p_filesz;
    if (!SearchSegment(object_.base + segment.p_vaddr, segment.p_filesz, range_)) return false;
  }
  return true;
}

void SlotSearch::NoteWordsOfData() {
  ForEachOfType(object_, kAddressWord,
                [](const Elf64_Rela& relocation) { InData(relocation) = 1; });
}

void SlotSearch::KeepCalledOnly() {
  ForEachOfType(object_, kDataSlot, [this](const Elf64_Rela& relocation) {
    const uint8_t* const uses = UsesOf(relocation);
    if (uses == nullptr || *uses != (shm::kSlotAsked | shm::kSlotCalled)) return;
    if (InData(relocation) != 0 || called_count == kMaxCalledSlots) return;
    Memory().slots[called_count++] = {&relocation, object_.base, object_.is_dynamic};
  });
}

void SlotSearch::Search() {
  if (!is_any_asked_ || !SearchCode()) return;
  NoteWordsOfData();
  KeepCalledOnly();
}

void ForgetDynamicCalledSlots() {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < called_count; ++i) {
    if (!Memory().slots[i].is_dynamic) Memory().slots[kept++] = Memory().slots[i];
  }
  called_count = kept;
}

const Elf64_Rela* SlotCursor::Next() {
  if (!is_past_plt_) {
    while (next_ < object_.plt_count) {
      const Elf64_Rela& relocation = object_.plt[next_++];
      if (ELF64_R_TYPE(relocation.r_info) == kCallSlot) return &relocation;
    }
    is_past_plt_ = true;
    next_ = data_too_ ? object_.relative_count : 0;
  }
  if (data_too_) {
    while (next_ < object_.relocation_count) {
      const Elf64_Rela& relocation = object_.relocations[next_++];
      if (ELF64_R_TYPE(relocation.r_info) == kDataSlot) return &relocation;
    }
    return nullptr;
  }
  while (next_ < called_count) {
    const CalledSlot& called = Memory().slots[next_++];
    if (called.base == object_.base) return called.relocation;
  }
  return nullptr;
}

}  // namespace fieldcost::intercept
