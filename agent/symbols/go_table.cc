#include "agent/symbols/go_table.h"

#include <gelf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "agent/symbols/x86_64/symbols_machine.h"

namespace fieldcost::symbols {
namespace {

// Linkers align the table at least to this.
constexpr std::size_t kTableAlignment = 8;
// The position of runtime.text in the runtime's description of the program (Go 1.26 and later),
// which begins with the address of the table.
constexpr std::uint64_t kTextStartInModule = 176;

struct Section {
  std::string_view name;
  GElf_Shdr header{};
  Elf_Scn* at = nullptr;
};

std::vector<Section> SectionsOf(Elf* elf) {
  std::vector<Section> sections;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return sections;
  for (Elf_Scn* at = elf_nextscn(elf, nullptr); at != nullptr; at = elf_nextscn(elf, at)) {
    Section section{.name = {}, .header = {}, .at = at};
    if (gelf_getshdr(at, &section.header) == nullptr) continue;
    const char* const name = elf_strptr(elf, names, section.header.sh_name);
    if (name != nullptr) section.name = name;
    sections.push_back(section);
  }
  return sections;
}

std::span<const std::uint8_t> BytesOf(const Section& section) {
  if (section.header.sh_type != SHT_PROGBITS) return {};
  const Elf_Data* const data = elf_getdata(section.at, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

class Finder {
 public:
  explicit Finder(Elf* elf) : sections_(SectionsOf(elf)) {}

  std::optional<GoFunctions> Find() const {
    for (const Section& section : sections_) {
      const bool is_alone =
          section.name == ".gopclntab" || section.name == ".data.rel.ro.gopclntab";
      // GNU ld puts the tables of position-independent programs among other data.
      if (!is_alone && section.name != ".data.rel.ro") continue;
      const auto bytes = BytesOf(section);
      for (std::size_t at = 0; at < bytes.size(); at += kTableAlignment) {
        if (GoFunctions::Begins(bytes.subspan(at))) {
          return GoFunctions::Of(bytes.subspan(at), TextStart(section.header.sh_addr + at));
        }
        if (is_alone) break;
      }
    }
    return std::nullopt;
  }

 private:
  std::uint64_t TextStart(std::uint64_t table) const {
    const std::uint64_t stated = LoadedWord(table + GoFunctions::kTextStartPosition);
    if (stated != 0) return stated;
    for (const Section& section : sections_) {
      const std::uint64_t module = section.header.sh_addr;
      if (section.name == ".go.module" && LoadedWord(module) == table) {
        return LoadedWord(module + kTextStartInModule);
      }
    }
    return 0;
  }

  // Returns the word that the program has at an address once it is loaded; 0 if no section contains
  // it.
  std::uint64_t LoadedWord(std::uint64_t address) const {
    if (const auto relocated = RelocatedWord(address)) return *relocated;
    std::uint64_t word = 0;
    for (const Section& section : sections_) {
      const auto bytes = BytesOf(section);
      const std::uint64_t inside = address - section.header.sh_addr;
      if ((section.header.sh_flags & SHF_ALLOC) == 0 || inside >= bytes.size() ||
          bytes.size() - inside < sizeof word) {
        continue;
      }
      std::memcpy(&word, &bytes[inside], sizeof word);
      return word;
    }
    return word;
  }

  std::optional<std::uint64_t> RelocatedWord(std::uint64_t address) const {
    for (const Section& section : sections_) {
      if (section.header.sh_type != SHT_RELA || section.header.sh_entsize == 0) continue;
      Elf_Data* const data = elf_getdata(section.at, nullptr);
      if (data == nullptr) continue;
      GElf_Rela entry;
      for (int i = 0; gelf_getrela(data, i, &entry) != nullptr; ++i) {
        if (entry.r_offset == address && GELF_R_TYPE(entry.r_info) == kRelativeWord) {
          return static_cast<std::uint64_t>(entry.r_addend);
        }
      }
    }
    return std::nullopt;
  }

  std::vector<Section> sections_;
};

}  // namespace

std::optional<GoFunctions> FindGoFunctions(Elf* elf) { return Finder(elf).Find(); }

}  // namespace fieldcost::symbols
