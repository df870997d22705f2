// Programs that are measured as in the field: random picks, for limited time, within a budget.
// They print what they do; the tests count.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/victims/tally_library.h"

static void CallAll(void) {
  tally_once();
  for (int i = 0; i < 10; ++i) tally_often();
  for (int i = 0; i < 100; ++i) tally_always();
}

static int Loop(long count) {
  for (long i = 0; i < count; ++i) tally_always();
  return 0;
}

static int Spin(long count, long rounds) {
  for (long i = 0; i < count; ++i) tally_spin(rounds);
  return 0;
}

// Many calls at first, then few for a long time.
static int Allocate(long count) {
  for (int i = 0; i < 1000; ++i) tally_allocate(1000000);
  for (long i = 0; i < count; ++i) tally_allocate(16);
  return 0;
}

static void* CallTwentyTimes(void* unused) {
  for (int i = 0; i < 20; ++i) tally_always();
  return unused;
}

// One thread after another, each of which calls a little.
static int Brief(long count) {
  for (long i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, CallTwentyTimes, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

// Waits very often, like a server; prints its progress.
static int Polls(long count) {
  for (long i = 0; i < count; ++i) {
    errno = 77;
    poll(NULL, 0, 0);
    if (errno != 77) return 1;
    if (i % 1000 == 0) CallAll();
    if (i % 10000 == 0 && printf("%ld\n", i) < 0) return 1;
  }
  return 0;
}

// Lives until its standard output is closed at the other end.
static int Hold(void) {
  alarm(60);
  puts("holding");
  struct pollfd output = {.fd = 1};
  return poll(&output, 1, -1) == 1 ? 0 : 1;
}

static int HoldWithoutDescriptors(void) {
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  return Hold();
}

// A child that continues after its parent has ended.
static int LeaveChild(void) {
  // The parent's death signal arrives after all its resources are released, including locks; the
  // end of a pipe may arrive earlier.
  sigset_t gone;
  sigemptyset(&gone);
  sigaddset(&gone, SIGUSR1);
  sigprocmask(SIG_BLOCK, &gone, NULL);
  const pid_t parent = getpid();
  if (fork() != 0) return 0;
  if (prctl(PR_SET_PDEATHSIG, SIGUSR1) != 0) return 1;
  int signal_number;
  if (getppid() == parent && sigwait(&gone, &signal_number) != 0) return 1;
  return Hold();
}

// Executes a program that is not measured.
static int Become(void) {
  unsetenv("LD_PRELOAD");
  execlp("sh", "sh", "-c", "echo holding; exec sleep 30", NULL);
  return 1;
}

// Loads a library, calls it, and unloads it, as many times as requested.
static int Plugin(long count) {
  for (long i = 0; i < count; ++i) {
    void* const plugin = dlopen("libvictim_plugin.so", i % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
    if (plugin == NULL) return 1;
    long (*run)(long) = (long (*)(long))dlsym(plugin, "plugin_run");
    if (run == NULL) return 1;
    printf("%ld\n", run(20));
    dlclose(plugin);
  }
  return 0;
}

// Loads a library and unloads it before it is called. Then loads it again, at another address.
static int PluginLate(long count) {
  void* plugin = dlopen("libvictim_plugin.so", RTLD_NOW);
  if (plugin == NULL || dlsym(plugin, "plugin_run") == NULL) return 1;
  void* const place = dlsym(plugin, "plugin_base");
  dlclose(plugin);
  for (int i = 0; i < 1024; ++i) {
    if (mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 1;
  }
  plugin = dlopen("libvictim_plugin.so", RTLD_NOW);
  if (plugin == NULL) return 1;
  long (*run)(long) = (long (*)(long))dlsym(plugin, "plugin_run");
  if (dlsym(plugin, "plugin_base") == place) return 2;
  for (long i = 0; i < count; ++i) printf("%ld\n", run(20));
  return 0;
}

// Waits for a signal: to repeat the work (SIGUSR1), or to end. Always ends with the test.
static int IsToldToGoOn(void) {
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigaddset(&told, SIGUSR2);
  int signal_number = 0;
  return sigwait(&told, &signal_number) == 0 && signal_number == SIGUSR1;
}

static void BlockWhatTells(void) {
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigaddset(&told, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &told, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  puts("ready");
}

// Waits very often, whenever a signal requests it.
static int PollsWhenTold(long count) {
  for (BlockWhatTells(); IsToldToGoOn(); puts("polled")) {
    for (long i = 0; i < count; ++i) poll(NULL, 0, 0);
  }
  return 0;
}

static void* CallInStorm(void* count) {
  for (long i = 0; i < *(long*)count; ++i) {
    CallAll();
    errno = 77;
    if (tally_real((double)i) != (double)i + 1 || errno != 77) abort();
    if (tally_long_real(i) != (long double)i + 1 || errno != 77) abort();
    if (i % 8 == 0) poll(NULL, 0, 0);
  }
  return NULL;
}

// Threads that call everything concurrently while the picks change continuously; whenever a signal
// requests it.
static int Storm(long count) {
  pthread_t threads[4];
  for (BlockWhatTells(); IsToldToGoOn(); puts("over")) {
    for (int i = 0; i < 4; ++i) {
      if (pthread_create(&threads[i], NULL, CallInStorm, &count) != 0) return 1;
    }
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? atol(argv[2]) : 1;
  setvbuf(stdout, NULL, _IOLBF, 4096);
  if (strcmp(scenario, "all") == 0) {
    CallAll();
    return 0;
  }
  if (strcmp(scenario, "loop") == 0) return Loop(count);
  if (strcmp(scenario, "spin") == 0) return Spin(count, argc > 3 ? atol(argv[3]) : 20000);
  if (strcmp(scenario, "allocate") == 0) return Allocate(count);
  if (strcmp(scenario, "brief") == 0) return Brief(count);
  if (strcmp(scenario, "polls") == 0) return Polls(count);
  if (strcmp(scenario, "polls-when-told") == 0) return PollsWhenTold(count);
  if (strcmp(scenario, "storm") == 0) return Storm(count);
  if (strcmp(scenario, "hold") == 0) return Hold();
  if (strcmp(scenario, "hold-without-descriptors") == 0) return HoldWithoutDescriptors();
  if (strcmp(scenario, "leave-child") == 0) return LeaveChild();
  if (strcmp(scenario, "become") == 0) return Become();
  if (strcmp(scenario, "plugin") == 0) return Plugin(count);
  if (strcmp(scenario, "plugin-late") == 0) return PluginLate(count);
  fprintf(stderr, "usage: tally SCENARIO [COUNT [ROUNDS]]\n");
  return 64;
}
