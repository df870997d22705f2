#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

namespace fieldcost::intercept {

inline constexpr uint32_t kMaxObjects = 512;
inline constexpr uint32_t kMaxBuildIdBytes = 32;

// A loaded ELF object as its dynamic section describes it. Points into the object's own memory.
struct ElfObject {
  uint64_t base;   // added to its virtual addresses
  uint64_t begin;  // its mapped range
  uint64_t end;
  const char* path;    // "" for the program itself
  const char* soname;  // "" if it has none
  const char* strings;
  const Elf64_Sym* symbols;
  const uint16_t* versions;     // DT_VERSYM or null
  const Elf64_Verneed* needed;  // DT_VERNEED or null
  const Elf64_Verdef* defined;  // DT_VERDEF or null
  uint32_t needed_count;
  uint32_t defined_count;
  const uint32_t* gnu_hash;  // DT_GNU_HASH or null
  const uint32_t* old_hash;  // DT_HASH or null
  const Elf64_Rela* plt;     // DT_JMPREL
  uint32_t plt_count;
  const Elf64_Rela* relocations;  // DT_RELA
  uint32_t relocation_count;
  uint32_t relative_count;  // how many of these, at the beginning, have no symbol
  uint64_t relro_begin;     // made read-only after relocation; page-aligned, may be empty
  uint64_t relro_end;
  const Elf64_Phdr* segments;
  uint32_t segment_count;
  const Elf64_Dyn* dynamic;
  const uint8_t* build_id;
  uint32_t build_id_bytes;  // at most kMaxBuildIdBytes
  bool is_dynamic;          // loaded by dlopen, may be unloaded
};

// Stores the objects loaded now, in search order, without the vDSO, ld.so and this library. Returns
// how many.
uint32_t ListObjects(ElfObject* objects, uint32_t capacity);

// Returns how many of these (all loaded objects) belong to the program and stay loaded. The rest
// were loaded by dlopen in a constructor that ran before ours, and may be unloaded.
uint32_t CountLasting(const ElfObject* objects, uint32_t count);

// Returns false if the object has been unloaded since it was listed.
bool IsLoaded(const ElfObject& object);

// Returns true if a handle of dlopen is in the namespace of `program`. dlmopen creates other
// namespaces, with their own libraries. Takes no lock.
bool IsInNamespaceOf(const ElfObject& program, void* handle);

// Reads memory of this process that may be unmapped: instead of raising a signal, it reads less.
// Returns the number of bytes read.
size_t ReadOwnMemory(const void* from, void* to, size_t size);

// Returns true if the C library's loader is supported: glibc 2.35 or later. The functions used here
// are weak, so that programs with other C libraries still start.
bool IsKnownLibc();

// Finds the loaded object that holds `address`. Reads the loader's own description without its
// locks: the caller must ensure that the object stays loaded meanwhile. Returns false if there is
// none, or if ListObjects omits it.
bool ObjectOfAddress(uint64_t address, ElfObject* object);

// Finds the object of a dlopen handle and its direct and indirect dependencies: stores those for
// which `is_known` is false and returns how many. They stay loaded as long as the handle's owner
// keeps it. Takes no lock.
uint32_t ObjectsOfHandle(void* handle, bool (*is_known)(uint64_t address), ElfObject* objects,
                         uint32_t capacity);

// Return the dynamic symbol of a relocation, and its name.
inline const Elf64_Sym& SymbolOf(const ElfObject& object, const Elf64_Rela& relocation) {
  return object.symbols[ELF64_R_SYM(relocation.r_info)];
}
inline const char* NameOf(const ElfObject& object, const Elf64_Rela& relocation) {
  return object.strings + SymbolOf(object, relocation).st_name;
}

// Returns the version that an importing object requires, e.g. "GLIBC_2.2.5"; "" if none.
const char* NeededVersion(const ElfObject& object, const Elf64_Rela& relocation);

// Returns the version under which `object` defines a symbol that FindExport found; "" if none.
const char* DefinedVersion(const ElfObject& object, const Elf64_Sym* definition);

// Returns the definition of `name` in `object` to which the loader would bind a reference with
// `version` ("": unversioned, which gets the oldest); null if none.
const Elf64_Sym* FindExport(const ElfObject& object, const char* name, const char* version);

// The same for many objects, with the name's hash computed once.
uint32_t HashOfName(const char* name);
const Elf64_Sym* FindExport(const ElfObject& object, const char* name, uint32_t hash,
                            const char* version);

// Returns true if `address` is in an object that exports `name`. An entry of the program's PLT does
// not qualify; in programs at a fixed address, `&function` is such an entry everywhere, and calling
// it means calling through the program's slot.
bool IsDefinition(const ElfObject* objects, uint32_t count, const char* name, uint64_t address);

// Returns true if the loader has mapped `address` as writable data of the object.
bool IsData(const ElfObject& object, uint64_t address);

inline bool Contains(const ElfObject& object, uint64_t address) {
  return address >= object.begin && address < object.end;
}

// Returns the object that holds `address`; null if none.
inline const ElfObject* ObjectAt(const ElfObject* objects, uint32_t count, uint64_t address) {
  for (uint32_t i = 0; i < count; ++i) {
    if (Contains(objects[i], address)) return &objects[i];
  }
  return nullptr;
}

}  // namespace fieldcost::intercept
