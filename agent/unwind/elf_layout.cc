#include "agent/unwind/elf_layout.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "agent/unwind/byte_cursor.h"
#include "agent/unwind/encoded_pointer.h"
#include "agent/unwind/x86_64/unwind_machine.h"

namespace fieldcost::unwind {
namespace {

constexpr std::size_t kMostSectionNameBytes = std::size_t{4} << 20;

template <typename Header>
std::vector<Header> ReadTable(const ReadAt& read, std::uint64_t offset, std::size_t count) {
  std::vector<Header> table(count);
  if (count != 0) table.resize(read(offset, table.data(), count * sizeof(Header)) / sizeof(Header));
  return table;
}

// Returns whether the bytes are within one segment's part of the file.
bool InFile(const ElfLayout& layout, std::uint64_t address, std::uint64_t bytes) {
  return std::any_of(layout.segments.begin(), layout.segments.end(), [&](const ElfSegment& s) {
    return address >= s.address && address - s.address <= s.file_bytes &&
           bytes <= s.file_bytes - (address - s.address);
  });
}

Status AddSegments(const std::vector<Elf64_Phdr>& headers, ElfLayout& layout) {
  std::uint64_t lowest = UINT64_MAX;
  std::uint64_t highest = 0;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_LOAD || header.p_filesz == 0) continue;
    if (header.p_vaddr > UINT64_MAX - header.p_filesz ||
        header.p_offset > UINT64_MAX - header.p_filesz) {
      return Fail(ErrorCode::kCorrupt, "a segment extends beyond the end of memory");
    }
    layout.segments.push_back({.offset = header.p_offset,
                               .address = header.p_vaddr,
                               .file_bytes = header.p_filesz,
                               .executable = (header.p_flags & PF_X) != 0});
    lowest = std::min(lowest, header.p_vaddr);
    highest = std::max(highest, header.p_vaddr + header.p_filesz);
    if ((header.p_flags & PF_X) != 0) layout.text_bytes += header.p_filesz;
  }
  if (layout.segments.empty()) return Fail(ErrorCode::kCorrupt, "it has no segment to load");
  if (highest - lowest >= kMostElfSpan) return Fail(ErrorCode::kTooLarge, "it spans 4 GiB");
  layout.lowest_address = lowest;
  return {};
}

void TakeSections(const ReadAt& read, const Elf64_Ehdr& header, ElfLayout& layout) {
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum) return;
  const auto sections = ReadTable<Elf64_Shdr>(read, header.e_shoff, header.e_shnum);
  if (header.e_shstrndx >= sections.size()) return;
  const Elf64_Shdr& names_at = sections[header.e_shstrndx];
  std::string names(
      static_cast<std::size_t>(std::min<std::uint64_t>(names_at.sh_size, kMostSectionNameBytes)),
      '\0');
  if (!names.empty()) names.resize(read(names_at.sh_offset, names.data(), names.size()));
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_name >= names.size() || section.sh_type == SHT_NOBITS) continue;
    const std::string_view rest = std::string_view(names).substr(section.sh_name);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    if (name == ".go.buildinfo") layout.is_go = true;
    if (name != ".eh_frame" || layout.eh_frame_bytes != 0 ||
        !InFile(layout, section.sh_addr, section.sh_size)) {
      continue;
    }
    layout.eh_frame_address = section.sh_addr;
    layout.eh_frame_offset = section.sh_offset;
    layout.eh_frame_bytes = section.sh_size;
  }
}

// For files without section headers: from the address in the binary search table to its segment's
// end.
void TakeSegment(const ReadAt& read, const std::vector<Elf64_Phdr>& headers, ElfLayout& layout) {
  const auto found = std::find_if(headers.begin(), headers.end(), [](const Elf64_Phdr& header) {
    return header.p_type == PT_GNU_EH_FRAME;
  });
  if (found == headers.end()) return;
  constexpr std::size_t kVersionAndEncodings = 4;
  std::uint8_t bytes[kVersionAndEncodings + sizeof(std::uint64_t)] = {};
  const std::size_t got = read(found->p_offset, bytes, sizeof bytes);
  ByteCursor cursor(std::span<const std::uint8_t>(bytes).first(got));
  const auto version = cursor.Read<std::uint8_t>();
  const auto encoding = cursor.Read<std::uint8_t>();
  cursor.Take(2);
  const auto address =
      ReadEncodedPointer(cursor, encoding, found->p_vaddr + kVersionAndEncodings, found->p_vaddr);
  if (version != 1 || !address) return;
  for (const ElfSegment& segment : layout.segments) {
    if (*address < segment.address || *address - segment.address >= segment.file_bytes) continue;
    const std::uint64_t inside = *address - segment.address;
    layout.eh_frame_address = *address;
    layout.eh_frame_offset = segment.offset + inside;
    layout.eh_frame_bytes = segment.file_bytes - inside;
    return;
  }
}

}  // namespace

Result<ElfLayout> ReadElfLayout(const ReadAt& read_untrusted) {
  Elf64_Ehdr header;
  if (read_untrusted(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kElfMachine) {
    return Fail(ErrorCode::kUnsupported, "not an ELF file for {}", kMachineName);
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostElfSegments) {
    return Fail(ErrorCode::kCorrupt, "{} program headers of {} bytes", header.e_phnum,
                header.e_phentsize);
  }
  const auto headers = ReadTable<Elf64_Phdr>(read_untrusted, header.e_phoff, header.e_phnum);
  ElfLayout layout;
  layout.entry = header.e_entry;
  FIELDCOST_TRY(AddSegments(headers, layout));
  TakeSections(read_untrusted, header, layout);
  if (layout.eh_frame_bytes == 0) TakeSegment(read_untrusted, headers, layout);
  return layout;
}

std::optional<std::uint64_t> LoadBias(const ElfLayout& layout, std::uint64_t start,
                                      std::uint64_t file_offset) {
  for (const ElfSegment& segment : layout.segments) {
    const std::uint64_t first = segment.offset / kPageBytes * kPageBytes;
    if (segment.executable && file_offset >= first &&
        file_offset < segment.offset + segment.file_bytes) {
      return start - (file_offset - segment.offset + segment.address);
    }
  }
  return std::nullopt;
}

}  // namespace fieldcost::unwind
