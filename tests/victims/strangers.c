// Programs whose libraries are loaded in unusual ways: into a separate namespace, with duplicate
// names, early, and while others are unloaded; and programs with very many threads. One per run.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

void victim_noop(void);
void victim_call_back(void (*function)(void*), void* argument);
void* early_brought(void);
int versioned_value(void);

static int Run(void* library, const char* name) {
  int (*const run)(void) = (int (*)(void))dlsym(library, name);
  return run == NULL ? -1 : run();
}

static int Namesakes(int mode) {  // each calls its own function
  void* const first = dlopen("libvictim_namesake_1.so", mode | RTLD_LOCAL);
  void* const second = dlopen("libvictim_namesake_2.so", mode | RTLD_LOCAL);
  if (first == NULL || second == NULL) return 1;
  for (int i = 0; i < 3; ++i) {
    printf("%d %d\n", Run(first, "namesake_run"), Run(second, "namesake_run"));
  }
  return 0;
}

static int Namespace(void) {  // with a separate C library
  void* const library = dlmopen(LM_ID_NEWLM, "libvictim_namesake_1.so", RTLD_LAZY);
  if (library == NULL) return 1;
  for (int i = 0; i < 3; ++i) printf("%d\n", Run(library, "namesake_run"));
  return dlclose(library);
}

static int Unversioned(void) {
  void* const library = dlopen("libvictim_unversioned.so", RTLD_LAZY);
  if (library == NULL) return 1;
  for (int i = 0; i < 3; ++i) printf("%d %d\n", Run(library, "unversioned_run"), versioned_value());
  return 0;
}

static int Early(void) {  // earlier libraries are unloaded, and others are loaded
  void* const early = early_brought();
  if (early == NULL) return 1;
  printf("%d\n", Run(early, "namesake_run"));
  Dl_info found;
  if (dladdr(dlsym(early, "namesake_run"), &found) == 0) return 2;
  dlclose(early);
  if (mmap(found.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
           0) == MAP_FAILED) {
    return 3;  // is still loaded
  }
  return Namesakes(RTLD_LAZY);
}

static void* CallOften(void* count) {
  for (intptr_t i = 0; i < (intptr_t)count; ++i) victim_noop();
  return NULL;
}

static int Threads(long threads, intptr_t calls) {  // one after the other
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 16384);
  for (long i = 0; i < threads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, CallOften, (void*)calls) != 0) return 1;
    pthread_join(thread, NULL);
  }
  return 0;
}

static void* CallVeryOften(void* unused) {
  for (int i = 0; i < 1000000; ++i) victim_noop();
  return unused;
}

static int Vfork(void) {  // the thread's first measured call is its child's
  const pid_t child = vfork();
  if (child == 0) {
    victim_noop();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  victim_noop();
  pthread_t thread;
  if (pthread_create(&thread, NULL, CallVeryOften, NULL) != 0) return 1;
  CallVeryOften(NULL);
  return pthread_join(thread, NULL);
}

static jmp_buf back;

static void JumpBack(void* unused) {
  (void)unused;
  longjmp(back, 1);
}

static int AllocateAfterJump(void) {
  if (setjmp(back) == 0) victim_call_back(JumpBack, NULL);
  for (int i = 0; i < 1000; ++i) {
    char* const text = malloc(77);
    if (text == NULL) return 1;
    text[0] = 'a';
    printf("%c", text[0]);
    free(text);
  }
  return 0;
}

static void Nothing(void* unused) { (void)unused; }

static void CallInside(void* count) {
  for (intptr_t i = 0; i < (intptr_t)count; ++i) victim_call_back(Nothing, NULL);
}

static void* Wait(void* count) {
  for (intptr_t i = 0; i < (intptr_t)count; ++i) {
    poll(NULL, 0, 0);
    victim_noop();
  }
  return NULL;
}

static int Churn(intptr_t count) {  // loads and unloads libraries while others enumerate them
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) {
    if (pthread_create(&threads[i], NULL, Wait, (void*)(count * 100)) != 0) return 1;
  }
  for (intptr_t i = 0; i < count; ++i) {
    void* const library = dlopen("libvictim_namesake_1.so", i % 2 == 0 ? RTLD_LAZY : RTLD_NOW);
    if (library == NULL || Run(library, "namesake_run") != 100) return 2;
    dlclose(library);
  }
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  puts("over");
  return 0;
}

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  const long count = argc > 2 ? atol(argv[2]) : 1;
  const long calls = argc > 3 ? atol(argv[3]) : 1;
  setvbuf(stdout, NULL, _IOLBF, 4096);
  if (strcmp(scenario, "namesakes-lazy") == 0) return Namesakes(RTLD_LAZY);
  if (strcmp(scenario, "namesakes-now") == 0) return Namesakes(RTLD_NOW);
  if (strcmp(scenario, "namespace") == 0) return Namespace();
  if (strcmp(scenario, "unversioned") == 0) return Unversioned();
  if (strcmp(scenario, "early") == 0) return Early();
  if (strcmp(scenario, "threads") == 0) return Threads(count, calls);
  if (strcmp(scenario, "vfork") == 0) return Vfork();
  if (strcmp(scenario, "allocate-after-jump") == 0) return AllocateAfterJump();
  if (strcmp(scenario, "inside") == 0) {
    victim_call_back(CallInside, (void*)count);
    return 0;
  }
  if (strcmp(scenario, "churn") == 0) return Churn(count);
  fprintf(stderr, "usage: strangers SCENARIO [COUNT [CALLS]]\n");
  return 64;
}
