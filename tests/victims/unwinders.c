// Programs that inspect their own stack, leave it, or run on it twice, by every function of public
// libraries that reads its return address or switches stacks. Prints the names of the functions
// that it finds, innermost first.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

// nongnu libunwind's, whose headers cannot be installed together with LLVM's.
typedef struct {
  unsigned long words[127];
} Cursor;
int _Ux86_64_getcontext(ucontext_t* context);
int _Ux86_64_setcontext(const ucontext_t* context);
int _ULx86_64_init_local(Cursor* cursor, ucontext_t* context);
int _ULx86_64_step(Cursor* cursor);
int _ULx86_64_resume(Cursor* cursor);
int _ULx86_64_get_reg(Cursor* cursor, int number, unsigned long* value);
int unw_backtrace(void** buffer, int size);
_Unwind_Reason_Code __libunwind_Unwind_Backtrace(_Unwind_Trace_Fn function, void* data);
// Further internal names of libc.
pid_t __vfork(void);
int __clone(int (*function)(void*), void* stack, int flags, void* argument, ...);

enum { kInstructionPointer = 16 };  // UNW_X86_64_RIP
enum { kFrames = 64 };

#define FRAME __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static void PrintName(const void* address) {
  Dl_info info;
  // One byte back: a call may be a function's last instruction.
  if (dladdr((const char*)address - 1, &info) == 0 || info.dli_sname == NULL) {
    puts("?");
  } else {
    puts(info.dli_sname);
  }
}

static void PrintAll(void* const* frames, int count) {
  for (int i = 0; i < count; ++i) PrintName(frames[i]);
}

FRAME void walk_with_cursor(void) {
  ucontext_t context;
  Cursor cursor;
  unsigned long address = 0;
  if (_Ux86_64_getcontext(&context) != 0 || _ULx86_64_init_local(&cursor, &context) != 0) abort();
  do {
    if (_ULx86_64_get_reg(&cursor, kInstructionPointer, &address) != 0) abort();
    PrintName((const void*)address);
  } while (_ULx86_64_step(&cursor) > 0);
}

FRAME void walk_with_libunwind(void) {
  void* frames[kFrames];
  PrintAll(frames, unw_backtrace(frames, kFrames));
}

FRAME void walk_with_libc(void) {
  void* frames[kFrames];
  PrintAll(frames, backtrace(frames, kFrames));
}

static _Unwind_Reason_Code OnFrame(struct _Unwind_Context* context, void* data) {
  (void)data;
  PrintName((const void*)_Unwind_GetIP(context));
  return _URC_NO_REASON;
}
FRAME void walk_with_libgcc(void) { _Unwind_Backtrace(OnFrame, NULL); }
FRAME void walk_as_libgcc(void) { __libunwind_Unwind_Backtrace(OnFrame, NULL); }

// Returns a second time to the place where the context was saved.
FRAME void return_twice(void) {
  ucontext_t context;
  volatile int times = 0;
  if (_Ux86_64_getcontext(&context) != 0) abort();
  printf("time %d\n", ++times);
  if (times < 3) _Ux86_64_setcontext(&context);
}
FRAME void return_twice_with_libc(void) {
  ucontext_t context;
  volatile int times = 0;
  if (getcontext(&context) != 0) abort();
  printf("time %d\n", ++times);
  if (times < 3) setcontext(&context);
}

// Leaves two frames at once.
FRAME void leave_two(void) {
  ucontext_t context;
  Cursor cursor;
  if (_Ux86_64_getcontext(&context) != 0 || _ULx86_64_init_local(&cursor, &context) != 0) abort();
  if (_ULx86_64_step(&cursor) <= 0 || _ULx86_64_step(&cursor) <= 0) abort();
  _ULx86_64_resume(&cursor);
  puts("not reached");
}
FRAME void is_left(void) {
  leave_two();
  puts("not reached");
}
FRAME void resume(void) {
  is_left();
  puts("resumed");
}

FRAME void share_memory(void) {
  volatile int shared = 1;
  const pid_t child = __vfork();
  if (child == 0) {
    shared = 2;
    _exit(3);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  printf("%d %d\n", shared, WEXITSTATUS(status));
}

static int InClone(void* shared) {
  *(int*)shared = 2;
  return 4;
}
FRAME void clone_with_stack(void) {
  static char stack[65536] __attribute__((aligned(16)));
  int shared = 1;
  const pid_t child =
      __clone(InClone, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
  int status = 0;
  if (waitpid(child, &status, 0) != child) abort();
  printf("%d %d\n", shared, WEXITSTATUS(status));
}

FRAME void jump(void) {
  static jmp_buf target;
  volatile int times = 0;
  if (_setjmp(target) == 0 || times < 3) {
    printf("time %d\n", ++times);
    longjmp(target, 1);
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kScenarios[] = {
    {"cursor", walk_with_cursor},
    {"libunwind", walk_with_libunwind},
    {"libc", walk_with_libc},
    {"libgcc", walk_with_libgcc},
    {"as-libgcc", walk_as_libgcc},
    {"return-twice", return_twice},
    {"return-twice-with-libc", return_twice_with_libc},
    {"resume", resume},
    {"share-memory", share_memory},
    {"clone", clone_with_stack},
    {"jump", jump},
};

// A few frames, for a stack worth printing.
FRAME void inner(void (*run)(void)) {
  run();
  puts("inner goes on");
}
FRAME void outer(void (*run)(void)) {
  inner(run);
  puts("outer goes on");
}

int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 4096);
  for (size_t i = 0; i < sizeof kScenarios / sizeof kScenarios[0]; ++i) {
    if (argc > 1 && strcmp(argv[1], kScenarios[i].name) == 0) {
      outer(kScenarios[i].run);
      return 0;
    }
  }
  fprintf(stderr, "usage: unwinders SCENARIO\n");
  return 64;
}
