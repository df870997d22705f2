// Finds symbols of loaded objects by hash tables and versions, as the loader does: the part of
// elf_object.h about names.
#include <string.h>

#include "agent/intercept/elf_object.h"

namespace fieldcost::intercept {
namespace {

// Returns the name of a version that `object` defines; "" if it defines no such version.
const char* DefinitionName(const ElfObject& object, uint16_t number) {
  const Elf64_Verdef* entry = object.defined;
  for (uint32_t i = 0; entry != nullptr && i < object.defined_count; ++i) {
    const auto* const bytes = reinterpret_cast<const char*>(entry);
    if (entry->vd_ndx == number) {
      const auto* const name = reinterpret_cast<const Elf64_Verdaux*>(bytes + entry->vd_aux);
      return object.strings + name->vda_name;
    }
    entry = reinterpret_cast<const Elf64_Verdef*>(bytes + entry->vd_next);
  }
  return "";
}

enum class Fit { kNone, kIfNoneBetter, kFull };

// Returns whether the loader would bind a reference with `version` ("": unversioned) to the
// definition at `index`: that definition has the version, or none at all, as in many preloaded
// libraries. An unversioned reference gets the first version that ever existed, else the default
// one.
Fit FitOf(const ElfObject& object, uint32_t index, const char* version) {
  constexpr uint16_t kHidden = 0x8000;
  constexpr uint16_t kFirstVersion = 2;
  if (object.versions == nullptr) return Fit::kFull;
  const uint16_t number = object.versions[index];
  const uint16_t plain = number & 0x7fff;
  if (*version == '\0') {
    if (plain <= kFirstVersion) return Fit::kFull;
    return (number & kHidden) == 0 ? Fit::kIfNoneBetter : Fit::kNone;
  }
  if (number < kFirstVersion) return Fit::kFull;
  return strcmp(DefinitionName(object, plain), version) == 0 ? Fit::kFull : Fit::kNone;
}

// Checks the definitions of one name until one fits.
class Choice {
 public:
  Choice(const ElfObject& object, const char* name, const char* version)
      : object_(object), name_(name), version_(version) {}

  // Returns true if this definition is the one.
  bool Try(uint32_t index) {
    const Elf64_Sym& symbol = object_.symbols[index];
    if (symbol.st_shndx == SHN_UNDEF || strcmp(object_.strings + symbol.st_name, name_) != 0) {
      return false;
    }
    const Fit fit = FitOf(object_, index, version_);
    if (fit == Fit::kFull || (fit == Fit::kIfNoneBetter && found_ == nullptr)) found_ = &symbol;
    return fit == Fit::kFull;
  }
  const Elf64_Sym* found() const { return found_; }

 private:
  const ElfObject& object_;
  const char* name_;
  const char* version_;
  const Elf64_Sym* found_ = nullptr;
};

uint32_t OldHash(const char* name) {  // as defined by the System V ABI
  uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<uint8_t>(*name);
    hash ^= (hash >> 24) & 0xf0;
    hash &= 0x0fffffff;
  }
  return hash;
}

void FindByOldHash(const ElfObject& object, uint32_t hash, Choice* choice) {
  const uint32_t bucket_count = object.old_hash[0];
  const uint32_t symbol_count = object.old_hash[1];
  if (bucket_count == 0) return;
  const uint32_t* const buckets = object.old_hash + 2;
  const uint32_t* const chain = buckets + bucket_count;
  uint32_t index = buckets[hash % bucket_count];
  for (uint32_t step = 0; index != STN_UNDEF && index < symbol_count && step < symbol_count;
       ++step, index = chain[index]) {
    if (choice->Try(index)) return;
  }
}

void FindByGnuHash(const ElfObject& object, uint32_t hash, Choice* choice) {
  const uint32_t bucket_count = object.gnu_hash[0];
  const uint32_t first_symbol = object.gnu_hash[1];
  const uint32_t bloom_words = object.gnu_hash[2];
  if (bucket_count == 0) return;
  // The filter has two bits of a word set for each name in the table.
  const auto* const bloom = reinterpret_cast<const uint64_t*>(object.gnu_hash + 4);
  const uint64_t word = bloom_words == 0 ? ~uint64_t{0} : bloom[(hash / 64) % bloom_words];
  if (((word >> (hash % 64)) & (word >> ((hash >> object.gnu_hash[3]) % 64)) & 1) == 0) return;
  const uint32_t* const buckets = object.gnu_hash + 4 + bloom_words * 2;
  const uint32_t* const chain = buckets + bucket_count;
  uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return;
  for (;; ++index) {
    const uint32_t entry = chain[index - first_symbol];
    if ((entry | 1) == (hash | 1) && choice->Try(index)) return;
    if ((entry & 1) != 0) return;
  }
}

}  // namespace

const char* DefinedVersion(const ElfObject& object, const Elf64_Sym* definition) {
  if (object.versions == nullptr) return "";
  const uint16_t number = object.versions[definition - object.symbols] & 0x7fff;
  return number < 2 ? "" : DefinitionName(object, number);
}

const char* NeededVersion(const ElfObject& object, const Elf64_Rela& relocation) {
  if (object.versions == nullptr) return "";
  const uint16_t number = object.versions[ELF64_R_SYM(relocation.r_info)] & 0x7fff;
  if (number < 2) return "";
  const auto* file = object.needed;
  for (uint32_t i = 0; file != nullptr && i < object.needed_count; ++i) {
    const auto* entry =
        reinterpret_cast<const Elf64_Vernaux*>(reinterpret_cast<const char*>(file) + file->vn_aux);
    for (uint16_t j = 0; j < file->vn_cnt; ++j) {
      if ((entry->vna_other & 0x7fff) == number) return object.strings + entry->vna_name;
      entry = reinterpret_cast<const Elf64_Vernaux*>(reinterpret_cast<const char*>(entry) +
                                                     entry->vna_next);
    }
    file =
        reinterpret_cast<const Elf64_Verneed*>(reinterpret_cast<const char*>(file) + file->vn_next);
  }
  return "";
}

uint32_t HashOfName(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<uint8_t>(*name);
  return hash;
}

const Elf64_Sym* FindExport(const ElfObject& object, const char* name, const char* version) {
  return FindExport(object, name, HashOfName(name), version);
}

const Elf64_Sym* FindExport(const ElfObject& object, const char* name, uint32_t hash,
                            const char* version) {
  Choice choice(object, name, version);
  if (object.gnu_hash != nullptr) {
    FindByGnuHash(object, hash, &choice);
  } else if (object.old_hash != nullptr) {
    FindByOldHash(object, OldHash(name), &choice);
  }
  return choice.found();
}

bool IsDefinition(const ElfObject* objects, uint32_t count, const char* name, uint64_t address) {
  const ElfObject* const object = ObjectAt(objects, count, address);
  return object != nullptr && FindExport(*object, name, "") != nullptr;
}

}  // namespace fieldcost::intercept
