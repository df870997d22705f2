#pragma once

// Part of the victim library: for every function of libc that moves bytes, one that calls it once.

#include <stdint.h>

#include "tests/victims/victim_library.h"

// X(name) for functions that read from any descriptor, from files only, from sockets only; that
// write likewise; and that move from one descriptor to another.
#define VICTIM_IO_READ(X) X(read) X(readv) X(__read_chk)
#define VICTIM_IO_READ_FILE(X) \
  X(pread) X(pread64) X(preadv) X(preadv64) X(preadv2) X(preadv64v2) X(__pread_chk) X(__pread64_chk)
#define VICTIM_IO_RECEIVE(X) \
  X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(__recv_chk) X(__recvfrom_chk)
#define VICTIM_IO_WRITE(X) X(write) X(writev)
#define VICTIM_IO_WRITE_FILE(X) \
  X(pwrite) X(pwrite64) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2)
#define VICTIM_IO_SEND(X) X(send) X(sendto) X(sendmsg) X(sendmmsg)
#define VICTIM_IO_MOVE(X) X(sendfile) X(sendfile64) X(copy_file_range) X(splice)

// Moves up to `bytes` from the descriptor to `buffer` or back, at position 0. Returns the result of
// the libc function, except for recvmmsg and sendmmsg: they move `bytes` as two messages of half
// the size, and the result is their sum.
#define VICTIM_IO_DECLARE(name) \
  VICTIM_API int64_t victim_io_##name(int fd, void* buffer, uint64_t bytes);
VICTIM_IO_READ(VICTIM_IO_DECLARE)
VICTIM_IO_READ_FILE(VICTIM_IO_DECLARE)
VICTIM_IO_RECEIVE(VICTIM_IO_DECLARE)
VICTIM_IO_WRITE(VICTIM_IO_DECLARE)
VICTIM_IO_WRITE_FILE(VICTIM_IO_DECLARE)
VICTIM_IO_SEND(VICTIM_IO_DECLARE)

#define VICTIM_IO_DECLARE_MOVE(name) \
  VICTIM_API int64_t victim_io_##name(int from, int to, uint64_t bytes);
VICTIM_IO_MOVE(VICTIM_IO_DECLARE_MOVE)

// recv with flags: MSG_PEEK, MSG_TRUNC.
VICTIM_API int64_t victim_io_receive(int fd, void* buffer, uint64_t bytes, int flags);
// Writes through a stream of libc, which it closes.
VICTIM_API int64_t victim_io_stream(int fd, void* buffer, uint64_t bytes);
// A read, two measured functions that read and write, and a read.
VICTIM_API int64_t victim_io_outer(int from, int to, void* buffer, uint64_t bytes);
