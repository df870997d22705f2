#include "agent/intercept/io_wrappers.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "agent/intercept/hooks.h"
#include "agent/intercept/x86_64/machine.h"

// Names for the same function in libc share one wrapper and one real address (off_t is off64_t
// here), so that slots of all these names lead to the same place.

namespace fieldcost::intercept {
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

// Never inlined: next to a system call, a function call costs nothing, and there are many wrappers.
__attribute__((noinline)) void CountBoth(int from, int to, ssize_t bytes) {
  if (bytes > 0) OnTransfer(from, to, static_cast<uint64_t>(bytes));
}

// A wrapper: calls the real function, whose address is at `real`, and passes its result and
// arguments to a counting rule.
template <uint64_t* real, typename Rule, typename Signature>
struct Wrapper;

template <uint64_t* real, typename Rule, typename Result, typename... Arguments>
struct Wrapper<real, Rule, Result(Arguments...)> {
  static Result Call(Arguments... arguments) {
    const Result result = reinterpret_cast<Result (*)(Arguments...)>(*real)(arguments...);
    Rule::Count(result, arguments...);
    return result;
  }
};

// The counting rules. Each takes the result and the arguments that it needs.

struct FromFile {  // read and similar: the descriptor comes first
  template <typename... Others>
  static void Count(ssize_t bytes, int fd, Others...) {
    CountBoth(fd, kNoFile, bytes);
  }
};

struct ToFile {  // write and similar
  template <typename... Others>
  static void Count(ssize_t bytes, int fd, Others...) {
    CountBoth(kNoFile, fd, bytes);
  }
};

// Returns whether the bytes will be received again, or were sent and returned with an error.
constexpr bool IsPeek(int flags) { return (flags & (MSG_PEEK | MSG_ERRQUEUE)) != 0; }

// Counts the received bytes of a datagram: with MSG_TRUNC, the result is its full length.
__attribute__((noinline)) void CountReceived(int fd, ssize_t bytes, size_t size, int flags) {
  if (IsPeek(flags)) return;
  const bool cut = bytes > 0 && static_cast<size_t>(bytes) > size;
  CountBoth(fd, kNoFile, cut ? static_cast<ssize_t>(size) : bytes);
}

struct Received {  // recv, recvfrom
  template <typename... Others>
  static void Count(ssize_t bytes, int fd, void*, size_t size, int flags, Others...) {
    CountReceived(fd, bytes, size, flags);
  }
};

struct ReceivedChecked {  // their _FORTIFY_SOURCE variants: `room` is the buffer's true size
  template <typename... Others>
  static void Count(ssize_t bytes, int fd, void*, size_t size, size_t /*room*/, int flags,
                    Others...) {
    CountReceived(fd, bytes, size, flags);
  }
};

size_t SizeOf(const msghdr& message) {
  size_t size = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) size += message.msg_iov[i].iov_len;
  return size;
}

// Returns the total size of the first `count` messages.
int64_t BytesOf(const mmsghdr* messages, int count, bool received) {
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const size_t size = received ? SizeOf(messages[i].msg_hdr) : messages[i].msg_len;
    bytes += static_cast<int64_t>(size < messages[i].msg_len ? size : messages[i].msg_len);
  }
  return bytes;
}

struct ReceivedMessage {  // recvmsg
  static void Count(ssize_t bytes, int fd, const msghdr* message, int flags) {
    if (bytes > 0) CountReceived(fd, bytes, SizeOf(*message), flags);
  }
};

struct ReceivedMessages {  // recvmmsg
  static void Count(int count, int fd, const mmsghdr* messages, unsigned, int flags, timespec*) {
    if (count > 0 && !IsPeek(flags)) CountBoth(fd, kNoFile, BytesOf(messages, count, true));
  }
};

struct SentMessages {  // sendmmsg
  static void Count(int count, int fd, const mmsghdr* messages, unsigned, int) {
    if (count > 0) CountBoth(kNoFile, fd, BytesOf(messages, count, false));
  }
};

struct SentFile {  // sendfile, where the target comes first
  static void Count(ssize_t bytes, int to, int from, const off_t*, size_t) {
    CountBoth(from, to, bytes);
  }
};

struct Moved {  // copy_file_range, splice
  static void Count(ssize_t bytes, int from, const off64_t*, int to, const off64_t*, size_t,
                    unsigned) {
    CountBoth(from, to, bytes);
  }
};

using Read = Wrapper<&real_read, FromFile, ssize_t(int, void*, size_t)>;
using Write = Wrapper<&real_write, ToFile, ssize_t(int, const void*, size_t)>;
using PRead = Wrapper<&real_pread, FromFile, ssize_t(int, void*, size_t, off_t)>;
using PWrite = Wrapper<&real_pwrite, ToFile, ssize_t(int, const void*, size_t, off_t)>;
using ReadV = Wrapper<&real_readv, FromFile, ssize_t(int, const iovec*, int)>;
using WriteV = Wrapper<&real_writev, ToFile, ssize_t(int, const iovec*, int)>;
using PReadV = Wrapper<&real_preadv, FromFile, ssize_t(int, const iovec*, int, off_t)>;
using PWriteV = Wrapper<&real_pwritev, ToFile, ssize_t(int, const iovec*, int, off_t)>;
using PReadV2 = Wrapper<&real_preadv2, FromFile, ssize_t(int, const iovec*, int, off_t, int)>;
using PWriteV2 = Wrapper<&real_pwritev2, ToFile, ssize_t(int, const iovec*, int, off_t, int)>;

using Recv = Wrapper<&real_recv, Received, ssize_t(int, void*, size_t, int)>;
using RecvFrom =
    Wrapper<&real_recvfrom, Received, ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*)>;
using RecvMsg = Wrapper<&real_recvmsg, ReceivedMessage, ssize_t(int, msghdr*, int)>;
using RecvMMsg =
    Wrapper<&real_recvmmsg, ReceivedMessages, int(int, mmsghdr*, unsigned, int, timespec*)>;
using Send = Wrapper<&real_send, ToFile, ssize_t(int, const void*, size_t, int)>;
using SendTo = Wrapper<&real_sendto, ToFile,
                       ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t)>;
using SendMsg = Wrapper<&real_sendmsg, ToFile, ssize_t(int, const msghdr*, int)>;
using SendMMsg = Wrapper<&real_sendmmsg, SentMessages, int(int, mmsghdr*, unsigned, int)>;

using SendFile = Wrapper<&real_sendfile, SentFile, ssize_t(int, int, off_t*, size_t)>;
using CopyFileRange =
    Wrapper<&real_copy_file_range, Moved, ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)>;
using Splice =
    Wrapper<&real_splice, Moved, ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)>;

// pread has two names in libc.
using ReadChk = Wrapper<&real_read_chk, FromFile, ssize_t(int, void*, size_t, size_t)>;
template <uint64_t* real>
using PReadChk = Wrapper<real, FromFile, ssize_t(int, void*, size_t, off_t, size_t)>;
using RecvChk = Wrapper<&real_recv_chk, ReceivedChecked, ssize_t(int, void*, size_t, size_t, int)>;
using RecvFromChk = Wrapper<&real_recvfrom_chk, ReceivedChecked,
                            ssize_t(int, void*, size_t, size_t, int, sockaddr*, socklen_t*)>;

}  // namespace

const WrappedFunction kIoFunctions[kIoFunctionCount] = {
    {"read", reinterpret_cast<uint64_t>(&Read::Call), &real_read},
    {"write", reinterpret_cast<uint64_t>(&Write::Call), &real_write},
    {"pread", reinterpret_cast<uint64_t>(&PRead::Call), &real_pread},
    {"pread64", reinterpret_cast<uint64_t>(&PRead::Call), &real_pread},
    {"pwrite", reinterpret_cast<uint64_t>(&PWrite::Call), &real_pwrite},
    {"pwrite64", reinterpret_cast<uint64_t>(&PWrite::Call), &real_pwrite},
    {"readv", reinterpret_cast<uint64_t>(&ReadV::Call), &real_readv},
    {"writev", reinterpret_cast<uint64_t>(&WriteV::Call), &real_writev},
    {"preadv", reinterpret_cast<uint64_t>(&PReadV::Call), &real_preadv},
    {"preadv64", reinterpret_cast<uint64_t>(&PReadV::Call), &real_preadv},
    {"pwritev", reinterpret_cast<uint64_t>(&PWriteV::Call), &real_pwritev},
    {"pwritev64", reinterpret_cast<uint64_t>(&PWriteV::Call), &real_pwritev},
    {"preadv2", reinterpret_cast<uint64_t>(&PReadV2::Call), &real_preadv2},
    {"preadv64v2", reinterpret_cast<uint64_t>(&PReadV2::Call), &real_preadv2},
    {"pwritev2", reinterpret_cast<uint64_t>(&PWriteV2::Call), &real_pwritev2},
    {"pwritev64v2", reinterpret_cast<uint64_t>(&PWriteV2::Call), &real_pwritev2},
    {"recv", reinterpret_cast<uint64_t>(&Recv::Call), &real_recv},
    {"recvfrom", reinterpret_cast<uint64_t>(&RecvFrom::Call), &real_recvfrom},
    {"recvmsg", reinterpret_cast<uint64_t>(&RecvMsg::Call), &real_recvmsg},
    {"recvmmsg", reinterpret_cast<uint64_t>(&RecvMMsg::Call), &real_recvmmsg},
    {"send", reinterpret_cast<uint64_t>(&Send::Call), &real_send},
    {"sendto", reinterpret_cast<uint64_t>(&SendTo::Call), &real_sendto},
    {"sendmsg", reinterpret_cast<uint64_t>(&SendMsg::Call), &real_sendmsg},
    {"sendmmsg", reinterpret_cast<uint64_t>(&SendMMsg::Call), &real_sendmmsg},
    {"sendfile", reinterpret_cast<uint64_t>(&SendFile::Call), &real_sendfile},
    {"sendfile64", reinterpret_cast<uint64_t>(&SendFile::Call), &real_sendfile},
    {"copy_file_range", reinterpret_cast<uint64_t>(&CopyFileRange::Call), &real_copy_file_range},
    {"splice", reinterpret_cast<uint64_t>(&Splice::Call), &real_splice},
    {"__read_chk", reinterpret_cast<uint64_t>(&ReadChk::Call), &real_read_chk},
    {"__pread_chk", reinterpret_cast<uint64_t>(&PReadChk<&real_pread_chk>::Call), &real_pread_chk},
    {"__pread64_chk", reinterpret_cast<uint64_t>(&PReadChk<&real_pread64_chk>::Call),
     &real_pread64_chk},
    {"__recv_chk", reinterpret_cast<uint64_t>(&RecvChk::Call), &real_recv_chk},
    {"__recvfrom_chk", reinterpret_cast<uint64_t>(&RecvFromChk::Call), &real_recvfrom_chk},
};

// Preserves errno: queries the kernel by a raw system call.
FileKind KindOfFile(int fd) {
  struct stat found;
  if (SystemCall(SYS_fstat, static_cast<uint32_t>(fd), reinterpret_cast<uint64_t>(&found)) != 0) {
    return FileKind::kOther;
  }
  if (S_ISREG(found.st_mode) || S_ISBLK(found.st_mode)) return FileKind::kDisk;
  return S_ISSOCK(found.st_mode) ? FileKind::kNet : FileKind::kOther;
}

void CountTransfer(int from, int to, uint64_t bytes, uint64_t* counters) {
  constexpr uint32_t kNet = 2;  // from the counter of files to that of sockets
  const auto add = [&](int fd, uint64_t* counter) {
    if (fd == kNoFile) return;
    const FileKind kind = KindOfFile(fd);
    if (kind != FileKind::kOther) counter[kind == FileKind::kNet ? kNet : 0] += bytes;
  };
  add(from, counters);
  add(to, counters + 1);
}

}  // namespace fieldcost::intercept
