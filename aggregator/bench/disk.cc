#include "aggregator/bench/disk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "aggregator/bench/synthetic_batches.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/write_all.h"

namespace fieldcost::bench {
namespace {

using TimePoint = std::chrono::steady_clock::time_point;

// A file that is removed at the end.
class ScratchFile {
 public:
  explicit ScratchFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~ScratchFile() { ::unlink(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  // Begins with an empty file.
  Status Renew() {
    ::unlink(path_.c_str());
    fd_ = UniqueFd(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!fd_.valid()) return ErrnoError("create", path_, errno);
    return {};
  }
  Status Append(std::string_view bytes) {
    if (const int error = WriteAll(fd_.get(), bytes); error != 0) {
      return ErrnoError("write", path_, error);
    }
    return {};
  }
  Status Sync(SyncCall call) {
    const int result = call == SyncCall::kFsync ? ::fsync(fd_.get()) : ::fdatasync(fd_.get());
    if (result != 0) return ErrnoError("sync", path_, errno);
    return {};
  }

 private:
  const std::filesystem::path path_;
  UniqueFd fd_;
};

// Random, so that no file system can compress it.
std::string RandomBytes(std::size_t size) {
  Random random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.Next());
  return bytes;
}

Status CheckGoOn(const Continue& go_on, std::uint64_t done) {
  if (go_on && !go_on(done)) return Fail(ErrorCode::kUnavailable, "interrupted");
  return {};
}

}  // namespace

double Percentile(std::vector<double>& values, double percent) {
  FIELDCOST_CHECK(!values.empty() && percent >= 0 && percent <= 100);
  const auto index =
      std::min(values.size() - 1,
               static_cast<std::size_t>(static_cast<double>(values.size()) * percent / 100));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

Quantiles QuantilesOf(std::vector<double> times_ms) {
  return {.p50_ms = Percentile(times_ms, 50),
          .p99_ms = Percentile(times_ms, 99),
          .p999_ms = Percentile(times_ms, 99.9)};
}

Result<Quantiles> MeasureSyncs(const std::filesystem::path& directory, SyncCall call,
                               std::uint64_t count, const Continue& go_on) {
  FIELDCOST_CHECK(count > 0);
  const std::string block = RandomBytes(kSyncedBytes);
  ScratchFile file(directory / "sync");
  std::vector<double> times_ms;
  for (std::uint64_t i = 0; i < count; ++i) {
    FIELDCOST_TRY(CheckGoOn(go_on, i));
    if (i % (kMaxSyncFileBytes / kSyncedBytes) == 0) FIELDCOST_TRY(file.Renew());
    const TimePoint begin = TimePoint::clock::now();
    FIELDCOST_TRY(file.Append(block));
    FIELDCOST_TRY(file.Sync(call));
    times_ms.push_back(
        std::chrono::duration<double, std::milli>(TimePoint::clock::now() - begin).count());
  }
  return QuantilesOf(std::move(times_ms));
}

Result<double> MeasureWriting(const std::filesystem::path& directory, std::uint64_t mebibytes,
                              const Continue& go_on) {
  FIELDCOST_CHECK(mebibytes > 0);
  const std::string block = RandomBytes(kMiB);
  ScratchFile file(directory / "sequential");
  FIELDCOST_TRY(file.Renew());
  const TimePoint begin = TimePoint::clock::now();
  for (std::uint64_t i = 0; i < mebibytes; ++i) {
    FIELDCOST_TRY(CheckGoOn(go_on, i));
    FIELDCOST_TRY(file.Append(block));
  }
  FIELDCOST_TRY(file.Sync(SyncCall::kFdatasync));
  const std::chrono::duration<double> seconds = TimePoint::clock::now() - begin;
  return static_cast<double>(mebibytes) / seconds.count();
}

Result<bool> IsInMemory(const std::filesystem::path& directory) {
  struct statfs facts = {};
  if (::statfs(directory.c_str(), &facts) != 0) {
    return ErrnoError("find the file system of", directory, errno);
  }
  const auto type = static_cast<unsigned long>(facts.f_type);
  return type == TMPFS_MAGIC || type == RAMFS_MAGIC;
}

}  // namespace fieldcost::bench
