#include "common/recording/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/base/file.h"

namespace fieldcost::recording {

Result<MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  // Opening a pipe would wait for its writer; for regular files, O_NONBLOCK has no effect.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("stat", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kInvalidArgument, "read {}: not a regular file", path.string());
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) return MappedFile(std::string_view());
  void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (mapped == MAP_FAILED) return ErrnoError("map", path, errno);
  return MappedFile({static_cast<const char*>(mapped), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace fieldcost::recording
