#include "agent/intercept/functions.h"

#include <string.h>

#include "agent/intercept/text.h"
#include "agent/intercept/wrappers.h"

namespace fieldcost::intercept {
namespace {

struct Pattern {
  template <size_t kBytes>
  constexpr Pattern(const char (&literal)[kBytes])  // NOLINT(google-explicit-constructor): a list
      : text(literal), bytes(kBytes - 1) {}
  const char* text;
  size_t bytes;
};

// Names that no thunk may stand in front of, without the underscores they begin with; '*' is any
// run.
//
// The first look at their caller's frame: an intercepted dlopen loses its caller's RUNPATH, an
// intercepted dlsym(RTLD_NEXT) returns its caller, a walk that begins in the thunk shows it or ends
// there. The others go to another stack, return twice or never, or have a calling convention of
// their own. Found by searching the code of all libraries of the built-in list for functions that
// read their return address or load the stack pointer. dl_iterate_phdr reads it, too, but only to
// learn which namespace asks: ours is its caller's.
constexpr Pattern kNeverPicked[] = {
    "*_Unwind_*",  // also __libunwind_Unwind_*
    "*backtrace",
    "*getcontext",  // also _Ux86_64_getcontext
    "Unwind_*",
    "dl_find_object",
    "dl_mcount_wrapper*",
    "dlmopen",
    "dlopen",
    "dlsym",
    "dlvsym",
    "fentry__",
    "mcount",

    "*fcontext",
    "*longjmp",
    "*setcontext",
    "*setjmp",
    "*swapcontext",
    "U*_resume",  // libunwind's
    "clone",
    "coroutine_transfer",
    "longjmp_chk",
    "makecontext",
    "vfork",

    "Exit",
    "GC_pthread_exit",
    "abort",
    "assert",
    "assert_fail",
    "assert_perror_fail",
    "chk_fail",
    "cxa_*",
    "err",
    "errx",
    "exit",
    "fortify_fail",
    "gmon_start__",
    "libc_start_*",
    "morestack",
    "pthread_exit",
    "quick_exit",
    "stack_chk_fail",
    "thrd_exit",
    "tls_get_addr*",
    "verr",
    "verrx",
};

}  // namespace

bool IsSameFunction(const Function& one, const Function& other) {
  return one.target == other.target && strcmp(one.symbol, other.symbol) == 0 &&
         strcmp(one.version, other.version) == 0;
}

bool MayBeStoodBefore(const char* symbol) {
  while (*symbol == '_') ++symbol;
  const size_t bytes = strlen(symbol);
  if (bytes == 0) return true;
  for (const Pattern& pattern : kNeverPicked) {
    // Most names are told from most patterns by their first or last letter: a program has
    // thousands.
    const char first = pattern.text[0];
    const char last = pattern.text[pattern.bytes - 1];
    if (first != *symbol && first != '*') continue;
    if (last != symbol[bytes - 1] && last != '*') continue;
    if (GlobMatches(pattern.text, pattern.bytes, symbol, bytes)) return false;
  }
  return true;
}

bool FollowSlot(const SlotSpace& space, const ElfObject& importer, const Elf64_Rela& relocation,
                const uint64_t* slot, Function* function) {
  const char* const symbol = NameOf(importer, relocation);
  if (!MayBeStoodBefore(symbol)) return false;
  const uint64_t target = TargetOf(space, importer, relocation, slot);
  if (target == 0) return false;
  const ElfObject* const provider = ObjectAt(space.objects, space.object_count, target);
  if (provider == nullptr) return false;
  const Elf64_Sym* const definition =
      FindExport(*provider, symbol, NeededVersion(importer, relocation));
  if (definition == nullptr) return false;
  const unsigned type = ELF64_ST_TYPE(definition->st_info);
  if (type != STT_FUNC && type != STT_GNU_IFUNC) return false;
  *function = {};
  function->provider = provider;
  function->module = *provider->soname != '\0' ? provider->soname : FileNameOf(provider->path);
  function->symbol = provider->strings + definition->st_name;
  function->version = DefinedVersion(*provider, definition);
  function->target = target;
  if (type == STT_FUNC) {
    function->code_begin = target;
    function->code_end = target + definition->st_size;
  }
  return true;
}

}  // namespace fieldcost::intercept
