// Compares files with what was written: the part of Database that finds damage at rest.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/file_checksum.h>

#include <algorithm>

#include "aggregator/store/database_state.h"
#include "common/base/log.h"
#include "common/base/units.h"

namespace fieldcost::store {
namespace {

constexpr std::size_t kPieceBytes = 1 * kMiB;

// The checksum of the whole file, computed as by the engine.
Result<std::string> ChecksumOf(rocksdb::FileSystem& files, const std::filesystem::path& path) {
  std::unique_ptr<rocksdb::FSSequentialFile> reader;
  rocksdb::IOStatus status =
      files.NewSequentialFile(path.string(), rocksdb::FileOptions(), &reader, nullptr);
  const auto generator =
      rocksdb::GetFileChecksumGenCrc32cFactory()->CreateFileChecksumGenerator({});
  std::string scratch(kPieceBytes, '\0');
  rocksdb::Slice piece;
  while (status.ok()) {
    status = reader->Read(kPieceBytes, rocksdb::IOOptions(), &piece, scratch.data(), nullptr);
    if (!status.ok()) break;
    if (piece.empty()) {
      generator->Finalize();
      return generator->GetChecksum();
    }
    generator->Update(piece.data(), piece.size());
  }
  return ErrorOf(fmt::format("read {}", path.string()), status);
}

}  // namespace

std::vector<Database::TableFile> Database::TableFiles() const {
  std::vector<rocksdb::LiveFileMetaData> live;
  state_->db->GetLiveFilesMetaData(&live);
  std::vector<TableFile> files;
  for (const rocksdb::LiveFileMetaData& file : live) {
    files.push_back({.path = std::filesystem::path(file.directory) / file.relative_filename,
                     .table = file.column_family_name,
                     .number = file.file_number,
                     .bytes = file.size,
                     .checksum = file.file_checksum});
  }
  std::sort(files.begin(), files.end(),
            [](const TableFile& a, const TableFile& b) { return a.number < b.number; });
  return files;
}

Status Database::CheckTableFile(const TableFile& file) const {
  const auto check = [&]() -> Status {
    FIELDCOST_ASSIGN(const std::string checksum, ChecksumOf(*state_->files, file.path));
    if (checksum == file.checksum) return {};
    return Fail(ErrorCode::kCorrupt,
                "{}, of the table {}, is damaged: its checksum is not that of what was written",
                file.path.string(), file.table);
  };
  Status status = check();
  if (status) return status;
  const std::vector<TableFile> live = TableFiles();
  const bool is_live = std::any_of(live.begin(), live.end(), [&](const TableFile& other) {
    return other.number == file.number;
  });
  return is_live ? status : Status();
}

void Database::State::NoteDamage(const std::string& text) {
  {
    const MutexLock lock(damage_mutex);
    if (damages.size() >= kMaxDamages || !damages.insert(text).second) return;
  }
  LogError("the store is damaged: {}; fieldcost-aggregator verify reads all of it", text);
}

void Database::NoteDamage(const std::string& text) const { state_->NoteDamage(text); }

std::uint64_t Database::damages() const {
  const MutexLock lock(state_->damage_mutex);
  return state_->damages.size();
}

Error Database::NameFiles(Error error) const {
  if (error.code != ErrorCode::kCorrupt) return error;
  for (const TableFile& file : TableFiles()) {
    if (const Status status = CheckTableFile(file); !status) {
      error.message += "; " + status.error().message;
    }
  }
  return error;
}

Status Database::CheckWrittenLogs() const {
  Status status = CheckSynced(*state_->files, state_->files->SyncedBytes());
  if (status) return status;
  // A file may have become unnecessary meanwhile.
  for (const auto& [path, bytes] : state_->files->SyncedBytes()) {
    FIELDCOST_TRY(CheckSynced(*state_->files, {{path, bytes}}));
  }
  return {};
}

}  // namespace fieldcost::store
