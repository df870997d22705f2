#define _GNU_SOURCE
#include "tests/victims/words_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void* (*variable)(size_t) = malloc;
void* (*words_allocate)(size_t) = malloc;

static void* Own(size_t bytes) { return malloc(bytes); }

struct Functions {
  void* (*allocate)(size_t);
  void (*release)(void*);
};
// Read-only once the library is loaded.
static const struct Functions kLibc = {malloc, free};
static const struct Functions kOwn = {Own, free};

static const struct Functions* volatile functions;

struct File {
  ssize_t (*write)(int, const void*, size_t);
  ssize_t (*pwrite)(int, const void*, size_t, off64_t);
  ssize_t (*read)(int, void*, size_t);
};
static struct File file_functions = {write, pwrite64, read};
// Prevents calls of these from becoming direct ones.
static struct File* volatile file = &file_functions;

static struct {
  void* (*allocate)(size_t);
  char rest[4088];
} guarded __attribute__((aligned(4096))) = {malloc, ""};

__attribute__((constructor)) static void Guard(void) {
  if (mprotect(&guarded, sizeof guarded, PROT_READ) != 0) abort();
}

static void* (*volatile filled)(size_t);
__attribute__((constructor)) static void Fill(void) { filled = malloc; }

static char buffer[65536];

void words_by_call(void) {
  void* const made = malloc(kWordsBytes);
  __asm__ volatile("" : : "r"(made) : "memory");
  free(made);
}
void words_by_variable(void) { free(variable(kWordsBytes)); }
void words_by_exported(void) { free(words_allocate(kWordsBytes)); }

void words_by_guarded(void) { free(guarded.allocate(kWordsBytes)); }

void words_by_filled(void) { free(filled(kWordsBytes)); }

static void ByFunctions(void) { functions->release(functions->allocate(kWordsBytes)); }

void words_by_table(void) {
  functions = &kLibc;
  ByFunctions();
}

void words_by_own_function(void) {
  functions = &kOwn;
  ByFunctions();
}

void* (*words_get(void))(size_t) { return variable; }
void words_set(void* (*allocate)(size_t)) { variable = allocate; }

void words_write(int fd, size_t bytes) {
  if (file->write(fd, buffer, bytes) != (ssize_t)bytes) abort();
}

void words_pwrite(int fd, size_t bytes) {
  if (file->pwrite(fd, buffer, bytes, 0) != (ssize_t)bytes) abort();
}

void words_read(int fd, size_t bytes) {
  if (file->read(fd, buffer, bytes) != (ssize_t)bytes) abort();
}

void words_print(FILE* to, size_t bytes) {
  if (fwrite(buffer, 1, bytes, to) != bytes || fflush(to) != 0) abort();
}

static void Map(int fd, int protection, int flags) {
  volatile char* const mapped = mmap(NULL, 4096, protection, flags, fd, 0);
  if (mapped == MAP_FAILED) abort();
  if ((protection & PROT_WRITE) != 0) mapped[0] = mapped[1];
  munmap((void*)mapped, 4096);
}

void words_map(int fd) { Map(fd, PROT_READ, MAP_PRIVATE); }
void words_map_shared(int fd) { Map(fd, PROT_READ | PROT_WRITE, MAP_SHARED); }

void words_call(void (*callback)(void)) { callback(); }
