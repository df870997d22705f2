// Built with -finstrument-functions. Its argument selects its work, and so its call tree.
// Each function that a tree shows is named at the start, with its place in the program.

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" const char __ehdr_start[];

#define QUIET __attribute__((no_instrument_function))
#define TRACED extern "C" __attribute__((noinline))

namespace {

QUIET void Name(const char* name, const void* function) {
  printf("at %s %lx\n", name,
         static_cast<unsigned long>(static_cast<const char*>(function) - __ehdr_start));
}

volatile long sink;
jmp_buf back;
sigjmp_buf signal_back;

}  // namespace

TRACED int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

TRACED void leaf() { sink = sink + 1; }
TRACED void middle(int n) {
  for (int i = 0; i < n; ++i) leaf();
}
TRACED void work(int n) {
  middle(n);
  leaf();
}

// Frames of different sizes, so that an abandoned frame does not lie where the next one does.
TRACED void jumper(int n) {
  volatile char big[300];
  big[n] = 1;
  sink = sink + big[n];
  if (n % 2 == 1) longjmp(back, 1);
}
TRACED void small_frame(int n) { jumper(n); }
TRACED void large_frame() {
  volatile char big[700];
  big[3] = 1;
  sink = sink + big[3];
  leaf();
}
TRACED void jumps() {
  static volatile int i;
  while (i < 10) {
    if (setjmp(back) == 0) small_frame(i);
    large_frame();
    i = i + 1;
  }
}
// Left from the same line every time.
TRACED void recurse_and_jump(int n) {
  if (n < 0) return;
  if (n == 0) longjmp(back, 1);
  recurse_and_jump(n - 1);
  sink = sink + 1;
}
TRACED void same_line() {
  static volatile int i;
  while (i < 5) {
    if (setjmp(back) == 0) recurse_and_jump(3);
    i = i + 1;
  }
}

TRACED void thrower(int n) {
  char on_stack[64];
  memset(on_stack, n, sizeof on_stack);
  sink = on_stack[n];
  if (n == 0) throw std::runtime_error("thrown");
  thrower(n - 1);
  sink = sink + 1;
}
TRACED void catcher() {
  try {
    thrower(4);
  } catch (const std::exception& caught) {
    puts(caught.what());
  }
  leaf();
}

TRACED int deeper(int n) { return n == 0 ? 0 : deeper(n - 1) + 1; }

TRACED void allocate() {
  for (int i = 0; i < 10; ++i) {
    void* const block = malloc(100);
    sink = reinterpret_cast<long>(block);
    free(block);
  }
  void* const grown = realloc(malloc(50), 5000);
  sink = reinterpret_cast<long>(grown);
  free(grown);
}
TRACED void touch(char* pages, long count) {
  for (long i = 0; i < count; ++i) pages[i * 4096] = 1;
}
TRACED void transfer(int fd) {
  char bytes[1000] = {};
  for (int i = 0; i < 3; ++i) sink = write(fd, bytes, sizeof bytes);
  sink = pread(fd, bytes, 700, 0);
}
TRACED void asleep() {
  puts("asleep");
  fflush(stdout);
  for (;;) pause();
}
// Only the waiting is measured here.
TRACED void waits() {
  for (int i = 0; i < 20; ++i) usleep(100);
}

// 16 functions, each of which calls one of them.
using Step = void(long, int);
extern Step* const kSteps[16];
#define STEP(n)                                         \
  TRACED void step_##n(long way, int left) {            \
    sink = sink + n;                                    \
    if (left > 0) kSteps[way & 15](way >> 4, left - 1); \
    sink = sink + 1;                                    \
  }
STEP(0);
STEP(1);
STEP(2);
STEP(3);
STEP(4);
STEP(5);
STEP(6);
STEP(7);
STEP(8);
STEP(9);
STEP(10);
STEP(11);
STEP(12);
STEP(13);
STEP(14);
STEP(15);
Step* const kSteps[16] = {step_0, step_1, step_2,  step_3,  step_4,  step_5,  step_6,  step_7,
                          step_8, step_9, step_10, step_11, step_12, step_13, step_14, step_15};

extern "C" void handler(int) { leaf(); }
extern "C" void jumping_handler(int) { siglongjmp(signal_back, 1); }

namespace {

QUIET void Fork() {
  work(2);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work(100);
    puts("child");
    fflush(stdout);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  work(3);
  printf("child's status %d\n", WEXITSTATUS(status));
}

QUIET void Threads() {
  // None ends before all have worked: each has its own slot.
  pthread_barrier_t worked;
  pthread_barrier_init(&worked, nullptr, 4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&]() QUIET {
      for (int k = 0; k < 1000; ++k) work(3);
      pthread_barrier_wait(&worked);
    });
  }
  for (std::thread& thread : threads) thread.join();
  pthread_barrier_destroy(&worked);
}

// Instrumented handlers that interrupt any instruction, including ours.
QUIET void Signals(bool jumps_away) {
  static char other_stack[64 << 10];
  const stack_t other = {.ss_sp = other_stack, .ss_flags = 0, .ss_size = sizeof other_stack};
  sigaltstack(&other, nullptr);
  struct sigaction action = {};
  action.sa_handler = jumps_away ? jumping_handler : handler;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {.it_interval = {0, 200}, .it_value = {0, 200}};
  volatile long rounds = 0;
  if (sigsetjmp(signal_back, 1) == 0) setitimer(ITIMER_REAL, &often, nullptr);
  while (rounds < 20000) {
    rounds = rounds + 1;
    work(3);
  }
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
}

ucontext_t main_context;
ucontext_t fibre_context;
TRACED void yield_in_fibre() { swapcontext(&fibre_context, &main_context); }
QUIET void Fibre() {
  for (;;) {
    work(1);
    yield_in_fibre();
  }
}
QUIET void Fibres() {
  static char stack[64 << 10];
  getcontext(&fibre_context);
  fibre_context.uc_stack.ss_sp = stack;
  fibre_context.uc_stack.ss_size = sizeof stack;
  makecontext(&fibre_context, reinterpret_cast<void (*)()>(&Fibre), 0);
  for (int i = 0; i < 100; ++i) {
    swapcontext(&main_context, &fibre_context);
    work(2);
  }
}

QUIET void Pages() {
  constexpr long kPages = 500;
  void* const pages =
      mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(pages, kPages * 4096, MADV_NOHUGEPAGE);
  touch(static_cast<char*>(pages), kPages);
}

QUIET void Transfer() {
  const int fd = memfd_create("transfer", 0);
  transfer(fd);
  close(fd);
}

QUIET void Killed() {
  for (int i = 0; i < 1000; ++i) work(3);
  fflush(stdout);
  kill(getpid(), SIGKILL);
}

// New paths continuously, until it is killed.
QUIET void Endless() {
  puts("running");
  fflush(stdout);
  for (long i = 0;; i = (i + 1) % 10000) kSteps[i & 15](i >> 4, 4);
}

QUIET void Steps(long count) {
  for (long i = 0; i < count; ++i) kSteps[i & 15](i >> 4, 4);
}

QUIET int Run(const std::string& what, char** arguments) {
  if (what == "fib") printf("%d\n", fib(10));
  if (what == "work") work(3);
  if (what == "jumps") jumps();
  if (what == "same_line") same_line();
  if (what == "exception") catcher();
  if (what == "deep") printf("%d\n", deeper(20000));
  if (what == "allocate") allocate();
  if (what == "pages") Pages();
  if (what == "transfer") Transfer();
  if (what == "waits") waits();
  if (what == "fork") Fork();
  if (what == "threads") Threads();
  if (what == "asleep") asleep();
  if (what == "signals") Signals(false);
  if (what == "jumping_signals") Signals(true);
  if (what == "fibres") Fibres();
  if (what == "killed") Killed();
  if (what == "endless") Endless();
  if (what == "steps") Steps(atol(arguments[2]));
  if (what == "exec") {
    work(2);
    fflush(stdout);
    execl("/proc/self/exe", arguments[0], "work", nullptr);
  }
  return what == "exception" ? 3 : 0;
}

}  // namespace

QUIET int main(int count, char** arguments) {
#define NAME(function) Name(#function, reinterpret_cast<const void*>(&function))
  if (count < 2) return 2;
  NAME(fib), NAME(leaf), NAME(middle), NAME(work), NAME(jumper), NAME(small_frame);
  NAME(large_frame), NAME(jumps), NAME(recurse_and_jump), NAME(same_line), NAME(thrower);
  NAME(catcher), NAME(deeper), NAME(allocate), NAME(touch), NAME(transfer), NAME(waits);
  NAME(handler), NAME(jumping_handler), NAME(yield_in_fibre);
  fflush(stdout);
  return Run(arguments[1], arguments);
}
