#include "common/base/read_at.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fieldcost {

ReadAt ReaderOf(const UniqueFd& fd) {
  return [&fd](std::uint64_t offset, void* to, std::size_t size) {
    std::size_t done = 0;
    while (done < size && offset <= static_cast<std::uint64_t>(INT64_MAX) - size) {
      const ssize_t got = ::pread(fd.get(), static_cast<char*>(to) + done, size - done,
                                  static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  };
}

ReadAt ReaderOf(std::string_view bytes) {
  return [bytes](std::uint64_t offset, void* to, std::size_t size) {
    if (size == 0 || offset >= bytes.size()) return std::size_t{0};  // `to` may be null here
    const std::size_t got = std::min<std::size_t>(size, bytes.size() - offset);
    std::memcpy(to, bytes.data() + offset, got);
    return got;
  };
}

}  // namespace fieldcost
