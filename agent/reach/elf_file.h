#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/read_at.h"

namespace fieldcost::reach {

inline constexpr std::size_t kMaxDynamicEntries = 4096;  // of those, the rest is not read

// The segments of an untrusted ELF file, as far as this folder uses them.
struct ElfFile {
  std::vector<Elf64_Phdr> loads;
  std::optional<Elf64_Phdr> interpreter;
  std::optional<Elf64_Phdr> dynamic;

  // Returns the file offset of the byte that will be loaded at this address.
  std::optional<std::uint64_t> OffsetOf(std::uint64_t address) const;
};

// Reads the program headers. nullopt if the file is damaged.
std::optional<ElfFile> ReadElfFile(const ReadAt& read, const Elf64_Ehdr& header);

template <typename T>
bool ReadObject(const ReadAt& read, std::uint64_t offset, T& object) {
  return read(offset, &object, sizeof object) == sizeof object;
}

}  // namespace fieldcost::reach
