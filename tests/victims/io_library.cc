#include "tests/victims/io_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

extern "C" {
ssize_t __read_chk(int fd, void* to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void* to, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void* to, size_t size, off64_t offset, size_t room);
ssize_t __recv_chk(int fd, void* to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* to, size_t size, size_t room, int flags, sockaddr* from,
                       socklen_t* from_size);
}

namespace {

// A buffer as two parts.
struct Parts {
  Parts(void* buffer, uint64_t bytes)
      : parts{{buffer, bytes / 2}, {static_cast<char*>(buffer) + bytes / 2, bytes - bytes / 2}} {}
  msghdr Message(int first, size_t count) {
    msghdr message = {};
    message.msg_iov = parts + first;
    message.msg_iovlen = count;
    return message;
  }
  iovec parts[2];
};

int64_t Together(const mmsghdr* messages, int count) {
  if (count < 0) return count;
  int64_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += messages[i].msg_len;
  return bytes;
}

}  // namespace

#define DEFINE(name, call) \
  VICTIM_API int64_t victim_io_##name(int fd, void* buffer, uint64_t bytes) { return call; }
DEFINE(read, read(fd, buffer, bytes))
DEFINE(readv, readv(fd, Parts(buffer, bytes).parts, 2))
DEFINE(__read_chk, __read_chk(fd, buffer, bytes, bytes))
DEFINE(pread, pread(fd, buffer, bytes, 0))
DEFINE(pread64, pread64(fd, buffer, bytes, 0))
DEFINE(preadv, preadv(fd, Parts(buffer, bytes).parts, 2, 0))
DEFINE(preadv64, preadv64(fd, Parts(buffer, bytes).parts, 2, 0))
DEFINE(preadv2, preadv2(fd, Parts(buffer, bytes).parts, 2, 0, 0))
DEFINE(preadv64v2, preadv64v2(fd, Parts(buffer, bytes).parts, 2, 0, 0))
DEFINE(__pread_chk, __pread_chk(fd, buffer, bytes, 0, bytes))
DEFINE(__pread64_chk, __pread64_chk(fd, buffer, bytes, 0, bytes))
DEFINE(recv, recv(fd, buffer, bytes, 0))
DEFINE(recvfrom, recvfrom(fd, buffer, bytes, 0, nullptr, nullptr))
DEFINE(__recv_chk, __recv_chk(fd, buffer, bytes, bytes, 0))
DEFINE(__recvfrom_chk, __recvfrom_chk(fd, buffer, bytes, bytes, 0, nullptr, nullptr))
DEFINE(write, write(fd, buffer, bytes))
DEFINE(writev, writev(fd, Parts(buffer, bytes).parts, 2))
DEFINE(pwrite, pwrite(fd, buffer, bytes, 0))
DEFINE(pwrite64, pwrite64(fd, buffer, bytes, 0))
DEFINE(pwritev, pwritev(fd, Parts(buffer, bytes).parts, 2, 0))
DEFINE(pwritev64, pwritev64(fd, Parts(buffer, bytes).parts, 2, 0))
DEFINE(pwritev2, pwritev2(fd, Parts(buffer, bytes).parts, 2, 0, 0))
DEFINE(pwritev64v2, pwritev64v2(fd, Parts(buffer, bytes).parts, 2, 0, 0))
DEFINE(send, send(fd, buffer, bytes, MSG_NOSIGNAL))
DEFINE(sendto, sendto(fd, buffer, bytes, MSG_NOSIGNAL, nullptr, 0))

VICTIM_API int64_t victim_io_recvmsg(int fd, void* buffer, uint64_t bytes) {
  Parts parts(buffer, bytes);
  msghdr message = parts.Message(0, 2);
  return recvmsg(fd, &message, 0);
}
VICTIM_API int64_t victim_io_sendmsg(int fd, void* buffer, uint64_t bytes) {
  Parts parts(buffer, bytes);
  const msghdr message = parts.Message(0, 2);
  return sendmsg(fd, &message, MSG_NOSIGNAL);
}
VICTIM_API int64_t victim_io_recvmmsg(int fd, void* buffer, uint64_t bytes) {
  Parts parts(buffer, bytes);
  mmsghdr messages[2] = {{parts.Message(0, 1), 0}, {parts.Message(1, 1), 0}};
  return Together(messages, recvmmsg(fd, messages, 2, 0, nullptr));
}
VICTIM_API int64_t victim_io_sendmmsg(int fd, void* buffer, uint64_t bytes) {
  Parts parts(buffer, bytes);
  mmsghdr messages[2] = {{parts.Message(0, 1), 0}, {parts.Message(1, 1), 0}};
  return Together(messages, sendmmsg(fd, messages, 2, MSG_NOSIGNAL));
}

VICTIM_API int64_t victim_io_sendfile(int from, int to, uint64_t bytes) {
  off_t offset = 0;
  return sendfile(to, from, &offset, bytes);
}
VICTIM_API int64_t victim_io_sendfile64(int from, int to, uint64_t bytes) {
  off64_t offset = 0;
  return sendfile64(to, from, &offset, bytes);
}
VICTIM_API int64_t victim_io_copy_file_range(int from, int to, uint64_t bytes) {
  off64_t from_offset = 0;
  off64_t to_offset = 0;
  return copy_file_range(from, &from_offset, to, &to_offset, bytes, 0);
}
VICTIM_API int64_t victim_io_splice(int from, int to, uint64_t bytes) {
  return splice(from, nullptr, to, nullptr, bytes, 0);
}

VICTIM_API int64_t victim_io_receive(int fd, void* buffer, uint64_t bytes, int flags) {
  return recv(fd, buffer, bytes, flags);
}
VICTIM_API int64_t victim_io_outer(int from, int to, void* buffer, uint64_t bytes) {
  int64_t moved = read(from, buffer, bytes);
  moved += victim_io_pread(from, buffer, bytes);
  moved += victim_io_send(to, buffer, bytes);
  moved += pread(from, buffer, bytes, 0);
  return moved;
}

VICTIM_API int64_t victim_io_stream(int fd, void* buffer, uint64_t bytes) {
  FILE* const stream = fdopen(dup(fd), "w");
  if (stream == nullptr) return -1;
  const size_t written = fwrite(buffer, 1, bytes, stream);
  return fclose(stream) == 0 ? static_cast<int64_t>(written) : -1;
}
