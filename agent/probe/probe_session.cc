#include "agent/probe/probe_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "agent/settings/memory_dir.h"
#include "common/crypto/random.h"
#include "common/shm/probe_file.h"

namespace fieldcost::probe {
namespace {

namespace fs = std::filesystem;

constexpr char kSessions[] = "probe";
constexpr char kLock[] = "lock";
constexpr int kAttempts = 8;

std::uint64_t IdOf(const fs::path& directory) {
  const std::string name = directory.filename().string();
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id, 16);
  return error == std::errc() && end == name.data() + name.size() ? id : 0;
}

std::vector<fs::path> Entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (auto entry = fs::directory_iterator(directory, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    entries.push_back(entry->path());
  }
  std::ranges::sort(entries);
  return entries;
}

}  // namespace

Result<Session> Session::Make(const settings::AgentPaths& paths, std::uint64_t id) {
  FIELDCOST_ASSIGN(const settings::MemoryDir memory, settings::MakeMemoryDir(paths));
  fs::path directory;
  // A process that searches for abandoned sessions may hold a new one for a moment.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    directory = memory.directory / kSessions /
                fmt::format("{:016x}", id != 0 ? id : crypto::RandomUint64() | 1);
    FIELDCOST_TRY(MakeDirectories(directory, 0700));
    FIELDCOST_ASSIGN(std::optional<Session> session, Take(directory));
    if (session) return *std::move(session);
  }
  return Fail(ErrorCode::kUnavailable, "make the session {}: another process holds it",
              directory.string());
}

Result<std::optional<Session>> Session::Take(const fs::path& directory) {
  const std::uint64_t id = IdOf(directory);
  if (id == 0) return Fail(ErrorCode::kInvalidArgument, "{} is not a session", directory.string());
  const fs::path file = directory / kLock;
  UniqueFd lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock.valid()) return ErrnoError("open", file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::optional<Session>();
    return ErrnoError("lock", file, errno);
  }
  return std::optional<Session>(Session(directory, id, std::move(lock)));
}

std::vector<fs::path> Session::Files() const { return SessionFiles(directory_); }

std::vector<fs::path> SessionFiles(const fs::path& directory) {
  std::vector<fs::path> files = Entries(directory);
  std::erase_if(files,
                [](const fs::path& file) { return file.extension() != shm::kProbeFileSuffix; });
  return files;
}

Status Session::Remove() {
  std::error_code error;
  fs::remove_all(directory_, error);
  if (error) return ErrnoError("remove", directory_, error.value());
  return {};
}

std::vector<fs::path> SessionDirectories(const settings::AgentPaths& paths) {
  std::vector<fs::path> directories;
  for (const fs::path& root : paths.memory_roots) {
    settings::AgentPaths one = paths;
    one.memory_roots = {root};
    const auto memory = settings::FindMemoryDir(one);
    if (!memory) continue;
    for (fs::path& entry : Entries(memory->directory / kSessions)) {
      if (IdOf(entry) != 0) directories.push_back(std::move(entry));
    }
  }
  return directories;
}

}  // namespace fieldcost::probe
