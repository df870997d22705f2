#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace fieldcost::testing {

// An ELF file with one executable segment at kMadeAddress: headers, code and .eh_frame, which only
// the header of a binary search table refers to, as in files without sections.
inline constexpr std::uint64_t kMadeAddress = 0x10000;
inline constexpr std::uint64_t kMadeCode = 0x200;  // offset in the file

template <typename Number>
std::string Bytes(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

inline std::string MadeElf(const std::string& code, const std::string& eh_frame,
                           std::uint64_t entry = 0) {
  constexpr std::size_t kHeaderBytes = 12;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = EM_X86_64;
  header.e_entry = entry;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr load{};
  load.p_type = PT_LOAD;
  load.p_flags = PF_R | PF_X;
  load.p_vaddr = kMadeAddress;
  load.p_filesz = kMadeCode + code.size() + kHeaderBytes + eh_frame.size();
  load.p_memsz = load.p_filesz;
  Elf64_Phdr table{};
  table.p_type = PT_GNU_EH_FRAME;
  table.p_offset = kMadeCode + code.size();
  table.p_vaddr = kMadeAddress + table.p_offset;
  table.p_filesz = kHeaderBytes;
  std::string file = Bytes(header) + Bytes(load) + Bytes(table);
  file.resize(kMadeCode);
  file += code;
  // Version 1, an absolute 8-byte address, no table.
  file += std::string("\x01\x00\xff\xff", 4) +
          Bytes(kMadeAddress + kMadeCode + code.size() + kHeaderBytes);
  return file + eh_frame;
}

// The same file with the section that Go's linker adds.
inline std::string AsGo(std::string file) {
  constexpr std::string_view kNames("\0.go.buildinfo\0", 15);
  Elf64_Shdr section{};
  section.sh_name = 1;
  section.sh_type = SHT_PROGBITS;
  Elf64_Shdr names{};
  names.sh_type = SHT_STRTAB;
  names.sh_offset = file.size();
  names.sh_size = kNames.size();
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof header);
  header.e_shoff = file.size() + kNames.size();
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 2;
  header.e_shstrndx = 1;
  std::memcpy(file.data(), &header, sizeof header);
  return file + std::string(kNames) + Bytes(section) + Bytes(names);
}

inline std::string Entry(const std::string& content) {
  return Bytes(static_cast<std::uint32_t>(content.size())) + content;
}

// A CIE: code factor 1, data factor -8, absolute addresses, the return address at CFA - 8, CFA rsp
// + 8.
inline std::string MadeCommon(const std::string& augmentation = "", const std::string& more = "") {
  std::string content = Bytes(std::uint32_t{0}) + '\1' + augmentation + '\0' + "\x01\x78\x10";
  if (!augmentation.empty()) content += '\0';  // without further bytes
  return Entry(content + "\x0c\x07\x08\x90\x01" + more);
}

// An FDE that follows `before` in the section; its CIE is the section's first entry.
inline std::string MadeFunction(const std::string& before, std::uint64_t start, std::uint64_t size,
                                const std::string& program, bool augmented = false) {
  constexpr std::uint32_t kIdAt = 4;
  std::string content =
      Bytes(static_cast<std::uint32_t>(before.size()) + kIdAt) + Bytes(start) + Bytes(size);
  if (augmented) content += '\0';
  return before + Entry(content + program);
}

}  // namespace fieldcost::testing
