#include "agent/intercept/elf_object.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "agent/intercept/text_builder.h"
#include "agent/intercept/x86_64/machine.h"

// Reads loaded objects' own tables. They are trusted: the loader ran the program with them.

#pragma weak _dl_find_object
#pragma weak dlvsym

namespace fieldcost::intercept {
namespace {

struct Listing {
  ElfObject* objects;
  uint32_t capacity;
  uint32_t count;
};

// glibc makes most addresses of a dynamic section absolute in place, but not DT_VERNEED and
// DT_VERDEF, and none of the vDSO's.
uint64_t Absolute(const ElfObject& object, uint64_t value) {
  return value < object.base ? object.base + value : value;
}

// Reads an entry about symbols; leaves the object as it is if the entry is another one.
void ReadSymbolEntry(const Elf64_Dyn& entry, ElfObject* object) {
  const uint64_t value = entry.d_un.d_val;
  const uint64_t address = Absolute(*object, value);
  switch (entry.d_tag) {
    // Symbols and their names.
    case DT_STRTAB:
      object->strings = reinterpret_cast<const char*>(address);
      break;
    case DT_SYMTAB:
      object->symbols = reinterpret_cast<const Elf64_Sym*>(address);
      break;

    // Their versions.
    case DT_VERSYM:
      object->versions = reinterpret_cast<const uint16_t*>(address);
      break;
    case DT_VERNEED:
      object->needed = reinterpret_cast<const Elf64_Verneed*>(address);
      break;
    case DT_VERNEEDNUM:
      object->needed_count = static_cast<uint32_t>(value);
      break;
    case DT_VERDEF:
      object->defined = reinterpret_cast<const Elf64_Verdef*>(address);
      break;
    case DT_VERDEFNUM:
      object->defined_count = static_cast<uint32_t>(value);
      break;

    // Their hash tables.
    case DT_GNU_HASH:
      object->gnu_hash = reinterpret_cast<const uint32_t*>(address);
      break;
    case DT_HASH:
      object->old_hash = reinterpret_cast<const uint32_t*>(address);
      break;
    default:
      break;
  }
}

void ReadDynamic(const Elf64_Dyn* dynamic, ElfObject* object) {
  uint64_t soname_offset = 0;
  uint64_t plt_bytes = 0;
  uint64_t relocation_bytes = 0;
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    const uint64_t value = dynamic->d_un.d_val;
    const uint64_t address = Absolute(*object, value);
    switch (dynamic->d_tag) {
      case DT_SONAME:
        soname_offset = value;
        break;

      // Slots.
      case DT_JMPREL:
        object->plt = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_PLTRELSZ:
        plt_bytes = value;
        break;
      case DT_RELA:
        object->relocations = reinterpret_cast<const Elf64_Rela*>(address);
        break;
      case DT_RELASZ:
        relocation_bytes = value;
        break;
      case DT_RELACOUNT:
        object->relative_count = static_cast<uint32_t>(value);
        break;
      default:
        ReadSymbolEntry(*dynamic, object);
        break;
    }
  }
  object->plt_count = static_cast<uint32_t>(plt_bytes / sizeof(Elf64_Rela));
  object->relocation_count = static_cast<uint32_t>(relocation_bytes / sizeof(Elf64_Rela));
  if (object->relative_count > object->relocation_count) object->relative_count = 0;
  object->soname =
      soname_offset != 0 && object->strings != nullptr ? object->strings + soname_offset : "";
}

void ReadBuildId(const uint8_t* notes, uint64_t bytes, ElfObject* object) {
  while (bytes >= sizeof(Elf64_Nhdr)) {
    const auto* header = reinterpret_cast<const Elf64_Nhdr*>(notes);
    const uint64_t name_bytes = (header->n_namesz + 3ULL) & ~3ULL;
    const uint64_t content_bytes = (header->n_descsz + 3ULL) & ~3ULL;
    const uint64_t all = sizeof *header + name_bytes + content_bytes;
    if (all > bytes) return;
    if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
        memcmp(notes + sizeof *header, "GNU", 4) == 0) {
      object->build_id = notes + sizeof *header + name_bytes;
      object->build_id_bytes =
          header->n_descsz > kMaxBuildIdBytes ? kMaxBuildIdBytes : header->n_descsz;
      return;
    }
    notes += all;
    bytes -= all;
  }
}

// Returns false for objects that are ignored: the vDSO, ld.so, this library, and those that cannot
// be parsed.
bool ReadObject(uint64_t base, const char* path, const Elf64_Phdr* headers, unsigned count,
                ElfObject* object) {
  *object = {};
  object->base = base;
  object->path = path == nullptr ? "" : path;
  object->begin = ~uint64_t{0};
  object->segments = headers;
  object->segment_count = count;
  const Elf64_Dyn* dynamic = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    const Elf64_Phdr& header = headers[i];
    const uint64_t begin = base + header.p_vaddr;
    switch (header.p_type) {
      case PT_LOAD:
        if (begin < object->begin) object->begin = begin;
        if (begin + header.p_memsz > object->end) object->end = begin + header.p_memsz;
        break;
      case PT_DYNAMIC:
        dynamic = reinterpret_cast<const Elf64_Dyn*>(begin);
        break;
      case PT_GNU_RELRO:
        object->relro_begin = PageOf(begin);
        object->relro_end = PageOf(begin + header.p_memsz);
        break;
      case PT_NOTE:
        ReadBuildId(reinterpret_cast<const uint8_t*>(begin), header.p_memsz, object);
        break;
      default:
        break;
    }
  }
  const auto here = reinterpret_cast<uint64_t>(&ReadObject);
  if (dynamic == nullptr || Contains(*object, here)) return false;
  if (strncmp(object->path, "linux-vdso", 10) == 0) return false;
  object->dynamic = dynamic;
  ReadDynamic(dynamic, object);
  if (object->strings == nullptr || object->symbols == nullptr) return false;
  return strncmp(object->soname, "ld-linux", 8) != 0;
}

int Visit(dl_phdr_info* info, size_t, void* data) {
  auto* listing = static_cast<Listing*>(data);
  if (listing->count == listing->capacity) return 1;
  if (ReadObject(info->dlpi_addr, info->dlpi_name, info->dlpi_phdr, info->dlpi_phnum,
                 &listing->objects[listing->count])) {
    ++listing->count;
  }
  return 0;
}

bool ObjectOfMap(const link_map* map, ElfObject* object) {
  dl_find_object found;
  // Takes no lock (glibc manual, "Dynamic Linker Introspection").
  if (_dl_find_object(map->l_ld, &found) != 0 || found.dlfo_link_map != map) return false;
  const auto* const header = static_cast<const Elf64_Ehdr*>(found.dlfo_map_start);
  const auto begin = reinterpret_cast<uint64_t>(header);
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return false;
  // Program headers are usually in the first page; elsewhere they may not be loaded.
  if (header->e_phoff + header->e_phnum * sizeof(Elf64_Phdr) > kPageBytes) return false;
  const auto* const headers = reinterpret_cast<const Elf64_Phdr*>(begin + header->e_phoff);
  return ReadObject(map->l_addr, map->l_name, headers, header->e_phnum, object);
}

// Returns true if one of these objects lists `name` as needed.
bool IsNeeded(const char* name, const ElfObject* objects, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    for (const Elf64_Dyn* entry = objects[i].dynamic; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED) continue;
      if (strcmp(objects[i].strings + entry->d_un.d_val, name) == 0) return true;
    }
  }
  return false;
}

// The same for a file: by its file name or by its whole path.
bool IsFileNeeded(const char* path, const ElfObject* objects, uint32_t count) {
  const char* const name = FileNameOf(path);
  return IsNeeded(name, objects, count) || (name != path && IsNeeded(path, objects, count));
}

bool IsMapNeeded(const link_map& map, const ElfObject* objects, uint32_t count) {
  char path[256] = {};
  return ReadOwnMemory(map.l_name, path, sizeof path - 1) != 0 &&
         IsFileNeeded(path, objects, count);
}

}  // namespace

uint32_t ListObjects(ElfObject* objects, uint32_t capacity) {
  Listing listing = {objects, capacity, 0};
  dl_iterate_phdr(Visit, &listing);
  return listing.count;
}

size_t ReadOwnMemory(const void* from, void* to, size_t size) {
  const iovec local = {to, size};
  const iovec remote = {const_cast<void*>(from), size};
  const int64_t got =
      SystemCall(SYS_process_vm_readv, static_cast<uint64_t>(SystemCall(SYS_getpid)),
                 reinterpret_cast<uint64_t>(&local), 1, reinterpret_cast<uint64_t>(&remote), 1, 0);
  return got < 0 ? 0 : static_cast<size_t>(got);
}

uint32_t CountLasting(const ElfObject* objects, uint32_t count) {
  // The order is: the program, preloaded libraries, their dependencies, and then all others.
  bool past_preloaded = false;
  for (uint32_t i = 1; i < count; ++i) {
    const bool needed =
        IsNeeded(objects[i].soname, objects, i) || IsFileNeeded(objects[i].path, objects, i);
    if (past_preloaded && !needed) return i;
    past_preloaded = past_preloaded || needed;
  }
  return count;
}

bool IsLoaded(const ElfObject& object) {
  dl_find_object found;
  if (_dl_find_object(const_cast<Elf64_Dyn*>(object.dynamic), &found) != 0) return false;
  link_map map;
  return ReadOwnMemory(found.dlfo_link_map, &map, sizeof map) == sizeof map &&
         map.l_ld == object.dynamic && map.l_addr == object.base &&
         reinterpret_cast<uint64_t>(found.dlfo_map_start) <= object.begin;
}

bool IsInNamespaceOf(const ElfObject& program, void* handle) {
  constexpr uint32_t kMostSteps = 4096;
  link_map map;
  const void* at = handle;
  for (uint32_t step = 0; step < kMostSteps && ReadOwnMemory(at, &map, sizeof map) == sizeof map;
       ++step) {
    if (map.l_prev == nullptr) return map.l_ld == program.dynamic;
    at = map.l_prev;
  }
  return false;
}

bool IsData(const ElfObject& object, uint64_t address) {
  for (uint32_t i = 0; i < object.segment_count; ++i) {
    const Elf64_Phdr& segment = object.segments[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & (PF_W | PF_X)) != PF_W) continue;
    if (address - (object.base + segment.p_vaddr) < segment.p_memsz) return true;
  }
  return false;
}

bool IsKnownLibc() { return &_dl_find_object != nullptr && &dlvsym != nullptr; }

bool ObjectOfAddress(uint64_t address, ElfObject* object) {
  dl_find_object found;
  return _dl_find_object(reinterpret_cast<void*>(address), &found) == 0 &&
         ObjectOfMap(found.dlfo_link_map, object);
}

uint32_t ObjectsOfHandle(void* handle, bool (*is_known)(uint64_t address), ElfObject* objects,
                         uint32_t capacity) {
  const auto* map = static_cast<const link_map*>(handle);  // glibc's handles are link maps
  uint32_t count = 0;
  if (capacity == 0 || !ObjectOfMap(map, &objects[0]) || is_known(objects[0].begin)) return 0;
  count = 1;
  // Objects loaded with it are further down the loader's list. Other objects there may be unloaded
  // at any time.
  for (uint32_t step = 0; step < kMaxObjects && count < capacity; ++step) {
    link_map copy;
    if (ReadOwnMemory(map, &copy, sizeof copy) != sizeof copy || copy.l_next == nullptr) break;
    map = copy.l_next;
    dl_find_object found;
    if (ReadOwnMemory(map, &copy, sizeof copy) != sizeof copy ||
        _dl_find_object(copy.l_ld, &found) != 0 || found.dlfo_link_map != map) {
      break;
    }
    ElfObject* const next = &objects[count];
    if (is_known(reinterpret_cast<uint64_t>(copy.l_ld)) || !IsMapNeeded(copy, objects, count)) {
      continue;
    }
    if (ObjectOfMap(map, next)) ++count;
  }
  return count;
}

}  // namespace fieldcost::intercept
