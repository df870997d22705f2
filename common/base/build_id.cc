#include "common/base/build_id.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/text.h"

namespace fieldcost {
namespace {

constexpr std::size_t kMaxProgramHeaders = 512;
constexpr std::uint64_t kMaxNoteBytes = 64 * 1024;  // per segment
constexpr std::size_t kMaxBuildIdBytes = 32;
constexpr std::string_view kGnu("GNU\0", 4);

constexpr std::uint64_t Padded(std::uint32_t bytes) { return (std::uint64_t{bytes} + 3) & ~3ULL; }

std::optional<std::string> BuildIdAmong(std::string_view untrusted_notes) {
  std::string_view rest = untrusted_notes;
  Elf64_Nhdr header;
  while (rest.size() >= sizeof header) {
    std::memcpy(&header, rest.data(), sizeof header);
    const std::uint64_t name_bytes = Padded(header.n_namesz);
    const std::uint64_t all = sizeof header + name_bytes + Padded(header.n_descsz);
    if (all > rest.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == kGnu.size() &&
        rest.substr(sizeof header, kGnu.size()) == kGnu) {
      const std::string_view id = rest.substr(
          sizeof header + name_bytes, std::min<std::size_t>(header.n_descsz, kMaxBuildIdBytes));
      return HexEncode(id);
    }
    rest.remove_prefix(all);
  }
  return std::nullopt;
}

}  // namespace

std::string BuildIdIn(const ReadAt& read) {
  Elf64_Ehdr header;
  if (read(0, &header, sizeof header) != sizeof header ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMaxProgramHeaders) {
    return {};
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  segments.resize(read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr)) /
                  sizeof(Elf64_Phdr));
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_NOTE) continue;
    std::string notes(
        static_cast<std::size_t>(std::min<std::uint64_t>(segment.p_filesz, kMaxNoteBytes)), '\0');
    notes.resize(read(segment.p_offset, notes.data(), notes.size()));
    if (auto id = BuildIdAmong(notes)) return std::move(*id);
  }
  return {};
}

}  // namespace fieldcost
