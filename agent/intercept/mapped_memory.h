#pragma once

#include <stdint.h>

namespace fieldcost::intercept {

// Memory of a library inside a program, and the files that it leaves its sums in: mapped, on
// memory, so that a store into them cannot fail once their pages are there.

// Zeroed private memory, which gets its pages when they are used. Null if there is none.
void* MapPrivate(uint64_t bytes);

// Whether a page of a file there stays writable once it is there (tmpfs, ramfs). Not so where a
// store into a page that was written back needs space again (btrfs and its like), or where a page
// may have to be fetched from elsewhere.
bool CannotFault(int64_t fd);

// Gives memory to a part of a file that is mapped, so that writing to it cannot fail. False if
// there is none.
bool Populate(uint64_t begin, uint64_t bytes);

// What a file begins with, and where in it 32 bits say 1 once all that is there.
struct Beginning {
  const void* bytes;
  uint64_t size;
  uint64_t complete_offset;
};

// Makes a file of `size` bytes in that directory (mode 0600, never through a link) and maps it:
// locked for as long as this process image has it mapped, with no descriptor left open, and no part
// of a child of fork(). Its other pages get their space when they are used. Null, and no file, if
// any of it fails.
void* MakeMappedFile(int64_t directory, const char* name, const Beginning& beginning,
                     uint64_t size);

}  // namespace fieldcost::intercept
