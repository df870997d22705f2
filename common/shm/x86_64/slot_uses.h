#pragma once

#include <stddef.h>
#include <stdint.h>

// How x86-64 machine code uses GLOB_DAT slots. The preload libraries search the code of a loaded
// object, the tools that of a file; both must get the same result.
//
// A program built without a PLT calls an imported function with `call *slot(%rip)`. The same slot
// serves `&function`, so its value may be replaced only if no instruction loads it. Operands are
// recognised by their four displacement bytes alone, at every byte of the code: bytes that merely
// look like an operand can only make a slot count as loaded, never as unused.

namespace fieldcost::shm {

enum SlotUse : uint8_t {
  kSlotAsked = 1,   // the search includes this slot
  kSlotCalled = 2,  // an instruction calls or jumps through it
  kSlotTaken = 4,   // something else refers to it, so the program may know its value
};

// The maximum distance, in words, of a slot from the first one of an object.
inline constexpr uint32_t kMaxSlotWords = 65536;
// Larger code is not searched: it would delay the program too long.
inline constexpr uint64_t kMaxSearchedCodeBytes = uint64_t{64} << 20;

struct SlotRange {
  uint64_t first;  // address of the first slot
  uint32_t words;  // at most kMaxSlotWords
  bool is_fixed;   // the object is at its link address, which fits 31 bits: absolute operands, too
  uint8_t* uses;   // SlotUse bits per word
};

// Bytes of an instruction that must precede a displacement, and bytes of the displacement.
inline constexpr size_t kBytesBeforeDisplacement = 2;
inline constexpr size_t kDisplacementBytes = 4;

// Sets kSlotCalled and kSlotTaken on the searched slots for the operands that begin at
// code[from..to). `address` is that of code[0]. REQUIRES: from >= kBytesBeforeDisplacement; the
// code continues for kDisplacementBytes - 1 after `to`.
inline void FindSlotUses(const uint8_t* code, size_t from, size_t to, uint64_t address,
                         const SlotRange& range) {
  constexpr uint32_t kMostImmediateBytes = 4;
  const uint64_t bytes = uint64_t{range.words} * 8;
  const auto use = [&range, bytes](uint64_t offset, SlotUse how) {
    if (offset >= bytes || offset % 8 != 0) return;
    uint8_t& uses = range.uses[offset / 8];
    if ((uses & kSlotAsked) != 0) uses = static_cast<uint8_t>(uses | how);
  };
  for (size_t at = from; at < to; ++at) {
    int32_t displacement;
    __builtin_memcpy(&displacement, code + at, sizeof displacement);
    // The operand's target if the instruction ends with the displacement.
    const uint64_t offset = address + at + kDisplacementBytes +
                            static_cast<uint64_t>(int64_t{displacement}) - range.first;
    if (offset + kMostImmediateBytes < bytes + kMostImmediateBytes) {
      const bool is_call = code[at - 2] == 0xff && (code[at - 1] == 0x15 || code[at - 1] == 0x25);
      use(offset, is_call ? kSlotCalled : kSlotTaken);
      // The same if an immediate value of 1, 2 or 4 bytes follows.
      for (uint32_t more = 1; more <= kMostImmediateBytes; more *= 2)
        use(offset + more, kSlotTaken);
    }
    if (range.is_fixed) use(static_cast<uint32_t>(displacement) - range.first, kSlotTaken);
  }
}

}  // namespace fieldcost::shm
