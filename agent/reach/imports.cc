#include "agent/reach/imports.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "agent/reach/elf_file.h"
#include "agent/reach/reach.h"
#include "agent/reach/x86_64/reach_machine.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/shm/never_measured.h"
#include "common/shm/x86_64/slot_uses.h"

namespace fieldcost::reach {
namespace {

constexpr std::size_t kMaxRelocations = 1 << 20;

// The tables that the dynamic section refers to, given by their file offsets.
struct Tables {
  std::vector<Elf64_Rela> relocations;  // DT_RELA
  std::vector<Elf64_Rela> plt;          // DT_JMPREL
  std::uint64_t symbols = 0;
  std::string strings;
};

std::vector<Elf64_Rela> ReadRelocations(const ReadAt& read, const ElfFile& elf,
                                        std::uint64_t address, std::uint64_t bytes) {
  const auto offset = elf.OffsetOf(address);
  if (!offset || bytes == 0) return {};
  // The count is untrusted, so memory is allocated only for entries that exist.
  constexpr std::size_t kAtOnce = 4096;
  const std::size_t count = static_cast<std::size_t>(
      std::min<std::uint64_t>(bytes / sizeof(Elf64_Rela), kMaxRelocations));
  std::vector<Elf64_Rela> relocations;
  while (relocations.size() < count) {
    const std::size_t before = relocations.size();
    const std::size_t wanted = std::min(kAtOnce, count - before);
    relocations.resize(before + wanted);
    const std::size_t got = read(*offset + before * sizeof(Elf64_Rela), relocations.data() + before,
                                 wanted * sizeof(Elf64_Rela));
    relocations.resize(before + got / sizeof(Elf64_Rela));
    if (got < wanted * sizeof(Elf64_Rela)) break;
  }
  return relocations;
}

Tables ReadTables(const ReadAt& read, const ElfFile& elf) {
  std::map<Elf64_Sxword, std::uint64_t> values = ReadDynamicTags(read, *elf.dynamic);
  const auto symbols = elf.OffsetOf(values[DT_SYMTAB]);
  if (!symbols) return {};
  return {.relocations = ReadRelocations(read, elf, values[DT_RELA], values[DT_RELASZ]),
          .plt = ReadRelocations(read, elf, values[DT_JMPREL], values[DT_PLTRELSZ]),
          .symbols = *symbols,
          .strings = ReadStrings(read, elf, values[DT_STRTAB], values[DT_STRSZ])};
}

// Searches the program's code for uses of its GLOB_DAT slots.
class SlotUses {
 public:
  SlotUses(const ReadAt& read, const ElfFile& elf, bool is_fixed, const Tables& tables) {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
    for (const Elf64_Rela& relocation : tables.relocations) {
      if (ELF64_R_TYPE(relocation.r_info) != kDataSlot) continue;
      first = std::min(first, relocation.r_offset);
      last = std::max(last, relocation.r_offset);
    }
    if (first > last) return;
    const std::uint64_t words = std::min<std::uint64_t>((last - first) / 8 + 1, shm::kMaxSlotWords);
    uses_.assign(static_cast<std::size_t>(words), shm::kSlotAsked);
    range_ = {.first = first,
              .words = static_cast<std::uint32_t>(words),
              .is_fixed = is_fixed && first >> 31 == 0,
              .uses = uses_.data()};
    if (!SearchCode(read, elf)) uses_.clear();
  }

  bool Has(const Elf64_Rela& relocation, shm::SlotUse use) const {
    const std::uint64_t offset = relocation.r_offset - range_.first;
    if (offset % 8 != 0 || offset / 8 >= uses_.size()) return use == shm::kSlotTaken;
    return (uses_[static_cast<std::size_t>(offset / 8)] & use) != 0;
  }

 private:
  // Returns false if the code exceeds the limit of the search in the program, which then measures
  // none of the slots.
  bool SearchCode(const ReadAt& read, const ElfFile& elf) {
    std::uint64_t left = shm::kMaxSearchedCodeBytes;
    for (const Elf64_Phdr& load : elf.loads) {
      if ((load.p_flags & PF_X) == 0) continue;
      if (load.p_filesz > left) return false;
      left -= load.p_filesz;
      if (!SearchSegment(read, load)) return false;
    }
    return true;
  }
  bool SearchSegment(const ReadAt& read, const Elf64_Phdr& load) {
    constexpr std::size_t kAtOnce = 1 << 20;
    constexpr std::size_t kBefore = shm::kBytesBeforeDisplacement;
    constexpr std::size_t kLess = kBefore + shm::kDisplacementBytes - 1;
    std::vector<std::uint8_t> code;
    for (std::uint64_t at = 0; at + kLess < load.p_filesz; at += kAtOnce) {
      code.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(kAtOnce + kLess, load.p_filesz - at)));
      if (read(load.p_offset + at, code.data(), code.size()) != code.size()) return false;
      shm::FindSlotUses(code.data(), kBefore, code.size() - kLess + kBefore, load.p_vaddr + at,
                        range_);
    }
    return true;
  }

  std::vector<std::uint8_t> uses_;
  shm::SlotRange range_{};
};

}  // namespace

bool IsNeverMeasured(std::string_view symbol) {
  if (symbol.starts_with("_ITM_")) return true;  // absent from most programs
  symbol.remove_prefix(std::min(symbol.find_first_not_of('_'), symbol.size()));
  return std::ranges::any_of(shm::kNeverMeasured, [symbol](const shm::NamePattern& pattern) {
    return GlobMatch({pattern.text, pattern.bytes}, symbol);
  });
}

namespace {

// Collects the relocations of each symbol by symbol number.
class Collector {
 public:
  Collector(const ReadAt& read, const Tables& tables) : read_(read), tables_(tables) {}

  // Null unless the symbol is a function of another object.
  ImportedFunction* Of(const Elf64_Rela& relocation) {
    const auto number = static_cast<std::uint32_t>(ELF64_R_SYM(relocation.r_info));
    const auto [place, is_new] = places_.try_emplace(number, kNone);
    if (is_new && functions_.size() < kMaxImports) place->second = Add(number);
    return place->second == kNone ? nullptr : &functions_[place->second];
  }
  std::vector<ImportedFunction> Take() { return std::move(functions_); }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  std::size_t Add(std::uint32_t number) {
    Elf64_Sym symbol;
    if (!ReadObject(read_, tables_.symbols + std::uint64_t{number} * sizeof symbol, symbol)) {
      return kNone;
    }
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool may_be_function = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    if (symbol.st_shndx != SHN_UNDEF || !may_be_function) return kNone;
    if (symbol.st_name == 0 || symbol.st_name >= tables_.strings.size()) return kNone;
    const std::string_view name = NameAt(tables_.strings, symbol.st_name);
    if (IsNeverMeasured(name)) return kNone;
    functions_.push_back({.untrusted_symbol = std::string(name)});
    return functions_.size() - 1;
  }

  const ReadAt& read_;
  const Tables& tables_;
  std::map<std::uint32_t, std::size_t> places_;
  std::vector<ImportedFunction> functions_;
};

// Whether one of the globs matches a function of that name.
bool IsMeant(std::string_view globs, std::string_view symbol) {
  for (const std::string_view glob : Split(globs, ",")) {
    const std::size_t mark = glob.find('!');
    if (GlobMatch(mark == std::string_view::npos ? glob : glob.substr(mark + 1), symbol))
      return true;
  }
  return false;
}

// Also functions that only words of data refer to.
std::vector<ImportedFunction> Collect(const ReadAt& read) {
  Elf64_Ehdr header;
  if (!ReadObject(read, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kElfMachine) {
    return {};
  }
  const auto elf = ReadElfFile(read, header);
  if (!elf || !elf->dynamic) return {};
  const Tables tables = ReadTables(read, *elf);
  const SlotUses uses(read, *elf, header.e_type == ET_EXEC, tables);
  Collector imports(read, tables);
  for (const Elf64_Rela& relocation : tables.plt) {
    if (ELF64_R_TYPE(relocation.r_info) != kCallSlot) continue;
    if (ImportedFunction* const function = imports.Of(relocation)) function->has_plt = true;
  }
  for (const Elf64_Rela& relocation : tables.relocations) {
    if (ELF64_R_TYPE(relocation.r_info) != kDataSlot) continue;
    ImportedFunction* const function = imports.Of(relocation);
    if (function == nullptr) continue;
    function->has_data_slot = true;
    function->is_called_directly |= uses.Has(relocation, shm::kSlotCalled);
    function->is_address_taken |= uses.Has(relocation, shm::kSlotTaken);
  }
  for (const Elf64_Rela& relocation : tables.relocations) {
    if (ELF64_R_TYPE(relocation.r_info) != kAddressWord) continue;
    if (ImportedFunction* const function = imports.Of(relocation)) {
      function->is_address_taken = true;
      function->is_in_data = true;
    }
  }
  return imports.Take();
}

}  // namespace

std::vector<ImportedFunction> ReadImports(const ReadAt& read) {
  std::vector<ImportedFunction> functions = Collect(read);
  std::erase_if(functions, [](const ImportedFunction& function) { return !function.has_slot(); });
  return functions;
}

std::set<std::string> AddressesTaken(const std::filesystem::path& file, bool data_slots) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::set<std::string> names;
  if (!fd.valid()) return names;
  for (const ImportedFunction& function : Collect(ReaderOf(fd))) {
    const bool is_seen = data_slots && !function.is_in_data;
    if (function.is_address_taken && !is_seen) names.insert(function.untrusted_symbol);
  }
  return names;
}

std::vector<ImportedFunction> ImportsOfProgram(const std::string& name) {
  const auto explained = ExplainProgram(FindProgram(name));
  if (!explained || explained->program.empty()) return {};
  const UniqueFd fd(::open(explained->program.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return fd.valid() ? ReadImports(ReaderOf(fd)) : std::vector<ImportedFunction>();
}

CallsWithoutPlt WithoutPlt(std::span<const ImportedFunction> imports) {
  CallsWithoutPlt calls;
  for (const ImportedFunction& function : imports) {
    if (function.has_plt) continue;
    (function.can_be_measured() ? calls.measured_if_named : calls.address_taken)
        .push_back(function.untrusted_symbol);
  }
  return calls;
}

std::string AddressTakenPhrase(std::string_view program) {
  return fmt::format(
      "{} loads the address (a function pointer, or a build with -fno-plt), which must stay the "
      "true one, so calls are not measured; selection.data_slots = true in agent.toml (fieldcost "
      "run) or --function-pointers (fieldcost measure, fieldcost trace) measures them",
      program);
}

std::string WhyNotMeasured(std::string_view program, std::span<const ImportedFunction> imports,
                           std::string_view globs) {
  bool is_any_meant = false;
  for (const ImportedFunction& function : imports) {
    if (!IsMeant(globs, function.untrusted_symbol)) continue;
    if (function.can_be_measured()) return {};
    is_any_meant = true;
  }
  return is_any_meant ? AddressTakenPhrase(program) : std::string();
}

}  // namespace fieldcost::reach
