#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/read_at.h"
#include "common/base/result.h"

namespace fieldcost::unwind {

// The parts of an ELF file that are needed to unwind through its code. Addresses are in the file's
// address space (vaddr), before the loader moves it.

struct ElfSegment {
  std::uint64_t offset = 0;  // in the file
  std::uint64_t address = 0;
  std::uint64_t file_bytes = 0;
  bool executable = false;
};

struct ElfLayout {
  std::vector<ElfSegment> segments;  // PT_LOAD, in the order of the file
  std::uint64_t entry = 0;           // 0: none
  std::uint64_t lowest_address = 0;
  std::uint64_t text_bytes = 0;  // of executable segments
  // The location of .eh_frame; 0 bytes: there is none.
  std::uint64_t eh_frame_address = 0;
  std::uint64_t eh_frame_offset = 0;
  std::uint64_t eh_frame_bytes = 0;
  bool is_go = false;  // written by Go's linker
};

inline constexpr std::size_t kMostElfSegments = 512;
// Maximum span of everything loaded from a module: offsets in it, and up to 64 KiB beyond it, fit
// into 32 bits.
inline constexpr std::uint64_t kMostElfSpan = (std::uint64_t{1} << 32) - (std::uint64_t{1} << 16);

// Reads only headers. Errors: kCorrupt; kUnsupported if this is not an ELF file for x86-64. Pure.
Result<ElfLayout> ReadElfLayout(const ReadAt& read_untrusted);

// Returns by how much the loader moved the part of the file from `file_offset` on, which it mapped
// at `start`; nullopt if no executable segment is there. Arithmetic is modulo 2^64.
std::optional<std::uint64_t> LoadBias(const ElfLayout& layout, std::uint64_t start,
                                      std::uint64_t file_offset);

}  // namespace fieldcost::unwind
