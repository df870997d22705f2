#pragma once

// Functions that allocate and move bytes through words that the loader fills in.

#include <stddef.h>
#include <stdio.h>

// Each allocates kWordsBytes and frees them: by a call, through a variable, through a read-only
// table, through a table of the library's own functions, through a variable that is exported.
enum { kWordsBytes = 1000 };
void words_by_call(void);
void words_by_variable(void);
void words_by_table(void);
void words_by_own_function(void);
void words_by_exported(void);

// Through a variable in a page that the library has made read-only itself.
void words_by_guarded(void);

// Through a variable that the library's constructor has filled in.
void words_by_filled(void);

// The variable of words_by_exported.
extern void* (*words_allocate)(size_t);

// Another allocator for words_by_variable.
void* (*words_get(void))(size_t);
void words_set(void* (*allocate)(size_t));

// Move that many bytes to or from a file through a table that stays writable.
void words_write(int fd, size_t bytes);
void words_pwrite(int fd, size_t bytes);
void words_read(int fd, size_t bytes);

// Writes that many bytes by a stream of libc, whose calls cannot be intercepted.
void words_print(FILE* to, size_t bytes);
// Reads a byte of a mapped file, or writes one there.
void words_map(int fd);
void words_map_shared(int fd);

// Calls it.
void words_call(void (*callback)(void));
