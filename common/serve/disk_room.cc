#include "common/serve/disk_room.h"

#include <sys/statvfs.h>

namespace fieldcost::serve {

std::optional<std::uint64_t> FreeBytes(const std::filesystem::path& directory) {
  struct statvfs disk {};
  if (::statvfs(directory.c_str(), &disk) != 0) return std::nullopt;
  return std::uint64_t{disk.f_bavail} * disk.f_frsize;
}

}  // namespace fieldcost::serve
