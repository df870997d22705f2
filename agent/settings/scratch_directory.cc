#include "agent/settings/scratch_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "agent/settings/memory_dir.h"

namespace fieldcost::settings {
namespace {

namespace fs = std::filesystem;

// Locked while the descriptor is open, here or in a child; invalid if another process holds it.
UniqueFd Lock(const fs::path& directory) {
  UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (fd.valid() && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Reset();
  return fd;
}

void RemoveAbandoned(const fs::path& parent, const std::string& prefix) {
  std::error_code error;
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path());
  }
  for (const fs::path& directory : found) {
    if (Lock(directory).valid()) fs::remove_all(directory, error);
  }
}

}  // namespace

Result<ScratchDirectory> ScratchDirectory::Make(const AgentPaths& paths, std::string_view purpose) {
  FIELDCOST_ASSIGN(const MemoryDir memory, MakeMemoryDir(paths));
  const std::string prefix = std::string(purpose) + "-";
  RemoveAbandoned(memory.directory, prefix);
  // Another process may remove it as abandoned before it is locked; then try again.
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = (memory.directory / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr) return ErrnoError("make", name, errno);
    UniqueFd lock = Lock(name);
    std::error_code error;
    if (lock.valid() && fs::exists(name, error)) return ScratchDirectory(name, std::move(lock));
  }
  return Fail(ErrorCode::kIo, "cannot make a directory in {}", memory.directory.string());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (lock_.valid()) fs::remove_all(path_, ignored);
}

}  // namespace fieldcost::settings
