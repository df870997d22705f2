#include "agent/intercept/slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/tables.h"
#include "agent/intercept/thunk.h"
#include "agent/intercept/x86_64/machine.h"

#pragma weak dlvsym  // see IsKnownLibc

// The library's table of targets (thunk.h).
extern "C" __attribute__((visibility("hidden"))) const char fieldcost_process[];

namespace fieldcost::intercept {

Tables* tables;

namespace {

uint32_t patched_count;
uint32_t patch_lock;

bool IsReadOnly(const ElfObject& object, const uint64_t* slot) {
  const auto address = reinterpret_cast<uint64_t>(slot);
  return address >= object.relro_begin && address < object.relro_end;
}

// The pages that the first write to one of them makes temporarily writable.
uint64_t lifted_begin;
uint64_t lifted_end;
bool is_lifted;

bool Write(uint64_t* slot, bool read_only, uint64_t value) {
  const uint64_t page = PageOf(reinterpret_cast<uint64_t>(slot));
  if (read_only && page >= lifted_begin && page < lifted_end) {
    if (!is_lifted) {
      is_lifted = SystemCall(SYS_mprotect, lifted_begin, lifted_end - lifted_begin,
                             PROT_READ | PROT_WRITE) == 0;
    }
    if (is_lifted) read_only = false;
  }
  if (read_only && SystemCall(SYS_mprotect, page, kPageBytes, PROT_READ | PROT_WRITE) != 0)
    return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) SystemCall(SYS_mprotect, page, kPageBytes, PROT_READ);
  return true;
}

// Fails for a slot of an object loaded by dlopen that was unloaded unnoticed.
bool LeadsToStub(const PatchedSlot& entry) {
  uint64_t value;
  if (!entry.is_dynamic) {
    value = __atomic_load_n(entry.slot, __ATOMIC_RELAXED);
  } else if (ReadOwnMemory(entry.slot, &value, sizeof value) != sizeof value) {
    return false;
  }
  return value == StubOf(entry.thunk) || value == SamplingStubOf(entry.thunk);
}

// Returns the object to whose definition the loader would bind an unbound slot: for slots of the
// program's own objects, the first one in search order. For objects loaded by dlopen, the search
// order depends on how they were opened, which cannot be determined: returns the object only if
// there is a single possibility. Returns null if there is none, or several.
const ElfObject* ProviderOfUnbound(const SlotSpace& space, const ElfObject& importer,
                                   const char* name, const char* version) {
  const ElfObject* provider = nullptr;
  const uint32_t hash = HashOfName(name);
  for (uint32_t i = 0; i < space.object_count; ++i) {
    const ElfObject& object = space.objects[i];
    if (object.is_dynamic && !importer.is_dynamic) return provider;
    // Of several definitions in the program's own libraries, the first one wins, except for objects
    // loaded by dlopen with a scope of their own, where another such library decides.
    if (provider != nullptr && !object.is_dynamic) continue;
    if (FindExport(object, name, hash, version) == nullptr) continue;
    if (provider != nullptr) return nullptr;
    if (!importer.is_dynamic) return &object;
    provider = &object;
  }
  return provider;
}

void Forget(uint32_t index) { tables->patched[index] = tables->patched[--patched_count]; }

}  // namespace

uint64_t ResolveSlot(const SlotSpace& space, const ElfObject& importer,
                     const Elf64_Rela& relocation, const uint64_t* slot) {
  const uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (value != 0 && !Contains(importer, value)) return value;
  const char* const name = NameOf(importer, relocation);
  const char* version = NeededVersion(importer, relocation);
  // An unbound slot leads back into its own object's PLT; a slot that is bound to its own object's
  // function leads to that function.
  const Elf64_Sym* const own = FindExport(importer, name, version);
  if (own != nullptr && importer.base + own->st_value == value) return value;
  const ElfObject* const provider = ProviderOfUnbound(space, importer, name, version);
  if (provider == nullptr) return 0;
  const Elf64_Sym* const definition = FindExport(*provider, name, version);
  if (ELF64_ST_TYPE(definition->st_info) == STT_FUNC) return provider->base + definition->st_value;
  if (!space.may_ask_loader) return 0;
  // dlvsym alone is insufficient: it skips unversioned definitions, which the loader accepts.
  if (*version == '\0') version = DefinedVersion(*provider, definition);
  return reinterpret_cast<uint64_t>(*version == '\0' ? dlsym(RTLD_DEFAULT, name)
                                                     : dlvsym(RTLD_DEFAULT, name, version));
}

bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value) {
  return Write(slot, IsReadOnly(object, slot), value);
}

bool ReplaceWord(const ElfObject& object, uint64_t* word, uint64_t expected, uint64_t value) {
  const auto address = reinterpret_cast<uint64_t>(word);
  // Words in code are left alone. A program may have made a part of its data read-only itself.
  if (!IsData(object, address)) return false;
  if (IsReadOnly(object, word) || !Populate(address, sizeof *word)) {
    return __atomic_load_n(word, __ATOMIC_RELAXED) == expected && Write(word, true, value);
  }
  return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED);
}

bool PatchSlot(const ElfObject& object, uint64_t* slot, uint32_t thunk, uint64_t stub) {
  if (patched_count == kMaxPatchedSlots) return false;
  const PatchedSlot entry = {slot, thunk, IsReadOnly(object, slot), object.is_dynamic};
  if (!Write(slot, entry.read_only, stub)) return false;
  tables->patched[patched_count++] = entry;
  return true;
}

void RetargetThunk(uint32_t thunk, uint64_t value, bool forget) {
  for (uint32_t i = patched_count; i-- > 0;) {
    const PatchedSlot& entry = tables->patched[i];
    if (entry.thunk != thunk) continue;
    if (LeadsToStub(entry)) Write(entry.slot, entry.read_only, value);
    if (forget) Forget(i);
  }
}

uint32_t HandOverThunk(uint32_t from, uint32_t to, uint64_t stub) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < patched_count; ++i) {
    PatchedSlot& entry = tables->patched[i];
    if (entry.thunk != from) continue;
    if (LeadsToStub(entry) && Write(entry.slot, entry.read_only, stub)) ++count;
    entry.thunk = to;
  }
  return count;
}

LiftedProtection::LiftedProtection(const ElfObject& object) {
  if (object.relro_begin >= object.relro_end) return;
  lifted_begin = object.relro_begin;
  lifted_end = object.relro_end;
}

LiftedProtection::~LiftedProtection() {
  if (is_lifted) SystemCall(SYS_mprotect, lifted_begin, lifted_end - lifted_begin, PROT_READ);
  lifted_begin = lifted_end = 0;
  is_lifted = false;
}

uint64_t TargetOfThunk(uint32_t thunk) {
  return *reinterpret_cast<const uint64_t*>(fieldcost_process +
                                            uint64_t{thunk} * FIELDCOST_TARGET_ENTRY_BYTES);
}

void GiveBackDynamicSlots() {
  for (uint32_t i = patched_count; i-- > 0;) {
    const PatchedSlot& entry = tables->patched[i];
    if (!entry.is_dynamic) continue;
    if (LeadsToStub(entry)) Write(entry.slot, entry.read_only, TargetOfThunk(entry.thunk));
    Forget(i);
  }
}

PatchLock::PatchLock(Patience patience) : signals_(0), errno_(errno), held_(false) {
  const uint64_t all = ~uint64_t{0};
  SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<uint64_t>(&all),
             reinterpret_cast<uint64_t>(&signals_), sizeof all);
  constexpr int kMostWaits = 20'000;  // one second
  for (int wait = patience == Patience::kWait ? kMostWaits : 0;; --wait) {
    held_ = __atomic_exchange_n(&patch_lock, 1, __ATOMIC_ACQUIRE) == 0;
    if (held_ || wait == 0) return;
    const timespec pause = {.tv_sec = 0, .tv_nsec = 50'000};
    SystemCall(SYS_nanosleep, reinterpret_cast<uint64_t>(&pause));
  }
}

PatchLock::~PatchLock() {
  if (held_) __atomic_store_n(&patch_lock, 0, __ATOMIC_RELEASE);
  SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<uint64_t>(&signals_), 0,
             sizeof signals_);
  errno = errno_;
}

}  // namespace fieldcost::intercept
