#include "agent/intercept/slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "agent/intercept/x86_64/machine.h"
#include "agent/preload/record.h"
#include "agent/preload/workspace.h"

#pragma weak dlvsym  // see IsKnownLibc

namespace fieldcost::preload {

extern "C" __attribute__((visibility("hidden"))) const char fieldcost_stubs[];
extern "C" __attribute__((visibility("hidden"))) const char fieldcost_sampling_stubs[];

namespace {

uint32_t patched_count;
uint32_t patch_lock;

bool IsReadOnly(const ElfObject& object, const uint64_t* slot) {
  const auto address = reinterpret_cast<uint64_t>(slot);
  return address >= object.relro_begin && address < object.relro_end;
}

bool Write(uint64_t* slot, bool read_only, uint64_t value) {
  const uint64_t page = reinterpret_cast<uint64_t>(slot) & ~uint64_t{4095};
  if (read_only && SystemCall(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(slot, value, __ATOMIC_RELEASE);
  if (read_only) SystemCall(SYS_mprotect, page, 4096, PROT_READ);
  return true;
}

// A slot that dlopen brought may be gone, if somebody unloaded it without our notice.
bool LeadsToStub(const PatchedSlot& entry) {
  uint64_t value;
  if (!entry.is_dynamic) {
    value = __atomic_load_n(entry.slot, __ATOMIC_RELAXED);
  } else if (ReadOwnMemory(entry.slot, &value, sizeof value) != sizeof value) {
    return false;
  }
  return value == StubOf(entry.pick) || value == SamplingStubOf(entry.pick);
}

// The object whose definition the loader would bind an unbound slot to: for what belongs to the
// program the first in search order. What dlopen brought is searched for in ways that its caller
// chose and nobody tells: only if there is no choice. Null if there is none, or if it is open.
const ElfObject* ProviderOfUnbound(const ElfObject* objects, uint32_t count,
                                   const ElfObject& importer, const char* name,
                                   const char* version) {
  const ElfObject* provider = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    if (objects[i].is_dynamic && !importer.is_dynamic) return provider;
    // What the program's own libraries offer twice is the first one's, for all but dlopen's objects
    // with a scope of their own, where a library that dlopen brought decides.
    if (provider != nullptr && !objects[i].is_dynamic) continue;
    if (FindExport(objects[i], name, version) == nullptr) continue;
    if (provider != nullptr) return nullptr;
    if (!importer.is_dynamic) return &objects[i];
    provider = &objects[i];
  }
  return provider;
}

void Forget(uint32_t index) { workspace->patched[index] = workspace->patched[--patched_count]; }

}  // namespace

uint64_t ResolveSlot(const ElfObject* objects, uint32_t object_count, const ElfObject& object,
                     const Elf64_Rela& relocation, const uint64_t* slot, bool may_ask_loader) {
  const uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (value != 0 && !Contains(object, value)) return value;
  const char* const name = NameOf(object, relocation);
  const char* version = NeededVersion(object, relocation);
  // An unbound slot leads back into its own object's PLT; one that is bound to its own object's
  // function leads to that.
  const Elf64_Sym* const own = FindExport(object, name, version);
  if (own != nullptr && object.base + own->st_value == value) return value;
  const ElfObject* const provider = ProviderOfUnbound(objects, object_count, object, name, version);
  if (provider == nullptr) return 0;
  const Elf64_Sym* const definition = FindExport(*provider, name, version);
  if (ELF64_ST_TYPE(definition->st_info) == STT_FUNC) return provider->base + definition->st_value;
  if (!may_ask_loader) return 0;
  // Not for every slot: dlvsym passes over definitions without a version, which the loader takes.
  if (*version == '\0') version = DefinedVersion(*provider, definition);
  return reinterpret_cast<uint64_t>(*version == '\0' ? dlsym(RTLD_DEFAULT, name)
                                                     : dlvsym(RTLD_DEFAULT, name, version));
}

bool WriteSlot(const ElfObject& object, uint64_t* slot, uint64_t value) {
  return Write(slot, IsReadOnly(object, slot), value);
}

uint64_t StubOf(uint32_t pick) {
  return reinterpret_cast<uint64_t>(fieldcost_stubs) + uint64_t{pick} * kStubBytes;
}

uint64_t SamplingStubOf(uint32_t pick) {
  return reinterpret_cast<uint64_t>(fieldcost_sampling_stubs) + uint64_t{pick} * kSamplingStubBytes;
}

bool PatchSlot(const ElfObject& object, uint64_t* slot, uint32_t pick) {
  if (patched_count == kMaxPatchedSlots) return false;
  const PatchedSlot entry = {slot, pick, IsReadOnly(object, slot), object.is_dynamic};
  const uint64_t stub =
      process.picks[pick].sampling_log2 == 0 ? StubOf(pick) : SamplingStubOf(pick);
  if (!Write(slot, entry.read_only, stub)) return false;
  workspace->patched[patched_count++] = entry;
  return true;
}

void RetargetPick(uint32_t pick, uint64_t value, bool forget) {
  for (uint32_t i = patched_count; i-- > 0;) {
    if (workspace->patched[i].pick != pick) continue;
    if (LeadsToStub(workspace->patched[i])) {
      Write(workspace->patched[i].slot, workspace->patched[i].read_only, value);
    }
    if (forget) Forget(i);
  }
}

void GiveBackDynamicSlots() {
  for (uint32_t i = patched_count; i-- > 0;) {
    if (!workspace->patched[i].is_dynamic) continue;
    if (LeadsToStub(workspace->patched[i])) {
      Write(workspace->patched[i].slot, workspace->patched[i].read_only,
            process.picks[workspace->patched[i].pick].target);
    }
    Forget(i);
  }
}

PatchLock::PatchLock(Patience patience) : signals_(0), errno_(errno), held_(false) {
  const uint64_t all = ~uint64_t{0};
  SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<uint64_t>(&all),
             reinterpret_cast<uint64_t>(&signals_), sizeof all);
  constexpr int kMostWaits = 20'000;  // a second
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

}  // namespace fieldcost::preload
