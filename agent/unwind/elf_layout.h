#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/read_at.h"
#include "common/base/result.h"

namespace fieldcost::unwind {

// What of an ELF file is needed to unwind through its code. Addresses are those that the file names
// (vaddr), before the loader moves it.

struct ElfSegment {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  bool executable = false;
};

struct ElfLayout {
  std::vector<ElfSegment> segments;  // PT_LOAD, as the file has them
  std::uint64_t entry = 0;           // 0: none
  std::uint64_t lowest_address = 0;
  std::uint64_t text_bytes = 0;  // of executable segments
  // Where .eh_frame is; 0 bytes: there is none.
  std::uint64_t eh_frame_address = 0;
  std::uint64_t eh_frame_offset = 0;
  std::uint64_t eh_frame_bytes = 0;
  bool is_go = false;  // written by Go's linker
};

inline constexpr std::size_t kMostElfSegments = 512;
// All that is loaded of a module lies within this: 32 bits say where, and 64 KiB behind it.
inline constexpr std::uint64_t kMostElfSpan = (std::uint64_t{1} << 32) - (std::uint64_t{1} << 16);

// Reads headers alone. kCorrupt; kUnsupported: no ELF file for x86-64. Pure.
Result<ElfLayout> ReadElfLayout(const ReadAt& read_untrusted);

// By how much the loader moved what it mapped from `file_offset` on to `start`; nullopt if no
// executable segment lies there. Arithmetic modulo 2^64.
std::optional<std::uint64_t> LoadBias(const ElfLayout& layout, std::uint64_t start,
                                      std::uint64_t file_offset);

}  // namespace fieldcost::unwind
