#include "aggregator/store/database_sync_times.h"

#include <rocksdb/file_system.h>

#include <string>
#include <string_view>
#include <utility>

namespace fieldcost::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

using TimePoint = std::chrono::steady_clock::time_point;
constexpr std::string_view kTimedSuffix = ".log";

class TimedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  TimedLog(const OnLogSync& on_log_sync, std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)), on_log_sync_(on_log_sync) {}

  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    const TimePoint begin = TimePoint::clock::now();
    return Timed(begin, FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const TimePoint begin = TimePoint::clock::now();
    return Timed(begin, FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  IOStatus Timed(TimePoint begin, IOStatus status) {
    if (status.ok()) on_log_sync_(TimePoint::clock::now() - begin);
    return status;
  }

  const OnLogSync& on_log_sync_;
};

class LogTimingFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit LogTimingFileSystem(OnLogSync on_log_sync)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), on_log_sync_(std::move(on_log_sync)) {}
  const char* Name() const override { return "LogTimingFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* debug) override {
    return Time(path, FileSystemWrapper::NewWritableFile(path, options, result, debug), *result);
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& old_path,
                             const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSWritableFile>* result,
                             IODebugContext* debug) override {
    return Time(path, FileSystemWrapper::ReuseWritableFile(path, old_path, options, result, debug),
                *result);
  }

 private:
  // Times the syncs of `file` if it was created and is a log.
  IOStatus Time(std::string_view path, IOStatus status,
                std::unique_ptr<rocksdb::FSWritableFile>& file) const {
    if (status.ok() && path.ends_with(kTimedSuffix)) {
      file = std::make_unique<TimedLog>(on_log_sync_, std::move(file));
    }
    return status;
  }

  const OnLogSync on_log_sync_;
};

}  // namespace

std::shared_ptr<rocksdb::FileSystem> WithLogSyncTimes(OnLogSync on_log_sync) {
  return std::make_shared<LogTimingFileSystem>(std::move(on_log_sync));
}

}  // namespace fieldcost::store
