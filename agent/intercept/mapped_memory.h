#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// Memory of a library inside a program, and the mapped in-memory files for its results: stores into
// them cannot fail once their pages are present.

// Maps zeroed private memory, populated on first use. Returns null on failure.
void* MapPrivate(uint64_t bytes);

// Returns whether a page of a file on this file system stays writable once present (tmpfs, ramfs).
// It does not where a store into a page that was written back needs new space (btrfs and similar),
// or where a page may have to be read again.
bool CannotFault(int64_t fd);

// Populates a part of a mapped file, so that writing to it cannot fail. Returns false if there is
// no memory.
bool Populate(uint64_t begin, uint64_t bytes);

// The first bytes of a file, and the offset of the 32-bit flag that is set to 1 once they are
// stored.
struct Beginning {
  const void* bytes;
  uint64_t size;
  uint64_t complete_offset;
};

// Creates a file of `size` bytes in that directory (mode 0600, never through a link) and maps it.
// It is locked as long as this process image has it mapped, leaves no descriptor open, and is not
// inherited by children of fork(). Other pages are allocated on first use. Returns null, leaving no
// file, if any step fails.
void* MakeMappedFile(int64_t directory, const char* name, const Beginning& beginning,
                     uint64_t size);

}  // namespace fieldcost::intercept
