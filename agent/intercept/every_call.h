#pragma once

// Shared by the libraries that intercept every call of many functions (FIELDCOST_EVERY_CALL):
// the table of their targets, their file, their start, and the parts of hooks.h that follow from
// these. A library derives its state from EveryCallProcess and implements the hooks below.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/intercept/functions.h"
#include "agent/intercept/host.h"
#include "agent/intercept/mapped_memory.h"
#include "agent/intercept/mappings.h"
#include "agent/intercept/process_file.h"
#include "agent/intercept/slots.h"
#include "agent/intercept/thunk.h"

namespace fieldcost::intercept {

// The beginning of a target: a function that slots lead to, intercepted by the thunk with the same
// number. Its pointers refer to its provider's memory; null: the provider was unloaded, or the name
// is not needed. Written under the patch lock or in the constructor.
struct TargetName {
  uint64_t address;  // the real function, or a wrapper around it
  const char* module;
  const char* symbol;
  const char* version;

  void SetName(const Function& function) {
    module = function.module;
    symbol = function.symbol;
    version = function.version;
  }
};

// How many targets are in use. Grows, under the patch lock or in the constructor.
extern uint32_t target_count;

// The beginning of a library's `fieldcost_process`. Written by the constructor before any slot is
// patched; constant afterwards.
template <typename TargetType, typename HeaderType, typename ThreadType>
struct EveryCallProcess {
  TargetType targets[kThunkCount];
  HeaderType* header;   // of the mapped file
  uint64_t file;        // its address
  ThreadType* threads;  // one per slot

  static_assert(sizeof(TargetType) == FIELDCOST_TARGET_ENTRY_BYTES);

  template <typename Part>
  Part* InFile(uint64_t offset, uint64_t index) const {
    return reinterpret_cast<Part*>(file + offset) + index;
  }

  // Creates and maps this process's file, which begins with `page` and has its size. Returns false
  // on failure.
  bool CreateFile(const HeaderType& page, const char* suffix) {
    void* const mapped = MakeProcessFile(
        host.pid, suffix, {&page, sizeof page, offsetof(HeaderType, complete)}, page.size_bytes);
    if (mapped == nullptr) return false;
    file = reinterpret_cast<uint64_t>(mapped);
    header = static_cast<HeaderType*>(mapped);
    return true;
  }

  // Detaches this process and reports it to the file's reader.
  void Detach() {
    __atomic_store_n(&host.detached, 1, __ATOMIC_RELAXED);
    __atomic_store_n(fieldcost_attached, 0, __ATOMIC_SEQ_CST);
    header->attached = 0;
  }
};

// Sets the fields that all files begin with. `multiplier` is 32.32 fixed point.
template <typename Header>
void BeginHeader(Header* header, const char (&magic)[8], uint32_t version, uint64_t size_bytes,
                 uint64_t multiplier) {
  memcpy(header->magic, magic, sizeof header->magic);
  header->version = version;
  header->size_bytes = size_bytes;
  header->pid = host.pid;
  header->parent_pid = static_cast<uint32_t>(SystemCall(SYS_getppid));
  header->attached = 1;
  header->tsc_to_ns_multiplier = multiplier;
}

// Maps an array of zeroed private memory, populated on first use. Returns null on failure.
template <typename Element>
Element* MapArray(uint64_t count) {
  return static_cast<Element*>(MapPrivate(sizeof(Element) * count));
}

// The first steps of a library's constructor. Maps the tables of this folder and knows the host.
// Returns false on failure.
bool MakeTables();

// Lists the program's objects. Returns false if the program must be left alone.
bool MayIntercept(bool data_slots, bool keeps_records);

// Notices the calls that every library must see: those that enter a sandbox or change the objects.
void InterceptNotices();

// Returns the stack of the thread with this id, the current one.
template <uint32_t kBytes>
StackRange StackOf(uint32_t tid, char (&scratch)[kBytes]) {
  return OwnStack(tid == host.pid ? host.stack_top : 0, scratch, kBytes);
}

// Hooks, in addition to those of hooks.h about bytes. All but Detach() are called under the patch
// lock.

// The process must be left alone from now on.
void Detach();

// Returns whether calls are intercepted until they return; then the callers' registers are in
// records, where a garbage collector does not look.
bool KeepsRecords();

// Describes the objects from `first_object` on, newly loaded, before their calls are intercepted.
void DescribeObjects(uint32_t first_object);

// Creates targets for the functions of interest that slots in the objects from `first_object` on
// lead to, and redirects these slots to the targets' stubs. Also called by the constructor.
void StandBeforeCalls(const SlotSpace& space, uint32_t first_object);

}  // namespace fieldcost::intercept
