#include "agent/preload/io_meter.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "agent/preload/measuring.h"

// errno is whatever the real function left: what is asked here is asked by raw system calls.
//
// Names that are one function in libc share one wrapper and one real address (off_t is off64_t
// here), so that a slot of either name leads to the same place.

namespace fieldcost::preload {
namespace {

uint64_t real_read;
uint64_t real_write;
uint64_t real_pread;
uint64_t real_pwrite;
uint64_t real_readv;
uint64_t real_writev;
uint64_t real_preadv;
uint64_t real_pwritev;
uint64_t real_preadv2;
uint64_t real_pwritev2;
uint64_t real_recv;
uint64_t real_recvfrom;
uint64_t real_recvmsg;
uint64_t real_recvmmsg;
uint64_t real_send;
uint64_t real_sendto;
uint64_t real_sendmsg;
uint64_t real_sendmmsg;
uint64_t real_sendfile;
uint64_t real_copy_file_range;
uint64_t real_splice;
uint64_t real_read_chk;
uint64_t real_pread_chk;
uint64_t real_pread64_chk;
uint64_t real_recv_chk;
uint64_t real_recvfrom_chk;

template <typename Function>
Function* Real(uint64_t address) {
  return reinterpret_cast<Function*>(address);
}

// Distance from a counter of what came in to that of what went out.
constexpr uint32_t kIn = 0;
constexpr uint32_t kOut = 1;

void Add(ThreadState* thread, int fd, uint32_t direction, uint64_t bytes) {
  struct stat found;
  if (intercept::SystemCall(SYS_fstat, static_cast<uint32_t>(fd),
                            reinterpret_cast<uint64_t>(&found)) != 0) {
    return;
  }
  if (S_ISREG(found.st_mode) || S_ISBLK(found.st_mode)) {
    thread->io[kIoDiskRead + direction] += bytes;
  } else if (S_ISSOCK(found.st_mode)) {
    thread->io[kIoNetReceived + direction] += bytes;
  }
}

constexpr int kNone = -1;

// Bytes that came in from one descriptor and went out to another, or one of both. Never inlined:
// beside a system call a call is nothing, and there are many wrappers.
__attribute__((noinline)) ssize_t CountBoth(int from, int to, ssize_t bytes) {
  if (bytes <= 0 || !IsAttached()) return bytes;
  ThreadState* const thread = fieldcost_current_thread;
  if (thread == nullptr || thread->active == nullptr || IsBusy(thread->active)) return bytes;
  if (from != kNone) Add(thread, from, kIn, static_cast<uint64_t>(bytes));
  if (to != kNone) Add(thread, to, kOut, static_cast<uint64_t>(bytes));
  return bytes;
}

inline ssize_t CountIn(int fd, ssize_t bytes) { return CountBoth(fd, kNone, bytes); }
inline ssize_t CountOut(int fd, ssize_t bytes) { return CountBoth(kNone, fd, bytes); }

// Whether the bytes stay to be received again, or were sent and come back with an error.
constexpr bool IsPeek(int flags) { return (flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0; }

// With MSG_TRUNC the result is how long the datagram was, not what came of it.
__attribute__((noinline)) ssize_t CountReceived(int fd, ssize_t bytes, size_t size, int flags) {
  if (!IsPeek(flags)) {
    const bool cut = bytes > 0 && static_cast<size_t>(bytes) > size;
    CountIn(fd, cut ? static_cast<ssize_t>(size) : bytes);
  }
  return bytes;
}

size_t SizeOf(const msghdr& message) {
  size_t size = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) size += message.msg_iov[i].iov_len;
  return size;
}

// What the first `count` messages were.
int64_t BytesOf(const mmsghdr* messages, int count, bool received) {
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const size_t size = received ? SizeOf(messages[i].msg_hdr) : messages[i].msg_len;
    bytes += static_cast<int64_t>(size < messages[i].msg_len ? size : messages[i].msg_len);
  }
  return bytes;
}

ssize_t Read(int fd, void* to, size_t size) {
  return CountIn(fd, Real<ssize_t(int, void*, size_t)>(real_read)(fd, to, size));
}

ssize_t Write(int fd, const void* from, size_t size) {
  return CountOut(fd, Real<ssize_t(int, const void*, size_t)>(real_write)(fd, from, size));
}

ssize_t PRead(int fd, void* to, size_t size, off_t offset) {
  const auto real = Real<ssize_t(int, void*, size_t, off_t)>(real_pread);
  return CountIn(fd, real(fd, to, size, offset));
}

ssize_t PWrite(int fd, const void* from, size_t size, off_t offset) {
  const auto real = Real<ssize_t(int, const void*, size_t, off_t)>(real_pwrite);
  return CountOut(fd, real(fd, from, size, offset));
}

ssize_t ReadV(int fd, const iovec* parts, int count) {
  return CountIn(fd, Real<ssize_t(int, const iovec*, int)>(real_readv)(fd, parts, count));
}

ssize_t WriteV(int fd, const iovec* parts, int count) {
  return CountOut(fd, Real<ssize_t(int, const iovec*, int)>(real_writev)(fd, parts, count));
}

ssize_t PReadV(int fd, const iovec* parts, int count, off_t offset) {
  const auto real = Real<ssize_t(int, const iovec*, int, off_t)>(real_preadv);
  return CountIn(fd, real(fd, parts, count, offset));
}

ssize_t PWriteV(int fd, const iovec* parts, int count, off_t offset) {
  const auto real = Real<ssize_t(int, const iovec*, int, off_t)>(real_pwritev);
  return CountOut(fd, real(fd, parts, count, offset));
}

ssize_t PReadV2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  const auto real = Real<ssize_t(int, const iovec*, int, off_t, int)>(real_preadv2);
  return CountIn(fd, real(fd, parts, count, offset, flags));
}

ssize_t PWriteV2(int fd, const iovec* parts, int count, off_t offset, int flags) {
  const auto real = Real<ssize_t(int, const iovec*, int, off_t, int)>(real_pwritev2);
  return CountOut(fd, real(fd, parts, count, offset, flags));
}

ssize_t Recv(int fd, void* to, size_t size, int flags) {
  const auto real = Real<ssize_t(int, void*, size_t, int)>(real_recv);
  return CountReceived(fd, real(fd, to, size, flags), size, flags);
}

ssize_t RecvFrom(int fd, void* to, size_t size, int flags, sockaddr* from, socklen_t* from_size) {
  const auto real = Real<ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*)>(real_recvfrom);
  return CountReceived(fd, real(fd, to, size, flags, from, from_size), size, flags);
}

ssize_t RecvMsg(int fd, msghdr* message, int flags) {
  const ssize_t bytes = Real<ssize_t(int, msghdr*, int)>(real_recvmsg)(fd, message, flags);
  return bytes <= 0 ? bytes : CountReceived(fd, bytes, SizeOf(*message), flags);
}

int RecvMMsg(int fd, mmsghdr* messages, unsigned size, int flags, timespec* limit) {
  const auto real = Real<int(int, mmsghdr*, unsigned, int, timespec*)>(real_recvmmsg);
  const int count = real(fd, messages, size, flags, limit);
  if (count > 0 && !IsPeek(flags)) CountIn(fd, BytesOf(messages, count, true));
  return count;
}

ssize_t Send(int fd, const void* from, size_t size, int flags) {
  const auto real = Real<ssize_t(int, const void*, size_t, int)>(real_send);
  return CountOut(fd, real(fd, from, size, flags));
}

ssize_t SendTo(int fd, const void* from, size_t size, int flags, const sockaddr* to,
               socklen_t to_size) {
  const auto real =
      Real<ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t)>(real_sendto);
  return CountOut(fd, real(fd, from, size, flags, to, to_size));
}

ssize_t SendMsg(int fd, const msghdr* message, int flags) {
  const auto real = Real<ssize_t(int, const msghdr*, int)>(real_sendmsg);
  return CountOut(fd, real(fd, message, flags));
}

int SendMMsg(int fd, mmsghdr* messages, unsigned size, int flags) {
  const auto real = Real<int(int, mmsghdr*, unsigned, int)>(real_sendmmsg);
  const int count = real(fd, messages, size, flags);
  if (count > 0) CountOut(fd, BytesOf(messages, count, false));
  return count;
}

ssize_t SendFile(int to, int from, off_t* offset, size_t size) {
  const auto real = Real<ssize_t(int, int, off_t*, size_t)>(real_sendfile);
  return CountBoth(from, to, real(to, from, offset, size));
}

ssize_t CopyFileRange(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
                      unsigned flags) {
  const auto real =
      Real<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)>(real_copy_file_range);
  return CountBoth(from, to, real(from, from_offset, to, to_offset, size, flags));
}

ssize_t Splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
               unsigned flags) {
  const auto real = Real<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)>(real_splice);
  return CountBoth(from, to, real(from, from_offset, to, to_offset, size, flags));
}

// What _FORTIFY_SOURCE makes of read, pread, recv and recvfrom: `room` is the buffer's true size.
// Here libc has pread's two names twice.
ssize_t ReadChk(int fd, void* to, size_t size, size_t room) {
  const auto real = Real<ssize_t(int, void*, size_t, size_t)>(real_read_chk);
  return CountIn(fd, real(fd, to, size, room));
}

template <uint64_t* real_function>
ssize_t PReadChk(int fd, void* to, size_t size, off_t offset, size_t room) {
  const auto real = Real<ssize_t(int, void*, size_t, off_t, size_t)>(*real_function);
  return CountIn(fd, real(fd, to, size, offset, room));
}

ssize_t RecvChk(int fd, void* to, size_t size, size_t room, int flags) {
  const auto real = Real<ssize_t(int, void*, size_t, size_t, int)>(real_recv_chk);
  return CountReceived(fd, real(fd, to, size, room, flags), size, flags);
}

ssize_t RecvFromChk(int fd, void* to, size_t size, size_t room, int flags, sockaddr* from,
                    socklen_t* from_size) {
  const auto real =
      Real<ssize_t(int, void*, size_t, size_t, int, sockaddr*, socklen_t*)>(real_recvfrom_chk);
  return CountReceived(fd, real(fd, to, size, room, flags, from, from_size), size, flags);
}

}  // namespace

const intercept::WrappedFunction kIoFunctions[kIoFunctionCount] = {
    {"read", reinterpret_cast<uint64_t>(&Read), &real_read},
    {"write", reinterpret_cast<uint64_t>(&Write), &real_write},
    {"pread", reinterpret_cast<uint64_t>(&PRead), &real_pread},
    {"pread64", reinterpret_cast<uint64_t>(&PRead), &real_pread},
    {"pwrite", reinterpret_cast<uint64_t>(&PWrite), &real_pwrite},
    {"pwrite64", reinterpret_cast<uint64_t>(&PWrite), &real_pwrite},
    {"readv", reinterpret_cast<uint64_t>(&ReadV), &real_readv},
    {"writev", reinterpret_cast<uint64_t>(&WriteV), &real_writev},
    {"preadv", reinterpret_cast<uint64_t>(&PReadV), &real_preadv},
    {"preadv64", reinterpret_cast<uint64_t>(&PReadV), &real_preadv},
    {"pwritev", reinterpret_cast<uint64_t>(&PWriteV), &real_pwritev},
    {"pwritev64", reinterpret_cast<uint64_t>(&PWriteV), &real_pwritev},
    {"preadv2", reinterpret_cast<uint64_t>(&PReadV2), &real_preadv2},
    {"preadv64v2", reinterpret_cast<uint64_t>(&PReadV2), &real_preadv2},
    {"pwritev2", reinterpret_cast<uint64_t>(&PWriteV2), &real_pwritev2},
    {"pwritev64v2", reinterpret_cast<uint64_t>(&PWriteV2), &real_pwritev2},
    {"recv", reinterpret_cast<uint64_t>(&Recv), &real_recv},
    {"recvfrom", reinterpret_cast<uint64_t>(&RecvFrom), &real_recvfrom},
    {"recvmsg", reinterpret_cast<uint64_t>(&RecvMsg), &real_recvmsg},
    {"recvmmsg", reinterpret_cast<uint64_t>(&RecvMMsg), &real_recvmmsg},
    {"send", reinterpret_cast<uint64_t>(&Send), &real_send},
    {"sendto", reinterpret_cast<uint64_t>(&SendTo), &real_sendto},
    {"sendmsg", reinterpret_cast<uint64_t>(&SendMsg), &real_sendmsg},
    {"sendmmsg", reinterpret_cast<uint64_t>(&SendMMsg), &real_sendmmsg},
    {"sendfile", reinterpret_cast<uint64_t>(&SendFile), &real_sendfile},
    {"sendfile64", reinterpret_cast<uint64_t>(&SendFile), &real_sendfile},
    {"copy_file_range", reinterpret_cast<uint64_t>(&CopyFileRange), &real_copy_file_range},
    {"splice", reinterpret_cast<uint64_t>(&Splice), &real_splice},
    {"__read_chk", reinterpret_cast<uint64_t>(&ReadChk), &real_read_chk},
    {"__pread_chk", reinterpret_cast<uint64_t>(&PReadChk<&real_pread_chk>), &real_pread_chk},
    {"__pread64_chk", reinterpret_cast<uint64_t>(&PReadChk<&real_pread64_chk>), &real_pread64_chk},
    {"__recv_chk", reinterpret_cast<uint64_t>(&RecvChk), &real_recv_chk},
    {"__recvfrom_chk", reinterpret_cast<uint64_t>(&RecvFromChk), &real_recvfrom_chk},
};

}  // namespace fieldcost::preload
