#include "agent/reach/exported_functions.h"

#include <elf.h>
#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "agent/reach/elf_file.h"
#include "agent/reach/imports.h"
#include "agent/reach/x86_64/reach_machine.h"
#include "common/base/file.h"

namespace fieldcost::reach {
namespace {

constexpr std::uint16_t kHiddenVersion = 0x8000;
constexpr std::uint32_t kMaxHashBuckets = 1 << 20;

using Dynamic = std::map<Elf64_Sxword, std::uint64_t>;

// The offset in the file of the table with this tag.
std::optional<std::uint64_t> TableAt(const ElfFile& elf, const Dynamic& dynamic, Elf64_Sxword tag) {
  const auto entry = dynamic.find(tag);
  return entry == dynamic.end() ? std::nullopt : elf.OffsetOf(entry->second);
}

// Counts the symbols by DT_GNU_HASH: the last chain ends with the last symbol.
std::optional<std::uint64_t> CountByGnuHash(const ReadAt& read, std::uint64_t offset) {
  struct {
    std::uint32_t buckets;
    std::uint32_t first_symbol;
    std::uint32_t bloom_words;
    std::uint32_t shift;
  } header;
  if (!ReadObject(read, offset, header) || header.buckets > kMaxHashBuckets) return std::nullopt;
  const std::uint64_t buckets_at = offset + sizeof header + std::uint64_t{header.bloom_words} * 8;
  std::vector<std::uint32_t> buckets(header.buckets);
  const std::size_t bytes = buckets.size() * sizeof(std::uint32_t);
  if (read(buckets_at, buckets.data(), bytes) != bytes) return std::nullopt;
  const std::uint32_t last = buckets.empty() ? 0 : *std::ranges::max_element(buckets);
  if (last < header.first_symbol) return header.first_symbol;  // no symbol is exported
  for (std::uint64_t number = last; number < kMaxExports; ++number) {
    std::uint32_t hash;
    if (!ReadObject(read, buckets_at + bytes + (number - header.first_symbol) * sizeof hash,
                    hash)) {
      return std::nullopt;
    }
    if ((hash & 1) != 0) return number + 1;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> CountSymbols(const ReadAt& read, const ElfFile& elf,
                                          const Dynamic& dynamic) {
  if (const auto gnu = TableAt(elf, dynamic, DT_GNU_HASH)) return CountByGnuHash(read, *gnu);
  const auto old = TableAt(elf, dynamic, DT_HASH);
  std::uint32_t counts[2];  // buckets, symbols
  if (!old || !ReadObject(read, *old, counts)) return std::nullopt;
  return counts[1];
}

bool IsOfferedFunction(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const unsigned binding = ELF64_ST_BIND(symbol.st_info);
  const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         binding != STB_LOCAL && (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

bool IsCalledByLoader(std::string_view name) { return name == "_init" || name == "_fini"; }

}  // namespace

std::optional<ExportedFunctions> ReadExports(const ReadAt& read) {
  Elf64_Ehdr header;
  if (!ReadObject(read, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfMachine ||
      header.e_type != ET_DYN) {
    return std::nullopt;
  }
  const auto elf = ReadElfFile(read, header);
  if (!elf || !elf->dynamic) return std::nullopt;
  Dynamic dynamic = ReadDynamicTags(read, *elf->dynamic);
  if ((dynamic[DT_FLAGS_1] & DF_1_PIE) != 0) return std::nullopt;  // a program
  const auto symbols = TableAt(*elf, dynamic, DT_SYMTAB);
  const auto count = CountSymbols(read, *elf, dynamic);
  if (!symbols || !count || *count > kMaxExports) return std::nullopt;
  const auto versions = TableAt(*elf, dynamic, DT_VERSYM);
  const std::string strings = ReadStrings(read, *elf, dynamic[DT_STRTAB], dynamic[DT_STRSZ]);
  ExportedFunctions functions;
  for (std::uint64_t i = 0; i < *count; ++i) {
    Elf64_Sym symbol;
    if (!ReadObject(read, *symbols + i * sizeof symbol, symbol)) return std::nullopt;
    if (!IsOfferedFunction(symbol) || symbol.st_name >= strings.size()) continue;
    std::uint16_t version = 0;
    if (versions && !ReadObject(read, *versions + i * sizeof version, version)) return std::nullopt;
    if ((version & kHiddenVersion) != 0) continue;  // for programs linked with an older library
    const std::string name(NameAt(strings, symbol.st_name));
    const bool is_never = IsNeverMeasured(name) || IsCalledByLoader(name);
    (is_never ? functions.untrusted_never_measured : functions.untrusted_names).insert(name);
  }
  return functions;
}

std::optional<ExportedFunctions> ExportsOfLibrary(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return std::nullopt;
  return ReadExports(ReaderOf(fd));
}

}  // namespace fieldcost::reach
