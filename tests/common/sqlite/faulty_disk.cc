#include "tests/common/sqlite/faulty_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <new>
#include <sstream>

#include "common/base/check.h"
#include "common/shm/mix.h"

namespace fieldcost::testing {
namespace {

constexpr char kName[] = "fieldcost-faulty-disk";
constexpr std::size_t kSectorBytes = 512;
constexpr unsigned kChoices = 4;  // none, all, the first, any

FaultyDisk* disk = nullptr;
sqlite3_vfs* real = nullptr;
sqlite3_vfs faulty;

using Operation = FaultyDisk::Operation;

// Precedes the file object of the real file system in memory.
struct OpenFile {
  sqlite3_file base;
  std::string* path;  // null for a file that the disk does not hold
  sqlite3_file* real_file() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
OpenFile* Of(sqlite3_file* file) { return reinterpret_cast<OpenFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file)->real_file(); }
const sqlite3_io_methods& Methods(sqlite3_file* file) { return *Real(file)->pMethods; }
bool Fails(sqlite3_file* file, Operation operation) {
  return Of(file)->path != nullptr && disk->Fails(operation);
}

int Close(sqlite3_file* file) {
  const int code = Methods(file).xClose(Real(file));
  delete Of(file)->path;
  return code;
}
int Read(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset) {
  return Methods(file).xRead(Real(file), buffer, size, offset);
}
int Write(sqlite3_file* file, const void* buffer, int size, sqlite3_int64 offset) {
  if (Fails(file, Operation::kWrite)) return disk->ErrorOf(Operation::kWrite);
  const int code = Methods(file).xWrite(Real(file), buffer, size, offset);
  if (code == SQLITE_OK && Of(file)->path != nullptr) {
    disk->Wrote(*Of(file)->path, static_cast<std::uint64_t>(offset),
                std::string(static_cast<const char*>(buffer), static_cast<std::size_t>(size)));
  }
  return code;
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (Fails(file, Operation::kTruncate)) return disk->ErrorOf(Operation::kTruncate);
  const int code = Methods(file).xTruncate(Real(file), size);
  if (code == SQLITE_OK && Of(file)->path != nullptr) {
    disk->Truncated(*Of(file)->path, static_cast<std::uint64_t>(size));
  }
  return code;
}
int Sync(sqlite3_file* file, int /*flags*/) {
  if (Fails(file, Operation::kSync)) return disk->ErrorOf(Operation::kSync);
  if (Of(file)->path != nullptr) disk->Synced(*Of(file)->path);
  return SQLITE_OK;  // it need not wait for the real disk
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Methods(file).xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int level) { return Methods(file).xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) { return Methods(file).xUnlock(Real(file), level); }
int CheckReserved(sqlite3_file* file, int* result) {
  return Methods(file).xCheckReservedLock(Real(file), result);
}
int Control(sqlite3_file* file, int operation, void* argument) {
  return Methods(file).xFileControl(Real(file), operation, argument);
}
int SectorSize(sqlite3_file* /*file*/) { return kSectorBytes; }
// No more than what every disk guarantees.
int Characteristics(sqlite3_file* /*file*/) { return 0; }
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** address) {
  if (extend != 0 && Fails(file, Operation::kGrow)) return disk->ErrorOf(Operation::kGrow);
  return Methods(file).xShmMap(Real(file), region, size, extend, address);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Methods(file).xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Methods(file).xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) { return Methods(file).xShmUnmap(Real(file), remove); }
int Fetch(sqlite3_file* /*file*/, sqlite3_int64 /*offset*/, int /*size*/, void** address) {
  *address = nullptr;  // files are read, not mapped
  return SQLITE_OK;
}
int Unfetch(sqlite3_file* /*file*/, sqlite3_int64 /*offset*/, void* /*address*/) {
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kMethods = {
    3,        Close,         Read,    Write,      Truncate,        Sync,   FileSize, Lock,
    Unlock,   CheckReserved, Control, SectorSize, Characteristics, ShmMap, ShmLock,  ShmBarrier,
    ShmUnmap, Fetch,         Unfetch};

int Open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  OpenFile* const opened = new (file) OpenFile{};
  const int code = real->xOpen(real, name, opened->real_file(), flags, out_flags);
  if (opened->real_file()->pMethods == nullptr) return code;
  opened->base.pMethods = &kMethods;
  if (code == SQLITE_OK && disk->Holds(name)) {
    opened->path = new std::string(name);
    disk->Opened(name);
  }
  return code;
}

int Delete(sqlite3_vfs* /*vfs*/, const char* name, int sync_directory) {
  const bool is_held = disk->Holds(name);
  if (is_held && disk->Fails(Operation::kDelete)) return disk->ErrorOf(Operation::kDelete);
  const int code = real->xDelete(real, name, sync_directory);
  if (code != SQLITE_OK || !is_held) return code;
  disk->Deleted(name);
  if (sync_directory != 0) disk->Synced(name);
  return code;
}

std::string ReadAll(const std::string& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

std::uint64_t Draw(std::uint64_t& random, std::uint64_t end) {
  random = shm::MixBits(random + 1);
  return random % end;
}

}  // namespace

FaultyDisk::FaultyDisk(std::filesystem::path prefix) : prefix_(std::move(prefix)) {
  FIELDCOST_CHECK(disk == nullptr);
  disk = this;
  real = sqlite3_vfs_find(nullptr);
  faulty = *real;
  faulty.zName = kName;
  faulty.pNext = nullptr;
  faulty.szOsFile += static_cast<int>(sizeof(OpenFile));
  faulty.xOpen = Open;
  faulty.xDelete = Delete;
  FIELDCOST_CHECK(sqlite3_vfs_register(&faulty, 1) == SQLITE_OK);
}

FaultyDisk::~FaultyDisk() {
  sqlite3_vfs_unregister(&faulty);
  sqlite3_vfs_register(real, 1);
  disk = nullptr;
}

void FaultyDisk::FailAt(Fault fault, std::uint64_t operation) {
  fault_ = fault;
  fail_at_ = operation;
  operations_ = 0;
  has_failed_ = false;
}

void FaultyDisk::Repair() { fail_at_ = 0; }

bool FaultyDisk::Holds(const char* path) const {
  return path != nullptr && std::string_view(path).starts_with(prefix_);
}

void FaultyDisk::Opened(const std::string& path) {
  if (files_.contains(path)) return;
  files_[path].durable = {.exists = true, .bytes = ReadAll(path)};
}

bool FaultyDisk::Fails(Operation operation) {
  const bool needs_room = operation == Operation::kWrite || operation == Operation::kGrow;
  const bool changes_a_file = operation != Operation::kGrow;
  if (fail_at_ == 0 || !(fault_ == Fault::kFull ? needs_room : changes_a_file)) return false;
  const bool fails = ++operations_ >= fail_at_;
  has_failed_ = has_failed_ || fails;
  return fails;
}

int FaultyDisk::ErrorOf(Operation operation) const {
  if (fault_ == Fault::kFull) {
    return operation == Operation::kGrow ? SQLITE_IOERR_SHMSIZE : SQLITE_FULL;
  }
  return SQLITE_IOERR;
}

void FaultyDisk::Wrote(const std::string& path, std::uint64_t offset, std::string bytes) {
  files_[path].changes.push_back({Operation::kWrite, offset, std::move(bytes)});
}

void FaultyDisk::Truncated(const std::string& path, std::uint64_t size) {
  files_[path].changes.push_back({Operation::kTruncate, size, {}});
}

void FaultyDisk::Deleted(const std::string& path) {
  files_[path].changes.push_back({Operation::kDelete, 0, {}});
}

void FaultyDisk::Synced(const std::string& path) {
  for (auto& [other, tracked] : files_) {
    std::vector<Change>& changes = tracked.changes;
    const auto is_deletion = [](const Change& c) { return c.operation == Operation::kDelete; };
    const auto durable = other == path
                             ? changes.end()
                             : std::find_if(changes.rbegin(), changes.rend(), is_deletion).base();
    for (auto change = changes.begin(); change != durable; ++change) {
      tracked.durable.Apply(*change);
    }
    changes.erase(changes.begin(), durable);
  }
}

void FaultyDisk::File::Apply(const Change& change) {
  exists = change.operation != Operation::kDelete;
  if (change.operation != Operation::kWrite) {
    bytes.resize(change.offset);
    return;
  }
  bytes.resize(std::max<std::size_t>(bytes.size(), change.offset + change.bytes.size()));
  bytes.replace(change.offset, change.bytes.size(), change.bytes);
}

FaultyDisk::File FaultyDisk::Surviving(const Tracked& tracked, std::uint64_t& random) {
  File file = tracked.durable;
  const std::uint64_t choice = Draw(random, kChoices);
  std::size_t count = choice == 0 ? 0 : tracked.changes.size();
  if (choice == 2) count = Draw(random, tracked.changes.size() + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const Change& change = tracked.changes[i];
    if (choice < 3) {
      file.Apply(change);
    } else if (change.operation != Operation::kWrite) {
      if (Draw(random, 2) == 0) {
        file.Apply(change);
      } else if (change.operation == Operation::kDelete) {
        break;  // later changes are those of another file of this name
      }
    } else {
      for (std::size_t at = 0; at < change.bytes.size(); at += kSectorBytes) {
        if (Draw(random, 2) != 0) continue;
        file.Apply({Operation::kWrite, change.offset + at, change.bytes.substr(at, kSectorBytes)});
      }
    }
  }
  return file;
}

void FaultyDisk::LosePower(std::uint64_t seed) {
  std::uint64_t random = seed;
  for (const auto& [path, tracked] : files_) {
    const File file = Surviving(tracked, random);
    std::filesystem::remove(path);
    if (!file.exists) continue;
    std::ofstream(path, std::ios::binary) << file.bytes;
  }
  files_.clear();
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(prefix_).parent_path())) {
    const std::string path = entry.path().string();
    if (path.starts_with(prefix_) && path.ends_with("-shm")) std::filesystem::remove(path);
  }
  Repair();
}

}  // namespace fieldcost::testing
