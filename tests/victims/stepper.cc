// Steps through a call one instruction at a time (trap flag, SIGTRAP handler) and, at every single
// instruction between the call and its return, does everything that a signal handler may do to the
// interrupted code. Usage: stepper PATH ACTION. Lines that begin with '#' may vary between runs.

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unwind.h>

#include "tests/victims/victim_library.h"

int main(int argc, char** argv);

extern "C" const char __start_stepped_callers[];
extern "C" const char __stop_stepped_callers[];

// One small caller for each victim_fresh_N, 32 bytes apart.
__asm__(R"(
    .text
    .p2align 5
fresh_callers:
    .altmacro
    .macro fresh_caller index
    .p2align 5
    .cfi_startproc
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    call victim_fresh_\index@PLT
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .endm
    .set fresh_index, 0
    .rept 256
    fresh_caller %fresh_index
    .set fresh_index, fresh_index + 1
    .endr
    .noaltmacro
)");
extern "C" const char fresh_callers[] __asm__("fresh_callers");

namespace {

struct Thrown {};

enum class Action {
  kObserve,  // unwind to the root, re-enter measured functions, throw and catch inside
  kThrow,    // throw out of the handler, to the interrupted call's caller
  kJump,     // siglongjmp out of it
  kSight,    // call a function that was not called before
};

Action action;
void* root;  // the function that the unwinder must reach
int step;    // instructions executed in this call
int wanted;  // where to throw or jump
int failures;
int64_t of_arguments;  // the result of Callee::kArguments, less 10
sigjmp_buf jump_target;

struct Trace {
  bool caller;
  bool root;
  int frames;
};

bool IsCaller(uint64_t address) {
  return address >= reinterpret_cast<uint64_t>(__start_stepped_callers) &&
         address < reinterpret_cast<uint64_t>(__stop_stepped_callers);
}

_Unwind_Reason_Code OnFrame(_Unwind_Context* context, void* data) {
  auto* const trace = static_cast<Trace*>(data);
  int exact = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &exact) - (exact != 0 ? 0 : 1);
  trace->caller = trace->caller || IsCaller(address);
  trace->root =
      trace->root || _Unwind_FindEnclosingFunction(reinterpret_cast<void*>(address + 1)) == root;
  return ++trace->frames < 200 ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

void Observe(uint64_t address) {
  Trace trace = {};
  const _Unwind_Reason_Code end = _Unwind_Backtrace(OnFrame, &trace);
  if (!trace.caller || !trace.root || end != _URC_END_OF_STACK) {
    ++failures;
    printf("at %#lx: caller %d root %d end %d, %d frames\n", static_cast<unsigned long>(address),
           trace.caller, trace.root, end, trace.frames);
  }
  victim_noop();
  free(victim_allocate(8));
  if (victim_tail(3) != 10) ++failures;
  int caught = 0;
  try {
    victim_throw(5);
  } catch (int value) {
    caught = value;
  }
  if (caught != 5) ++failures;
}

constexpr int kFreshCallers = 256;
int next_fresh;
bool fresh_done;

void (*NextFresh())() {
  const int index = next_fresh++;
  fresh_done = next_fresh == kFreshCallers;
  return reinterpret_cast<void (*)()>(reinterpret_cast<uint64_t>(fresh_callers) +
                                      32 * static_cast<uint64_t>(index));
}

void OnTrap(int, siginfo_t*, void* context) {
  const auto address =
      static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  if (IsCaller(address)) return;
  ++step;
  if (action == Action::kObserve) return Observe(address);
  if (action == Action::kSight) {
    if (!fresh_done) NextFresh()();
    return;
  }
  if (step != wanted) return;
  if (action == Action::kThrow) throw Thrown{};
  siglongjmp(jump_target, 1);
}

inline __attribute__((always_inline)) void StepOn() {
  __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}
inline __attribute__((always_inline)) void StepOff() {
  __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

enum class Callee { kNoop, kTail, kFresh, kLookUp, kArguments };

// Steps through a call; returns false if it was left by an exception. Registers saved for the
// caller must be restored in both cases.
__attribute__((noinline, section("stepped_callers"))) bool Stepped(Callee callee,
                                                                   void (*fresh)() = nullptr) {
  uint64_t a = 11, b = 22, c = 33, d = 44, e = 55;
  __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
  bool whole = true;
  int64_t result = 10;
  try {
    StepOn();
    switch (callee) {
      case Callee::kNoop:
        victim_noop();
        break;
      case Callee::kTail:
        result = victim_tail(3);
        break;
      case Callee::kFresh:
        fresh();
        break;
      case Callee::kArguments:
        result = victim_stack_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9) - of_arguments;
        break;
      case Callee::kLookUp:  // like a function that inspects its caller
        if (dlsym(RTLD_DEFAULT, "victim_noop") == nullptr) ++failures;
        break;
    }
    StepOff();
  } catch (const Thrown&) {
    whole = false;
  }
  __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e));
  if (a != 11 || b != 22 || c != 33 || d != 44 || e != 55 || result != 10) ++failures;
  return whole;
}

bool Fresh() { return Stepped(Callee::kFresh, NextFresh()); }

void LeaveOne() {
  static jmp_buf out;
  if (setjmp(out) == 0) victim_call_back([](void*) { longjmp(out, 1); }, nullptr);
}

bool Usual() { return Stepped(Callee::kNoop); }
bool Tail() { return Stepped(Callee::kTail); }
bool Arguments() { return Stepped(Callee::kArguments); }
bool LookUp() { return Stepped(Callee::kLookUp); }
bool Sampled() {  // some of these calls are timed, some only counted
  // Since handlers call as well, each of ours is timed at random: one in 65,536 walks times none.
  const int calls = action == Action::kObserve ? 16 : 3;
  for (int i = 0; i < calls; ++i) {
    if (!Stepped(Callee::kNoop)) return false;
  }
  return true;
}
bool Nested() {
  bool whole = false;
  victim_call_back([](void* result) { *static_cast<bool*>(result) = Stepped(Callee::kNoop); },
                   &whole);
  return whole;
}
bool AfterAbandoned() {
  LeaveOne();
  return Stepped(Callee::kNoop);
}

void PlainCalls(int count) {
  for (int i = 0; i < count; ++i) victim_noop();
}

// One pass of a path at the current `wanted`; returns false if the call was left.
bool Pass(bool (*path)()) {
  step = 0;
  if (action == Action::kJump) {
    if (sigsetjmp(jump_target, 1) != 0) return false;
  }
  return path();
}

void* RunUsual(void* whole) {
  root = reinterpret_cast<void*>(RunUsual);
  *static_cast<bool*>(whole) = Pass(Usual);
  for (int i = 0; i < 3; ++i) victim_noop();
  return nullptr;
}

// A thread's first call; signals arrive on a stack that lies above the thread's own.
void* RunOnHighStack(void* whole) {
  root = reinterpret_cast<void*>(RunOnHighStack);
  bool high = false;
  Pass(Usual);
  *static_cast<bool*>(whole) = Pass(Usual);
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  high = sigaltstack(&stack, nullptr) == 0;
  if (!high) ++failures;
  return nullptr;
}

bool OnThread(void* (*function)(void*)) {
  bool whole = false;
  pthread_t thread;
  if (pthread_create(&thread, nullptr, function, &whole) != 0) abort();
  pthread_join(thread, nullptr);
  return whole;
}
bool First() { return OnThread(RunUsual); }

alignas(16) char* high_stack;
constexpr size_t kHighStackBytes = 131072;
void* RunHigh(void* whole) {
  const stack_t stack = {high_stack, 0, kHighStackBytes};
  if (sigaltstack(&stack, nullptr) != 0) abort();
  return RunOnHighStack(whole);
}
bool HighStack() {
  char stack[kHighStackBytes];  // of the first thread, above all others
  high_stack = stack;
  return OnThread(RunHigh);
}

struct Path {
  const char* name;
  bool (*run)();
  bool own_passes;  // runs Pass() itself, on its threads
};
const Path kPaths[] = {
    {"usual", Usual, false},     {"tail", Tail, false},
    {"look-up", LookUp, false},  {"arguments", Arguments, false},
    {"sampled", Sampled, false}, {"fresh", Fresh, false},
    {"nested", Nested, false},   {"after-abandoned", AfterAbandoned, false},
    {"first", First, true},      {"high-stack", HighStack, true},
};

// First calls are made here, before the walk, except in the paths about first calls.
void MakeReady() {
  for (int i = 0; i < 3; ++i) {
    try {
      victim_throw(1);
    } catch (int) {
    }
    victim_call_back([](void*) {}, nullptr);
    free(victim_allocate(8));
    victim_tail(1);
    victim_noop();
    of_arguments = victim_stack_arguments(1, 2, 3, 4, 5, 6, 7, 8, 9) - 10;
  }
}

// Walks a path once and then, unless it is only observed, acts once at each of its instructions.
// Returns the number of instructions.
int WalkAll(const Path& path) {
  const auto pass = [&path] { return path.own_passes ? path.run() : Pass(path.run); };
  if (!pass()) ++failures;
  if (action == Action::kObserve) return step;
  if (action == Action::kSight) {
    int covered = step;
    while (!fresh_done) {
      pass();
      covered += step;
    }
    return covered;
  }
  const int all = step;
  int covered = 0;
  for (wanted = 1; wanted <= all && !fresh_done; ++wanted) {
    // A call that is not measured, because too many earlier ones were left, may be shorter.
    for (int attempt = 0; attempt < 3 && pass(); ++attempt) PlainCalls(100);
    if (step == wanted) ++covered;
    PlainCalls(10);
  }
  wanted = 0;
  PlainCalls(2000);
  return covered;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  action = strcmp(argv[2], "throw") == 0   ? Action::kThrow
           : strcmp(argv[2], "jump") == 0  ? Action::kJump
           : strcmp(argv[2], "sight") == 0 ? Action::kSight
                                           : Action::kObserve;
  struct sigaction trap = {};
  trap.sa_sigaction = OnTrap;
  trap.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGTRAP, &trap, nullptr);
  for (const Path& path : kPaths) {
    if (strcmp(path.name, argv[1]) != 0) continue;
    MakeReady();
    root = reinterpret_cast<void*>(main);
    const int covered = WalkAll(path);
    root = nullptr;
    PlainCalls(10000);
    printf("# covered %d\n", covered);
    printf("failures %d\n", failures);
    return failures == 0 ? 0 : 1;
  }
  return 64;
}
