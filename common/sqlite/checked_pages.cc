#include "common/sqlite/checked_pages.h"

#include <sqlite3.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "common/base/check.h"

namespace fieldcost::sqlite {
namespace {

constexpr int kChecked = kCheckedPageBytes - kPageChecksumBytes;
// Offsets in the header: page size (big endian) and reserved bytes per page
// (fileformat2.html#the_database_header).
constexpr int kPageSizeAt = 16;
constexpr int kReservedAt = 20;

using Page = std::array<unsigned char, kCheckedPageBytes>;

// Precedes the file object of the layer below in memory.
struct File {
  sqlite3_file base;
  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
sqlite3_file* Below(sqlite3_file* file) { return reinterpret_cast<File*>(file)->below(); }
const sqlite3_io_methods& MethodsOf(sqlite3_file* file) { return *Below(file)->pMethods; }

// Each step is a bijection of its word, so any change to a single word changes the result.
std::uint64_t ChecksumOf(const unsigned char* page, std::uint64_t number) {
  std::uint64_t sum = (number + 1) * 0x9e3779b97f4a7c15;
  for (int i = 0; i < kChecked; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, page + i, sizeof word);
    sum = (sum ^ word) * 0xd6e8feb86659fd93;
    sum ^= sum >> 32;
  }
  return sum;
}

bool IsRight(const unsigned char* page, std::uint64_t number) {
  std::uint64_t stored = 0;
  std::memcpy(&stored, page + kChecked, sizeof stored);
  return stored == ChecksumOf(page, number);
}

int Read(sqlite3_file* file, void* buffer, int size, sqlite3_int64 offset) {
  sqlite3_int64 file_size = 0;
  if (const int code = MethodsOf(file).xFileSize(Below(file), &file_size); code != SQLITE_OK) {
    return code;
  }
  // A new database is empty, and SQLite expects a short read beyond its end.
  if (offset >= file_size) return MethodsOf(file).xRead(Below(file), buffer, size, offset);
  const sqlite3_int64 number = offset / kCheckedPageBytes;
  const sqlite3_int64 begin = number * kCheckedPageBytes;
  if (offset + size > begin + kCheckedPageBytes) return SQLITE_CORRUPT;
  Page page;
  const int code = MethodsOf(file).xRead(Below(file), page.data(), kCheckedPageBytes, begin);
  if (code == SQLITE_IOERR_SHORT_READ) return SQLITE_CORRUPT;
  if (code != SQLITE_OK) return code;
  if (!IsRight(page.data(), static_cast<std::uint64_t>(number))) return SQLITE_CORRUPT;
  std::memcpy(buffer, page.data() + (offset - begin), static_cast<std::size_t>(size));
  return SQLITE_OK;
}

int Write(sqlite3_file* file, const void* buffer, int size, sqlite3_int64 offset) {
  if (size != kCheckedPageBytes || offset % kCheckedPageBytes != 0) return SQLITE_IOERR_WRITE;
  Page page;
  std::memcpy(page.data(), buffer, kChecked);
  const std::uint64_t sum =
      ChecksumOf(page.data(), static_cast<std::uint64_t>(offset / kCheckedPageBytes));
  std::memcpy(page.data() + kChecked, &sum, sizeof sum);
  return MethodsOf(file).xWrite(Below(file), page.data(), kCheckedPageBytes, offset);
}

int Close(sqlite3_file* file) { return MethodsOf(file).xClose(Below(file)); }
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  return MethodsOf(file).xTruncate(Below(file), size);
}
int Sync(sqlite3_file* file, int flags) { return MethodsOf(file).xSync(Below(file), flags); }
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return MethodsOf(file).xFileSize(Below(file), size);
}
int Lock(sqlite3_file* file, int level) { return MethodsOf(file).xLock(Below(file), level); }
int Unlock(sqlite3_file* file, int level) { return MethodsOf(file).xUnlock(Below(file), level); }
int CheckReserved(sqlite3_file* file, int* result) {
  return MethodsOf(file).xCheckReservedLock(Below(file), result);
}
int Control(sqlite3_file* file, int operation, void* argument) {
  return MethodsOf(file).xFileControl(Below(file), operation, argument);
}
int SectorSize(sqlite3_file* file) { return MethodsOf(file).xSectorSize(Below(file)); }
int Characteristics(sqlite3_file* file) {
  return MethodsOf(file).xDeviceCharacteristics(Below(file));
}
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return MethodsOf(file).xShmMap(Below(file), region, size, extend, memory);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return MethodsOf(file).xShmLock(Below(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { MethodsOf(file).xShmBarrier(Below(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return MethodsOf(file).xShmUnmap(Below(file), remove);
}

sqlite3_io_methods MakeMethods(bool with_memory) {
  sqlite3_io_methods methods{};
  methods.iVersion = 2;
  methods.xClose = Close;
  methods.xRead = Read;
  methods.xWrite = Write;
  methods.xTruncate = Truncate;
  methods.xSync = Sync;
  methods.xFileSize = FileSize;
  methods.xLock = Lock;
  methods.xUnlock = Unlock;
  methods.xCheckReservedLock = CheckReserved;
  methods.xFileControl = Control;
  methods.xSectorSize = SectorSize;
  methods.xDeviceCharacteristics = Characteristics;
  if (!with_memory) return methods;
  methods.xShmMap = ShmMap;
  methods.xShmLock = ShmLock;
  methods.xShmBarrier = ShmBarrier;
  methods.xShmUnmap = ShmUnmap;
  return methods;
}

const sqlite3_io_methods& Methods(bool with_memory) {
  static const sqlite3_io_methods with = MakeMethods(true);
  static const sqlite3_io_methods without = MakeMethods(false);
  return with_memory ? with : without;
}

sqlite3_vfs* VfsBelow(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

// Whether the file is empty, or a database whose pages have room for a checksum.
bool HasChecksums(sqlite3_file* below) {
  sqlite3_int64 size = 0;
  if (below->pMethods->xFileSize(below, &size) != SQLITE_OK) return false;
  if (size == 0) return true;
  std::array<unsigned char, kReservedAt + 1> header{};
  if (below->pMethods->xRead(below, header.data(), static_cast<int>(header.size()), 0) !=
      SQLITE_OK) {
    return false;
  }
  return header[kPageSizeAt] << 8 == kCheckedPageBytes && header[kPageSizeAt + 1] == 0 &&
         header[kReservedAt] == kPageChecksumBytes;
}

int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  sqlite3_vfs* below = VfsBelow(vfs);
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return below->xOpen(below, name, file, flags, out_flags);
  sqlite3_file* inner = Below(file);
  inner->pMethods = nullptr;
  const int code = below->xOpen(below, name, inner, flags, out_flags);
  if (code != SQLITE_OK) {
    if (inner->pMethods != nullptr) inner->pMethods->xClose(inner);
    return code;
  }
  if (!HasChecksums(inner)) {
    inner->pMethods->xClose(inner);
    return SQLITE_NOTADB;
  }
  file->pMethods = &Methods(inner->pMethods->xShmMap != nullptr);
  return SQLITE_OK;
}

void Register(const char* name, const char* name_below) {
  sqlite3_vfs* below = ::sqlite3_vfs_find(name_below);
  FIELDCOST_CHECK(below != nullptr);
  // Never unregistered or freed: connections may outlive everything else.
  auto* vfs = new sqlite3_vfs(*below);  // NOLINT(cppcoreguidelines-owning-memory)
  vfs->zName = name;
  vfs->pNext = nullptr;
  vfs->pAppData = below;
  vfs->szOsFile = static_cast<int>(sizeof(File)) + below->szOsFile;
  vfs->xOpen = Open;
  vfs->xDelete = [](sqlite3_vfs* self, const char* path, int sync) {
    return VfsBelow(self)->xDelete(VfsBelow(self), path, sync);
  };
  vfs->xAccess = [](sqlite3_vfs* self, const char* path, int flags, int* result) {
    return VfsBelow(self)->xAccess(VfsBelow(self), path, flags, result);
  };
  vfs->xFullPathname = [](sqlite3_vfs* self, const char* path, int size, char* result) {
    return VfsBelow(self)->xFullPathname(VfsBelow(self), path, size, result);
  };
  FIELDCOST_CHECK(::sqlite3_vfs_register(vfs, 0) == SQLITE_OK);
}

}  // namespace

void RegisterCheckedPages() {
  static const bool done = [] {
    Register(kCheckedPages, "unix");
    Register(kCheckedPagesAlone, "unix-none");
    return true;
  }();
  FIELDCOST_CHECK(done);
}

}  // namespace fieldcost::sqlite
