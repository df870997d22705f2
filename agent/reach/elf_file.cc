#include "agent/reach/elf_file.h"

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

}  // namespace fieldcost::reach
