#pragma once

#include <elf.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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

// Returns the entries of the dynamic section by tag; of several with one tag, the last.
std::map<Elf64_Sxword, std::uint64_t> ReadDynamicTags(const ReadAt& read,
                                                      const Elf64_Phdr& dynamic);

// Returns the string table at this address, cut off at kMaxStringTableBytes; empty if it is not in
// the file.
inline constexpr std::size_t kMaxStringTableBytes = 16 << 20;
std::string ReadStrings(const ReadAt& read, const ElfFile& elf, std::uint64_t address,
                        std::uint64_t bytes);
// The name at this offset of a string table, at most kMaxSymbolBytes of it.
// REQUIRES: offset < untrusted_strings.size().
inline constexpr std::size_t kMaxSymbolBytes = 4096;
std::string_view NameAt(std::string_view untrusted_strings, std::size_t offset);

template <typename T>
bool ReadObject(const ReadAt& read, std::uint64_t offset, T& object) {
  return read(offset, &object, sizeof object) == sizeof object;
}

}  // namespace fieldcost::reach
