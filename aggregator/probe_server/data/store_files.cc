#include "aggregator/probe_server/data/store_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::probe_server {
namespace {

// Byte 0 of the lock file is locked while a database is opened or inspected, byte 1 while it is
// open.
constexpr ::off_t kOpening = 0;
constexpr ::off_t kIsOpen = 1;

constexpr std::size_t kCheckDigits = 16;
constexpr std::size_t kMarkBytes = 20 + 1 + kCheckDigits + 1;

struct flock ByteLock(short type, ::off_t byte) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

// Returns false if another program holds it and `how` does not wait.
Result<bool> LockByte(const UniqueFd& fd, const std::filesystem::path& path, int how, short type,
                      ::off_t byte) {
  struct flock lock = ByteLock(type, byte);
  while (::fcntl(fd.get(), how, &lock) != 0) {
    if (errno == EINTR) continue;
    if (how == F_OFD_SETLK && (errno == EAGAIN || errno == EACCES)) return false;
    return ErrnoError("lock", path, errno);
  }
  return true;
}

std::string MarkText(std::uint64_t changes) {
  const std::string number = fmt::format("{:020}", changes);
  const std::string check = crypto::HexSha256("probe server mark " + number);
  return number + ' ' + check.substr(0, kCheckDigits) + '\n';
}

}  // namespace

std::filesystem::path LockFileOf(const std::filesystem::path& database) {
  return database.string() + ".lock";
}
std::filesystem::path MarkFileOf(const std::filesystem::path& database) {
  return database.string() + ".mark";
}
std::filesystem::path LogFileOf(const std::filesystem::path& database) {
  return database.string() + "-wal";
}

Result<OpenLock> OpenLock::Take(const std::filesystem::path& database) {
  const std::filesystem::path path = LockFileOf(database);
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  FIELDCOST_TRY(LockByte(fd, path, F_OFD_SETLKW, F_WRLCK, kOpening));
  FIELDCOST_ASSIGN(const bool is_alone, LockByte(fd, path, F_OFD_SETLK, F_WRLCK, kIsOpen));
  OpenLock lock(std::move(fd), is_alone);
  if (!is_alone) FIELDCOST_TRY(lock.Share());
  return lock;
}

Result<OpenLock> OpenLock::TakeToLook(const std::filesystem::path& database) {
  const std::filesystem::path path = LockFileOf(database);
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid() && errno == ENOENT) return OpenLock(std::move(fd), true);
  if (!fd.valid()) return ErrnoError("open", path, errno);
  FIELDCOST_TRY(LockByte(fd, path, F_OFD_SETLKW, F_RDLCK, kOpening));
  struct flock lock = ByteLock(F_WRLCK, kIsOpen);
  if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) return ErrnoError("ask for", path, errno);
  if (lock.l_type == F_UNLCK) return OpenLock(std::move(fd), true);
  return OpenLock(UniqueFd(), false);
}

Status OpenLock::Share() {
  const std::filesystem::path path = "the lock of the database";
  FIELDCOST_TRY(LockByte(fd_, path, F_OFD_SETLKW, F_RDLCK, kIsOpen));
  FIELDCOST_TRY(LockByte(fd_, path, F_OFD_SETLK, F_UNLCK, kOpening));
  is_alone_ = false;
  return {};
}

Result<Mark> Mark::Open(const std::filesystem::path& database) {
  const std::filesystem::path path = MarkFileOf(database);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    FIELDCOST_TRY(WriteFileAtomically(path, MarkText(0), 0600));
  }
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  return Mark(std::move(fd), path);
}

Result<std::optional<std::uint64_t>> Mark::Read(const std::filesystem::path& database) {
  const std::filesystem::path path = MarkFileOf(database);
  const auto text = ReadFile(path, 2 * kMarkBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::optional<std::uint64_t>();
  if (!text && text.error().code != ErrorCode::kTooLarge) return text.error();
  const auto changes = text ? ParseUint64(text->substr(0, 20)) : std::nullopt;
  if (!changes || *text != MarkText(*changes)) {
    return Fail(ErrorCode::kCorrupt, "{} is damaged", path.string());
  }
  return changes;
}

Status Mark::Write(std::uint64_t changes) {
  const std::string text = MarkText(changes);
  if (::pwrite(fd_.get(), text.data(), text.size(), 0) != static_cast<::ssize_t>(text.size())) {
    return ErrnoError("write", path_, errno);
  }
  if (::fdatasync(fd_.get()) != 0) return ErrnoError("sync", path_, errno);
  return {};
}

}  // namespace fieldcost::probe_server
