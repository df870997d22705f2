#include "agent/reach/elf_file.h"

#include <algorithm>

namespace fieldcost::reach {
namespace {

constexpr std::size_t kMaxProgramHeaders = 512;

}  // namespace

std::optional<std::uint64_t> ElfFile::OffsetOf(std::uint64_t address) const {
  for (const Elf64_Phdr& load : loads) {
    if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
    const std::uint64_t offset = load.p_offset + (address - load.p_vaddr);
    if (offset < load.p_offset) return std::nullopt;
    return offset;
  }
  return std::nullopt;
}

std::optional<ElfFile> ReadElfFile(const ReadAt& read, const Elf64_Ehdr& header) {
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      header.e_phnum > kMaxProgramHeaders) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> program_headers(header.e_phnum);
  const std::size_t bytes = program_headers.size() * sizeof(Elf64_Phdr);
  if (read(header.e_phoff, program_headers.data(), bytes) != bytes) return std::nullopt;
  ElfFile elf;
  for (const Elf64_Phdr& program_header : program_headers) {
    if (program_header.p_type == PT_LOAD) elf.loads.push_back(program_header);
    if (program_header.p_type == PT_INTERP) elf.interpreter = program_header;
    if (program_header.p_type == PT_DYNAMIC) elf.dynamic = program_header;
  }
  if (elf.loads.empty()) return std::nullopt;
  return elf;
}

std::map<Elf64_Sxword, std::uint64_t> ReadDynamicTags(const ReadAt& read,
                                                      const Elf64_Phdr& dynamic) {
  std::map<Elf64_Sxword, std::uint64_t> values;
  const std::size_t count = static_cast<std::size_t>(
      std::min<std::uint64_t>(dynamic.p_filesz / sizeof(Elf64_Dyn), kMaxDynamicEntries));
  for (std::size_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    if (!ReadObject(read, dynamic.p_offset + i * sizeof entry, entry)) break;
    if (entry.d_tag == DT_NULL) break;
    values[entry.d_tag] = entry.d_un.d_val;
  }
  return values;
}

std::string ReadStrings(const ReadAt& read, const ElfFile& elf, std::uint64_t address,
                        std::uint64_t bytes) {
  const auto offset = elf.OffsetOf(address);
  if (!offset || bytes == 0) return {};
  std::string strings(
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kMaxStringTableBytes)), '\0');
  strings.resize(read(*offset, strings.data(), strings.size()));
  return strings;
}

std::string_view NameAt(std::string_view untrusted_strings, std::size_t offset) {
  const std::string_view rest = untrusted_strings.substr(offset, kMaxSymbolBytes);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace fieldcost::reach
