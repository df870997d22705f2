#pragma once

#include <stddef.h>
#include <stdint.h>

// Functions that are never measured: libraries inside programs do not intercept them, and tools
// must not announce them.

namespace fieldcost::shm {

// Stores its text inline, so that an array needs no relocations, which would cost every program.
struct NamePattern {
  static constexpr size_t kMostBytes = 18;
  // NOLINTNEXTLINE(google-explicit-constructor): for a list of literals
  template <size_t kBytes>
  constexpr NamePattern(const char (&literal)[kBytes]) : bytes(kBytes - 1), text() {
    static_assert(kBytes - 1 <= kMostBytes);
    for (size_t i = 0; i < kBytes - 1; ++i) text[i] = literal[i];
  }
  uint8_t bytes;
  char text[kMostBytes];  // not terminated
};

// Names of functions that no thunk may intercept, without leading underscores; '*' is a wildcard.
//
// The functions of the first group read the caller's frame: an intercepted dlopen loses its
// caller's RUNPATH, an intercepted dlsym(RTLD_NEXT) returns its caller, and a stack walk that
// begins in the thunk shows it or ends there. The others switch to another stack, return twice or
// never, or have their own calling convention. Found by searching the code of all libraries in the
// built-in list for functions that read their return address or load the stack pointer.
// dl_iterate_phdr reads it, too, but only to determine the caller's namespace, which is the same
// for the thunk.
inline constexpr NamePattern kNeverMeasured[] = {
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

}  // namespace fieldcost::shm
