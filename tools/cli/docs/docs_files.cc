#include "tools/cli/docs/docs_files.h"

#include <cerrno>
#include <fstream>

#include "common/base/file.h"

namespace fieldcost::cli {

Status WriteDocument(const std::filesystem::path& path, std::string_view bytes) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return {};
  return ErrnoError("write", path, errno != 0 ? errno : EIO);
}

}  // namespace fieldcost::cli
