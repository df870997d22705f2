#include "agent/preload/slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/preload/record.h"
#include "agent/preload/workspace.h"
#include "agent/preload/x86_64/machine.h"

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

bool LeadsToStub(const PatchedSlot& entry) {
  const uint64_t value = __atomic_load_n(entry.slot, __ATOMIC_RELAXED);
  return value == StubOf(entry.pick) || value == SamplingStubOf(entry.pick);
}

void Forget(uint32_t index) { workspace->patched[index] = workspace->patched[--patched_count]; }

}  // namespace

uint64_t ResolveSlot(const ElfObject* objects, uint32_t object_count, const ElfObject& object,
                     const Elf64_Rela& relocation, const uint64_t* slot, bool may_ask_loader) {
  const uint64_t value = __atomic_load_n(slot, __ATOMIC_RELAXED);
  // An unbound slot leads back into its own object's PLT.
  if (value != 0 && !Contains(object, value)) return value;
  const char* const name = NameOf(object, relocation);
  const char* const version = NeededVersion(object, relocation);
  for (uint32_t i = 0; i < object_count; ++i) {
    const Elf64_Sym* const definition = FindExport(objects[i], name, version);
    if (definition == nullptr) continue;
    if (ELF64_ST_TYPE(definition->st_info) == STT_FUNC) {
      return objects[i].base + definition->st_value;
    }
    if (!may_ask_loader) return 0;
    // Not for every slot: dlvsym passes over definitions without a version, which the loader takes.
    return reinterpret_cast<uint64_t>(*version == '\0' ? dlsym(RTLD_DEFAULT, name)
                                                       : dlvsym(RTLD_DEFAULT, name, version));
  }
  return 0;
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
    if (LeadsToStub(workspace->patched[i]))
      Write(workspace->patched[i].slot, workspace->patched[i].read_only, value);
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

PatchLock::PatchLock() : signals_(0), errno_(errno), held_(false) {
  const uint64_t all = ~uint64_t{0};
  SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<uint64_t>(&all),
             reinterpret_cast<uint64_t>(&signals_), sizeof all);
  held_ = __atomic_exchange_n(&patch_lock, 1, __ATOMIC_ACQUIRE) == 0;
}

PatchLock::~PatchLock() {
  if (held_) __atomic_store_n(&patch_lock, 0, __ATOMIC_RELEASE);
  SystemCall(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<uint64_t>(&signals_), 0,
             sizeof signals_);
  errno = errno_;
}

}  // namespace fieldcost::preload
