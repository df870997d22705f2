// A program whose library allocates and moves bytes through words that the loader fills in; the
// numbers of bytes are known.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/victims/words_library.h"

static char arena[kWordsBytes];
// The program must free memory from malloc.
static void* Replacement(size_t bytes) { return malloc(bytes + sizeof arena); }

static int Allocate(void) {
  for (int i = 0; i < 10; ++i) {
    words_by_call();
    words_by_variable();
    words_by_table();
    words_by_own_function();
    words_by_exported();
    words_by_guarded();
    words_by_filled();
  }
  return 0;
}

// Uses the exported variable, so the program gets a copy of it.
static int Copy(void) {
  free(words_allocate(1));
  return Allocate();
}

// Stores another function in the variable, then restores it. Does not use a function of libc as
// a value: in a program at a fixed address its PLT entry would be that function everywhere.
static int Change(void) {
  void* (*const before)(size_t) = words_get();
  words_by_variable();
  words_set(Replacement);
  words_by_variable();
  words_set(before);
  words_by_variable();
  return words_get() == before ? 0 : 1;
}

static int Module(void) {
  void* const module = dlopen("libvictim_words_module.so", RTLD_NOW);
  if (module == NULL) return 1;
  void (*allocate)(void) = (void (*)(void))dlsym(module, "module_allocate");
  if (allocate == NULL) return 1;
  words_call(allocate);
  words_by_table();
  return dlclose(module);
}

static void Load(void) {
  void* const module = dlopen("libvictim_words_module.so", RTLD_NOW);
  if (module == NULL || dlsym(module, "module_allocate") == NULL) abort();
}

// Loads a library within a call.
static int Loads(void) {
  words_call(Load);
  words_by_call();
  return 0;
}

static FILE* MakeFile(void) {
  FILE* const file = tmpfile();
  if (file == NULL || ftruncate(fileno(file), 8192) != 0) abort();
  return file;
}

// Calls back a printing function: bytes moved by a callback are moved during the call.
static FILE* printed;
static void Print(void) { fputs("bytes", printed); }

static int Hidden(void) {
  printed = MakeFile();
  words_write(fileno(printed), 1000);
  words_print(printed, 1000);
  words_call(Print);
  words_write(fileno(printed), 1000);
  return 0;
}

static int Mapped(void (*map)(int)) {
  const int fd = fileno(MakeFile());
  words_write(fd, 1000);
  map(fd);
  words_read(fd, 1000);
  return 0;
}

// The program's own mapping belongs to no library.
static void MapHere(int fd) {
  volatile char* const mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED || mapped[0] != 0) abort();
}

static int Files(void) {
  const int fd = fileno(MakeFile());
  for (int i = 0; i < 3; ++i) words_write(fd, 1000);
  for (int i = 0; i < 3; ++i) words_pwrite(fd, 50000);
  if (lseek(fd, 0, SEEK_SET) != 0) return 1;
  for (int i = 0; i < 3; ++i) words_read(fd, 10000);
  return 0;
}

int main(int argc, char** argv) {
  const char* const scenario = argc > 1 ? argv[1] : "";
  if (strcmp(scenario, "allocate") == 0) return Allocate();
  if (strcmp(scenario, "copy") == 0) return Copy();
  if (strcmp(scenario, "change") == 0) return Change();
  if (strcmp(scenario, "module") == 0) return Module();
  if (strcmp(scenario, "loads") == 0) return Loads();
  if (strcmp(scenario, "files") == 0) return Files();
  if (strcmp(scenario, "hidden") == 0) return Hidden();
  if (strcmp(scenario, "mapped") == 0) return Mapped(words_map);
  if (strcmp(scenario, "mapped-shared") == 0) return Mapped(words_map_shared);
  if (strcmp(scenario, "mapped-by-program") == 0) return Mapped(MapHere);
  fprintf(stderr, "usage: words SCENARIO\n");
  return 64;
}
