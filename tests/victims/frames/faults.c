// Touches fresh pages, each of which causes a fault in user mode:
//   faults PAGES PAGES     that many in faults_main, and in faults_thread on a second thread
// Each thread stays on one CPU, and if there are two, on different ones: if one thread follows the
// other, the kernel swaps their events, and with them what each has counted since its last sample.

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

static cpu_set_t allowed;

static void stay_on(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) exit(1);
  sink += 1;  // its page is there from now on
}
static int first_cpu(void) {
  int cpu = 0;
  while (!CPU_ISSET(cpu, &allowed)) ++cpu;
  return cpu;
}
static int last_cpu(void) {
  int cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(cpu, &allowed)) --cpu;
  return cpu;
}

static volatile char* new_pages(size_t bytes) {
  void* const memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, bytes, MADV_NOHUGEPAGE) != 0) exit(1);
  return memory;
}

NOINLINE static void faults_main(volatile char* memory, size_t bytes, size_t page) {
  for (size_t at = 0; at < bytes; at += page) memory[at] = 1;
  sink += 1;
}
NOINLINE static void faults_thread(volatile char* memory, size_t bytes, size_t page) {
  for (size_t at = 0; at < bytes; at += page) memory[at] = 2;
  sink += 1;
}

NOINLINE static void* run_thread(void* argument) {
  stay_on(last_cpu());
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = *(const size_t*)argument * page;
  faults_thread(new_pages(bytes), bytes, page);
  sink += 1;
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  stay_on(first_cpu());
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = strtoul(argv[1], NULL, 10) * page;
  faults_main(new_pages(bytes), bytes, page);
  size_t pages = strtoul(argv[2], NULL, 10);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_thread, &pages) != 0) return 1;
  pthread_join(thread, NULL);
  printf("%zu and %zu pages\n", bytes / page, pages);
  return 0;
}
