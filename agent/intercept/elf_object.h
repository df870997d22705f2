#pragma once

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

namespace fieldcost::intercept {

inline constexpr uint32_t kMaxObjects = 512;
inline constexpr uint32_t kMaxBuildIdBytes = 32;

// A loaded ELF object as its dynamic section describes it. Points into the object's own memory.
struct ElfObject {
  uint64_t base;   // what to add to its virtual addresses
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
  uint32_t relative_count;  // of these, the first: they name no symbol
  uint64_t relro_begin;     // made read-only after relocation; page-aligned, may be empty
  uint64_t relro_end;
  const Elf64_Phdr* segments;
  uint32_t segment_count;
  const Elf64_Dyn* dynamic;
  const uint8_t* build_id;
  uint32_t build_id_bytes;  // at most kMaxBuildIdBytes
  bool is_dynamic;          // brought by dlopen, may be unloaded
};

// The objects loaded now, in search order, without the vDSO, ld.so and this library. Returns how
// many were stored.
uint32_t ListObjects(ElfObject* objects, uint32_t capacity);

// How many of these, all that are loaded, belong to the program and stay as long as it does. Those
// behind were brought by dlopen in a constructor that ran before ours, and may be unloaded.
uint32_t CountLasting(const ElfObject* objects, uint32_t count);

// False if the object was unloaded since it was listed, whoever did it.
bool IsLoaded(const ElfObject& object);

// True if a handle of dlopen is in the namespace of this object, which is the program itself.
// dlmopen makes others, with libraries of their own. No lock is taken.
bool IsInNamespaceOf(const ElfObject& program, void* handle);

// Reads memory of this process that may be gone: less is read then, without a signal. Returns the
// bytes read.
size_t ReadOwnMemory(const void* from, void* to, size_t size);

// True if the C library is one whose loader we know: glibc 2.35 or later. The functions asked for
// here are weak, so that programs of another one start all the same.
bool IsKnownLibc();

// The loaded object that holds `address`. Reads the loader's own description without its locks:
// whoever asks must know that it stays loaded meanwhile. False if there is none, or if it is one
// that ListObjects leaves out.
bool ObjectOfAddress(uint64_t address, ElfObject* object);

// The object that a handle of dlopen stands for and those that came with it because it needs them,
// however indirectly: stores the new ones (those that `is_known` says are not) and returns how
// many. They stay loaded as long as the handle's owner keeps it. No lock is taken.
uint32_t ObjectsOfHandle(void* handle, bool (*is_known)(uint64_t address), ElfObject* objects,
                         uint32_t capacity);

// The dynamic symbol a relocation speaks of, and its name.
inline const Elf64_Sym& SymbolOf(const ElfObject& object, const Elf64_Rela& relocation) {
  return object.symbols[ELF64_R_SYM(relocation.r_info)];
}
inline const char* NameOf(const ElfObject& object, const Elf64_Rela& relocation) {
  return object.strings + SymbolOf(object, relocation).st_name;
}

// The version an importing object asks for, e.g. "GLIBC_2.2.5"; "" if none.
const char* NeededVersion(const ElfObject& object, const Elf64_Rela& relocation);

// The version under which `object` defines a symbol that FindExport found; "" if it has none.
const char* DefinedVersion(const ElfObject& object, const Elf64_Sym* definition);

// The definition of `name` in `object` to which the loader would bind a reference that asks for
// `version` ("": for none, which gets the oldest); null if there is none.
const Elf64_Sym* FindExport(const ElfObject& object, const char* name, const char* version);

// The same for many objects: the name's hash is worked out once.
uint32_t HashOfName(const char* name);
const Elf64_Sym* FindExport(const ElfObject& object, const char* name, uint32_t hash,
                            const char* version);

// True if `address` is in an object that exports `name`. It is not if it is an entry of a program's
// PLT, which in programs at a fixed address is what `&function` is everywhere: calling that means
// calling through the program's slot.
bool IsDefinition(const ElfObject* objects, uint32_t count, const char* name, uint64_t address);

// True if the loader has mapped `address` as data of the object that may be written to.
bool IsData(const ElfObject& object, uint64_t address);

inline bool Contains(const ElfObject& object, uint64_t address) {
  return address >= object.begin && address < object.end;
}

// The one of these that holds `address`; null if none does.
inline const ElfObject* ObjectAt(const ElfObject* objects, uint32_t count, uint64_t address) {
  for (uint32_t i = 0; i < count; ++i) {
    if (Contains(objects[i], address)) return &objects[i];
  }
  return nullptr;
}

}  // namespace fieldcost::intercept
