#include "common/base/empty_directory.h"

#include "common/base/file.h"

namespace fieldcost {

Status MakeEmptyDirectory(const std::filesystem::path& path, int mode) {
  FIELDCOST_TRY(MakeDirectories(path, mode));
  std::error_code error;
  const bool empty = std::filesystem::is_empty(path, error);
  if (error) return ErrnoError("list", path, error.value());
  if (empty) return {};
  return Fail(ErrorCode::kAlreadyExists, "{} is not empty", path.string());
}

}  // namespace fieldcost
