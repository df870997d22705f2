#include "tests/faults/store/fault_file_system.h"

#include <rocksdb/file_system.h>

#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "common/base/check.h"
#include "common/base/log.h"

namespace fieldcost::faults {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class FaultyDirectory::State {
 public:
  State(std::filesystem::path directory, const FaultPlan& plan)
      : directory_(std::move(directory)),
        plan_(plan),
        random_(plan.seed),
        model_(ReadImage(directory_)) {}

  // Returns the name of a file directly in the directory; empty if it is elsewhere.
  std::string NameOf(const std::string& path) const {
    const std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
    return normal.parent_path() == directory_ ? normal.filename().string() : std::string();
  }

  // Counts an operation and returns its planned failure, or OK. REQUIRES: mutex is held.
  IOStatus Begin(Operation kind, const std::string& name) {
    if (power_lost_) return IOStatus::IOError("the power is off");
    if (plan_.power_loss_at != 0 && ++all_ == plan_.power_loss_at) {
      image_ = model_.AfterPowerLoss(random_);
      power_lost_ = true;
      return IOStatus::IOError("the power is off");
    }
    if ((kind & plan_.fail_kinds) == 0) return IOStatus::OK();
    ++count_;
    if (plan_.fail_at == 0 || count_ < plan_.fail_at) return IOStatus::OK();
    if (count_ > plan_.fail_at && !plan_.from_then_on) return IOStatus::OK();
    if (!failed_) {
      LogInfo("planned failure of operation {}, kind {}, of {}", count_,
              static_cast<unsigned>(kind), name);
    }
    failed_ = true;
    log_failed_ =
        log_failed_ || ((kind == kWriteFile || kind == kSyncFile) && name.ends_with(".log"));
    if (!plan_.no_space) return IOStatus::IOError(name, "planned failure (EIO)");
    IOStatus status = IOStatus::NoSpace(name, "planned failure (ENOSPC)");
    status.SetRetryable(true);  // as set by the engine's own file system
    return status;
  }

  std::mutex mutex;
  DiskModel& model() { return model_; }
  Random& random() { return random_; }
  std::uint64_t count() const { return count_; }
  bool failed() const { return failed_; }
  bool log_failed() const { return log_failed_; }
  bool power_lost() const { return power_lost_; }
  void Freeze() {
    image();
    power_lost_ = true;
  }
  const DiskImage& image() {
    if (!image_) image_ = model_.AfterPowerLoss(random_);
    return *image_;
  }

 private:
  const std::filesystem::path directory_;
  const FaultPlan plan_;
  Random random_;
  DiskModel model_;
  std::uint64_t all_ = 0;
  std::uint64_t count_ = 0;
  bool failed_ = false;
  bool log_failed_ = false;
  bool power_lost_ = false;
  std::optional<DiskImage> image_;
};

namespace {

using StatePtr = std::shared_ptr<FaultyDirectory::State>;
using Lock = std::lock_guard<std::mutex>;

class TrackedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  TrackedFile(StatePtr disk, std::string name, DiskModel::FilePtr file,
              std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)),
        disk_(std::move(disk)),
        name_(std::move(name)),
        file_(std::move(file)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kWriteFile, name_);
    std::size_t written = data.size();
    if (!status.ok()) written = disk_->power_lost() ? 0 : disk_->random()() % (data.size() + 1);
    const Slice part(data.data(), written);
    if (written != 0) {
      IOStatus real = FSWritableFileWrapper::Append(part, options, debug);
      FIELDCOST_CHECK(real.ok());
      DiskModel::Append(*file_, {part.data(), part.size()});
    }
    return status;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus PositionedAppend(const Slice& /*data*/, std::uint64_t /*offset*/,
                            const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported("files are only appended to");
  }
  IOStatus PositionedAppend(const Slice& data, std::uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo& /*info*/,
                            IODebugContext* debug) override {
    return PositionedAppend(data, offset, options, debug);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kTruncateFile, name_);
    if (!status.ok()) return status;
    DiskModel::Truncate(*file_, size);
    return FSWritableFileWrapper::Truncate(size, options, debug);
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    std::size_t size = 0;
    {
      const Lock lock(disk_->mutex);
      size = file_->current.size();
    }
    std::this_thread::yield();  // let other threads write meanwhile
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kSyncFile, name_);
    if (status.ok()) {
      disk_->model().Sync(file_, size);
    } else if (!disk_->power_lost()) {
      DiskModel::FailSync(*file_);
    }
    return status;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }
  IOStatus RangeSync(std::uint64_t /*offset*/, std::uint64_t /*size*/, const IOOptions& /*options*/,
                     IODebugContext* /*debug*/) override {
    return IOStatus::OK();  // starts writing, guarantees nothing
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kCloseFile, name_);
    const IOStatus real = FSWritableFileWrapper::Close(options, debug);
    return status.ok() ? real : status;
  }

 private:
  const StatePtr disk_;
  const std::string name_;
  const DiskModel::FilePtr file_;
};

class TrackedDirectory final : public rocksdb::FSDirectoryWrapper {
 public:
  TrackedDirectory(StatePtr disk, std::unique_ptr<rocksdb::FSDirectory> target)
      : FSDirectoryWrapper(std::move(target)), disk_(std::move(disk)) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kSyncDirectory, "directory");
    if (status.ok()) disk_->model().SyncDirectory();
    return status;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& /*reason*/) override {
    return Fsync(options, debug);
  }

 private:
  const StatePtr disk_;
};

class FaultFileSystem final : public rocksdb::FileSystemWrapper {
 public:
  explicit FaultFileSystem(StatePtr disk)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), disk_(std::move(disk)) {}
  const char* Name() const override { return "FaultFileSystem"; }

  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    const std::string name = disk_->NameOf(path);
    IOStatus status = disk_->Begin(kCreateFile, name);
    if (!status.ok()) return status;
    std::unique_ptr<rocksdb::FSWritableFile> target;
    status = FileSystemWrapper::NewWritableFile(path, options, &target, debug);
    if (!status.ok() || name.empty()) {
      *result = std::move(target);
      return status;
    }
    *result =
        std::make_unique<TrackedFile>(disk_, name, disk_->model().Create(name), std::move(target));
    return status;
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    const std::string name = disk_->NameOf(path);
    IOStatus status = disk_->Begin(kCreateFile, name);
    if (!status.ok()) return status;
    std::unique_ptr<rocksdb::FSWritableFile> target;
    status = FileSystemWrapper::ReopenWritableFile(path, options, &target, debug);
    if (!status.ok()) return status;
    DiskModel::FilePtr file = disk_->model().Find(name);
    if (file == nullptr) file = disk_->model().Create(name);
    *result = std::make_unique<TrackedFile>(disk_, name, std::move(file), std::move(target));
    return status;
  }
  IOStatus ReuseWritableFile(const std::string& path, const std::string& /*old_path*/,
                             const rocksdb::FileOptions& /*options*/,
                             std::unique_ptr<rocksdb::FSWritableFile>* /*result*/,
                             IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported("not modelled: reusing " + path);
  }
  IOStatus NewRandomRWFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* /*result*/,
                           IODebugContext* /*debug*/) override {
    return IOStatus::NotSupported("not modelled: writing anywhere in " + path);
  }
  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext* debug) override {
    IOStatus status = BeginRead(path);
    return status.ok() ? FileSystemWrapper::NewSequentialFile(path, options, result, debug)
                       : status;
  }
  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* debug) override {
    IOStatus status = BeginRead(path);
    return status.ok() ? FileSystemWrapper::NewRandomAccessFile(path, options, result, debug)
                       : status;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* result,
                        IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> target;
    IOStatus status = FileSystemWrapper::NewDirectory(path, options, &target, debug);
    if (status.ok()) *result = std::make_unique<TrackedDirectory>(disk_, std::move(target));
    return status;
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kRenameFile, disk_->NameOf(from));
    if (!status.ok()) return status;
    status = FileSystemWrapper::RenameFile(from, to, options, debug);
    if (status.ok()) disk_->model().Rename(disk_->NameOf(from), disk_->NameOf(to));
    return status;
  }
  IOStatus LinkFile(const std::string& from, const std::string& to, const IOOptions& options,
                    IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kCreateFile, disk_->NameOf(from));
    if (!status.ok()) return status;
    status = FileSystemWrapper::LinkFile(from, to, options, debug);
    if (status.ok()) disk_->model().Link(disk_->NameOf(from), disk_->NameOf(to));
    return status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kDeleteFile, disk_->NameOf(path));
    if (!status.ok()) return status;
    status = FileSystemWrapper::DeleteFile(path, options, debug);
    if (status.ok()) disk_->model().Remove(disk_->NameOf(path));
    return status;
  }
  IOStatus Truncate(const std::string& path, std::size_t size, const IOOptions& options,
                    IODebugContext* debug) override {
    const Lock lock(disk_->mutex);
    IOStatus status = disk_->Begin(kTruncateFile, disk_->NameOf(path));
    if (!status.ok()) return status;
    const DiskModel::FilePtr file = disk_->model().Find(disk_->NameOf(path));
    if (file != nullptr) DiskModel::Truncate(*file, size);
    return FileSystemWrapper::Truncate(path, size, options, debug);
  }

 private:
  IOStatus BeginRead(const std::string& path) {
    const Lock lock(disk_->mutex);
    return disk_->Begin(kOpenToRead, disk_->NameOf(path));
  }

  const StatePtr disk_;
};

}  // namespace

FaultyDirectory::FaultyDirectory(std::filesystem::path directory, const FaultPlan& plan)
    : state_(std::make_shared<State>(std::move(directory), plan)) {}
FaultyDirectory::~FaultyDirectory() = default;

std::shared_ptr<rocksdb::FileSystem> FaultyDirectory::file_system() const {
  return std::make_shared<FaultFileSystem>(state_);
}
std::uint64_t FaultyDirectory::operations() const {
  const Lock lock(state_->mutex);
  return state_->count();
}
bool FaultyDirectory::failed() const {
  const Lock lock(state_->mutex);
  return state_->failed();
}
bool FaultyDirectory::power_lost() const {
  const Lock lock(state_->mutex);
  return state_->power_lost();
}
bool FaultyDirectory::log_failed() const {
  const Lock lock(state_->mutex);
  return state_->log_failed();
}
DiskImage FaultyDirectory::AfterPowerLoss() {
  const Lock lock(state_->mutex);
  return state_->image();
}
void FaultyDirectory::Freeze() {
  const Lock lock(state_->mutex);
  state_->Freeze();
}
DiskImage FaultyDirectory::Current() const {
  const Lock lock(state_->mutex);
  return state_->model().Current();
}

DiskImage ReadImage(const std::filesystem::path& directory) {
  DiskImage image;
  if (!std::filesystem::exists(directory)) return image;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    image[entry.path().filename().string()] = {std::istreambuf_iterator<char>(file), {}};
  }
  return image;
}

void WriteImage(const DiskImage& image, const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& [name, bytes] : image) {
    std::ofstream(directory / name, std::ios::binary) << bytes;
  }
}

}  // namespace fieldcost::faults
