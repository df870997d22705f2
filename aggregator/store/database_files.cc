#include "aggregator/store/database_files.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "common/base/text.h"

namespace fieldcost::store {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kListPrefix = "MANIFEST-";
constexpr std::string_view kTableSuffix = ".sst";
constexpr std::string_view kCurrent = "CURRENT";  // names the list of files in force
constexpr std::string_view kMarkSuffix = ".synced";
constexpr std::string_view kWholeSuffix = ".whole";  // a log without its torn end, being written
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

bool IsLog(std::string_view name) { return name.ends_with(kLogSuffix); }
bool IsMarked(std::string_view name) {
  return IsLog(name) || (name.starts_with(kListPrefix) && !name.ends_with(kMarkSuffix));
}
std::string NameIn(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Error IoError(std::string_view action, const std::filesystem::path& path, const IOStatus& status) {
  return Fail(ErrorCode::kIo, "{} {}: {}", action, path.string(), status.ToString());
}

class MarkedFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  MarkedFile(MarkingFileSystem& files, std::string path, const rocksdb::FileOptions& file_options,
             std::unique_ptr<rocksdb::FSWritableFile> target)
      : FSWritableFileOwnerWrapper(std::move(target)),
        files_(files),
        path_(std::move(path)),
        file_options_(file_options) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return Counted(data.size(), FSWritableFileWrapper::Append(data, options, debug));
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    return Counted(data.size(), FSWritableFileWrapper::Append(data, options, info, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    const std::uint64_t bytes = written_;
    IOStatus status = FSWritableFileWrapper::Sync(options, debug);
    return status.ok() ? Mark(bytes, options, debug) : status;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    const std::uint64_t bytes = written_;
    IOStatus status = FSWritableFileWrapper::Fsync(options, debug);
    return status.ok() ? Mark(bytes, options, debug) : status;
  }

 private:
  IOStatus Counted(std::size_t size, IOStatus status) {
    if (status.ok()) written_ += size;
    return status;
  }

  IOStatus Mark(std::uint64_t bytes, const IOOptions& options, IODebugContext* debug) {
    const MutexLock lock(mutex_);
    if (bytes <= marked_) return IOStatus::OK();
    if (mark_ == nullptr) {
      rocksdb::FileOptions plain = file_options_;
      plain.use_direct_writes = false;
      IOStatus made =
          files_.FileSystemWrapper::NewWritableFile(MarkOf(path_).string(), plain, &mark_, debug);
      if (!made.ok()) return made;
    }
    IOStatus status = mark_->Append(EncodeMark({.bytes = bytes}), options, debug);
    if (!status.ok()) return status;
    marked_ = bytes;
    files_.NoteSync(path_, bytes);
    return status;
  }

  MarkingFileSystem& files_;
  const std::string path_;
  const rocksdb::FileOptions file_options_;
  std::atomic<std::uint64_t> written_{0};
  Mutex mutex_;
  std::unique_ptr<rocksdb::FSWritableFile> mark_ FIELDCOST_GUARDED_BY(mutex_);
  std::uint64_t marked_ FIELDCOST_GUARDED_BY(mutex_) = 0;
};

Result<std::string> ReadAll(rocksdb::FileSystem& files, const std::string& path) {
  std::string bytes;
  const IOStatus status = rocksdb::ReadFileToString(&files, path, &bytes);
  if (!status.ok()) return IoError("read", path, status);
  return bytes;
}

// A file in the store's directory, and its mark.
struct MarkedName {
  bool exists = false;
  SyncedMark mark;
};

Result<std::map<std::string, MarkedName>> MarkedNames(rocksdb::FileSystem& files,
                                                      const std::filesystem::path& directory) {
  std::map<std::string, MarkedName> names;  // logs in the order of their creation
  std::vector<std::string> children;
  const IOStatus status = files.GetChildren(directory.string(), IOOptions(), &children, nullptr);
  if (status.IsNotFound()) return names;
  if (!status.ok()) return IoError("list", directory, status);
  for (const std::string& name : children) {
    if (IsMarked(name)) names[name].exists = true;
    if (!name.ends_with(kMarkSuffix)) continue;
    FIELDCOST_ASSIGN(const std::string marks, ReadAll(files, (directory / name).string()));
    names[name.substr(0, name.size() - kMarkSuffix.size())].mark = ReadMarks(marks);
  }
  return names;
}

constexpr char kWhatToDo[] =
    "nothing has been changed; restore a backup, or run fieldcost-aggregator recover";

// Reads the name of the list of files in force; empty if the store does not exist yet, which the
// engine concludes from the absence of CURRENT.
Result<std::string> ReadCurrent(rocksdb::FileSystem& files,
                                const std::filesystem::path& directory) {
  std::vector<std::string> children;
  IOStatus status = files.GetChildren(directory.string(), IOOptions(), &children, nullptr);
  if (status.IsNotFound()) return std::string();
  if (!status.ok()) return IoError("list", directory, status);
  const std::filesystem::path current = directory / kCurrent;
  if (std::find(children.begin(), children.end(), kCurrent) == children.end()) {
    const bool was_made = std::any_of(children.begin(), children.end(), [](const auto& name) {
      return IsLog(name) || name.ends_with(kTableSuffix);
    });
    if (!was_made) return std::string();
    return Fail(ErrorCode::kCorrupt, "{} is missing; {}", current.string(), kWhatToDo);
  }
  FIELDCOST_ASSIGN(const std::string named, ReadAll(files, current.string()));
  const std::string list = named.substr(0, named.find('\n'));
  const bool is_there = named == list + '\n' && list.starts_with(kListPrefix) &&
                        std::find(children.begin(), children.end(), list) != children.end();
  if (is_there) return list;
  return Fail(ErrorCode::kCorrupt, "{} is damaged: it names '{}', which is not there; {}",
              current.string(), EscapeControl(named), kWhatToDo);
}

// Files have ascending numbers, shared by lists and logs.
std::uint64_t NumberOf(std::string_view name) {
  if (name.starts_with(kListPrefix)) name.remove_prefix(kListPrefix.size());
  return ParseUint64(name.substr(0, name.find('.'))).value_or(0);
}

// Opening a store begins a list of files, whose number is above that of all logs already contained
// in tables.
bool IsOver(const std::string& name, bool exists, const std::string& current_list) {
  if (!IsLog(name)) return name != current_list;
  return !exists && NumberOf(name) < NumberOf(current_list);
}

// kCorrupt if a file, or its first `synced` bytes, differs from what was written.
Status CheckWhole(const std::filesystem::path& file, const LogScan& scan, std::uint64_t synced) {
  if (scan.whole_bytes >= synced) return {};
  if (scan.size < synced) {
    return Fail(ErrorCode::kCorrupt, "{} ends at byte {}, but {} bytes of it were written",
                file.string(), scan.size, synced);
  }
  return Fail(ErrorCode::kCorrupt, "{} is damaged at byte {} of {}", file.string(),
              scan.whole_bytes, synced);
}

}  // namespace

std::filesystem::path MarkOf(const std::filesystem::path& file) {
  return file.string() + std::string(kMarkSuffix);
}

IOStatus MarkingFileSystem::NewWritableFile(const std::string& path,
                                            const rocksdb::FileOptions& options,
                                            std::unique_ptr<rocksdb::FSWritableFile>* result,
                                            IODebugContext* debug) {
  std::unique_ptr<rocksdb::FSWritableFile> target;
  const bool is_marked = IsMarked(NameIn(path));
  // The mark may belong to a file of the same name that a crash left before the engine recorded it.
  if (is_marked) {
    IOStatus status = Retire(path, IOOptions(), debug);
    if (!status.ok()) return status;
  }
  IOStatus status = FileSystemWrapper::NewWritableFile(path, options, &target, debug);
  if (!status.ok()) return status;
  if (is_marked) {
    *result = std::make_unique<MarkedFile>(*this, path, options, std::move(target));
  } else {
    *result = std::move(target);
  }
  return status;
}

// Writes durably; otherwise the file might be gone after a power loss, but not its mark.
IOStatus MarkingFileSystem::Retire(const std::string& path, const IOOptions& options,
                                   IODebugContext* debug) {
  const std::string mark_path = MarkOf(path).string();
  if (!FileSystemWrapper::FileExists(mark_path, options, debug).ok()) return IOStatus::OK();
  std::unique_ptr<rocksdb::FSWritableFile> mark;
  std::uint64_t size = 0;
  IOStatus status = FileSystemWrapper::GetFileSize(mark_path, options, &size, debug);
  if (status.ok()) {
    status = FileSystemWrapper::ReopenWritableFile(mark_path, rocksdb::FileOptions(), &mark, debug);
  }
  // A crash may have torn the last mark.
  const std::string rest((kMarkBytes - size % kMarkBytes) % kMarkBytes, '\0');
  if (status.ok()) status = mark->Append(rest + EncodeMark({.retired = true}), options, debug);
  if (status.ok()) status = mark->Sync(options, debug);
  const MutexLock lock(mutex_);
  synced_.erase(path);
  return status;
}

IOStatus MarkingFileSystem::DeleteFile(const std::string& path, const IOOptions& options,
                                       IODebugContext* debug) {
  if (failures_->failed()) return IOStatus::OK();
  if (!IsMarked(NameIn(path))) return FileSystemWrapper::DeleteFile(path, options, debug);
  IOStatus status = Retire(path, options, debug);
  if (status.ok()) status = FileSystemWrapper::DeleteFile(path, options, debug);
  if (!status.ok()) return status;
  const std::string mark_path = MarkOf(path).string();
  if (!FileSystemWrapper::FileExists(mark_path, options, debug).ok()) return status;
  return FileSystemWrapper::DeleteFile(mark_path, options, debug);
}

std::map<std::string, std::uint64_t> MarkingFileSystem::SyncedBytes() const {
  const MutexLock lock(mutex_);
  return synced_;
}

void MarkingFileSystem::NoteSync(const std::string& path, std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  synced_[path] = bytes;
}

Status ScanFile(rocksdb::FileSystem& files, const std::filesystem::path& file, std::uint64_t limit,
                LogScanner& scanner) {
  std::unique_ptr<rocksdb::FSSequentialFile> reader;
  IOStatus status =
      files.NewSequentialFile(file.string(), rocksdb::FileOptions(), &reader, nullptr);
  if (!status.ok()) return IoError("open", file, status);
  std::string scratch(kLogBlockBytes, '\0');
  std::string block;
  while (limit != 0) {
    block.clear();
    while (block.size() < std::min<std::uint64_t>(kLogBlockBytes, limit)) {
      Slice part;
      const std::size_t wanted = std::min<std::uint64_t>(kLogBlockBytes, limit) - block.size();
      status = reader->Read(wanted, IOOptions(), &part, scratch.data(), nullptr);
      if (!status.ok()) return IoError("read", file, status);
      if (part.empty()) break;
      block.append(part.data(), part.size());
    }
    scanner.Take(block);
    if (block.size() < kLogBlockBytes) return {};
    limit -= block.size();
  }
  return {};
}

// Explains why an existing log, or list of files, is not whole; an empty text if it is. `torn` has
// the ends of the logs before it.
static LogDamage DamageIn(LogDamage damage, const LogScan& scan, std::uint64_t synced,
                          const std::vector<TornEnd>& torn) {
  damage.at = scan.whole_bytes;
  const Status whole = CheckWhole(damage.file, scan, synced);
  if (!whole) damage.text = whole.error().message;
  if (!whole || !damage.is_log) return damage;
  if (scan.goes_on_at) {
    damage.text = fmt::format("{} is damaged at byte {}: whole records follow at byte {}",
                              damage.file.string(), scan.whole_bytes, *scan.goes_on_at);
  } else if (!torn.empty() && scan.whole_bytes != 0) {
    const TornEnd& before = torn.back();
    damage.text =
        fmt::format("{} is damaged at byte {}: {} continues after it", before.file.string(),
                    before.whole_bytes, damage.file.filename().string());
    damage.file = before.file;
    damage.at = before.whole_bytes;
  }
  return damage;
}

Result<LogsState> ScanLogs(rocksdb::FileSystem& files, const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(const std::string current_list, ReadCurrent(files, directory));
  FIELDCOST_ASSIGN(const auto names, MarkedNames(files, directory));
  LogsState state;
  for (const auto& [name, known] : names) {
    if (known.mark.retired || IsOver(name, known.exists, current_list)) continue;
    const std::filesystem::path file = directory / name;
    LogDamage damage{.file = file, .is_log = IsLog(name)};
    if (damage.is_log) state.logs.push_back(file);
    if (state.damage) continue;
    if (!known.exists) {
      if (known.mark.bytes == 0) continue;
      damage.text = fmt::format("{} is missing, and {} bytes of it were written", file.string(),
                                known.mark.bytes);
      state.damage = std::move(damage);
      continue;
    }
    LogScanner scanner;
    FIELDCOST_TRY(ScanFile(files, file, damage.is_log ? kNoLimit : known.mark.bytes, scanner));
    const LogScan& scan = scanner.result();
    damage = DamageIn(std::move(damage), scan, known.mark.bytes, state.torn);
    if (!damage.text.empty()) {
      state.damage = std::move(damage);
    } else if (damage.is_log && !scan.is_whole()) {
      state.torn.push_back(
          {.file = file, .whole_bytes = scan.whole_bytes, .bytes = scan.size - scan.whole_bytes});
    }
  }
  return state;
}

Result<std::vector<TornEnd>> CheckLogs(rocksdb::FileSystem& files,
                                       const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(LogsState state, ScanLogs(files, directory));
  if (!state.damage) return std::move(state.torn);
  return Fail(ErrorCode::kCorrupt, "{}; {}", state.damage->text, kWhatToDo);
}

Status RemoveTornEnd(rocksdb::FileSystem& files, const TornEnd& end) {
  FIELDCOST_ASSIGN(const std::string bytes, ReadAll(files, end.file.string()));
  const std::string whole = end.file.string() + std::string(kWholeSuffix);
  std::unique_ptr<rocksdb::FSWritableFile> copy;
  IOStatus status = files.NewWritableFile(whole, rocksdb::FileOptions(), &copy, nullptr);
  if (status.ok()) {
    status = copy->Append(Slice(bytes.data(), end.whole_bytes), IOOptions(), nullptr);
  }
  if (status.ok()) status = copy->Sync(IOOptions(), nullptr);
  if (status.ok()) status = copy->Close(IOOptions(), nullptr);
  if (status.ok()) status = files.RenameFile(whole, end.file.string(), IOOptions(), nullptr);
  std::unique_ptr<rocksdb::FSDirectory> directory;
  if (status.ok()) {
    status = files.NewDirectory(end.file.parent_path().string(), IOOptions(), &directory, nullptr);
  }
  if (status.ok()) status = directory->Fsync(IOOptions(), nullptr);
  if (!status.ok()) return IoError("remove the torn end of", end.file, status);
  return {};
}

Status CleanUpLogs(rocksdb::FileSystem& files, const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(const auto names, MarkedNames(files, directory));
  std::vector<std::string> over;
  for (const auto& [name, known] : names) {
    if (!known.exists) over.push_back(MarkOf(name).string());
    const std::string whole = name + std::string(kWholeSuffix);
    const IOStatus status = files.FileExists((directory / whole).string(), IOOptions(), nullptr);
    if (status.ok()) over.push_back(whole);
  }
  for (const std::string& name : over) {
    const IOStatus status = files.DeleteFile((directory / name).string(), IOOptions(), nullptr);
    if (!status.ok()) return IoError("remove", directory / name, status);
  }
  return {};
}

Status CheckSynced(rocksdb::FileSystem& files, const std::map<std::string, std::uint64_t>& synced) {
  for (const auto& [path, bytes] : synced) {
    LogScanner scanner;
    FIELDCOST_TRY(ScanFile(files, path, bytes, scanner));
    FIELDCOST_TRY(CheckWhole(path, scanner.result(), bytes));
  }
  return {};
}

}  // namespace fieldcost::store
