// Finds the damaged end of a log, reports what is lost with it, and cuts it off.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <algorithm>

#include "aggregator/store/database_state.h"
#include "common/base/file.h"

namespace fieldcost::store {
namespace {

// Passes the changes in a record of the log to the visitor.
class Changes final : public rocksdb::WriteBatch::Handler {
 public:
  Changes(const std::vector<rocksdb::ColumnFamilyHandle*>& handles,
          const Database::ChangeVisitor& visit)
      : handles_(handles), visit_(visit) {}
  rocksdb::Status PutCF(std::uint32_t family, const rocksdb::Slice& key,
                        const rocksdb::Slice& value) override {
    for (std::size_t table = 0; table < kTables; ++table) {
      if (handles_[table] == nullptr || handles_[table]->GetID() != family) continue;
      visit_(static_cast<Table>(table), ViewOf(key), ViewOf(value));
    }
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(std::uint32_t /*family*/, const rocksdb::Slice& /*key*/) override {
    return rocksdb::Status::OK();
  }

 private:
  const std::vector<rocksdb::ColumnFamilyHandle*>& handles_;
  const Database::ChangeVisitor& visit_;
};

Error IoError(std::string_view action, const std::filesystem::path& path,
              const std::error_code& error) {
  return Fail(ErrorCode::kIo, "{} {}: {}", action, path.string(), error.message());
}

constexpr int kMaxDamagedDirectories = 1'000;

}  // namespace

Result<std::optional<Database::LogEnd>> Database::FindDamage(
    const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(const LogsState state, ScanLogs(*rocksdb::FileSystem::Default(), directory));
  if (!state.damage) return std::optional<LogEnd>();
  if (!state.damage->is_log) {
    return Fail(ErrorCode::kCorrupt, "{}; its contents cannot be recovered: restore a backup",
                state.damage->text);
  }
  LogEnd end{.file = state.damage->file, .at = state.damage->at, .text = state.damage->text};
  const auto at = std::find(state.logs.begin(), state.logs.end(), end.file);
  end.later.assign(at == state.logs.end() ? at : at + 1, state.logs.end());
  return std::optional(std::move(end));
}

Status Database::ForLost(const LogEnd& end, const ChangeVisitor& visit) const {
  std::vector<std::filesystem::path> logs = end.later;
  logs.insert(logs.begin(), end.file);
  for (const std::filesystem::path& log : logs) {
    if (!std::filesystem::exists(log)) continue;
    Changes changes(state_->handles, visit);
    LogScanner scanner([&](const LogRecord& record) {
      if (log == end.file && record.offset < end.at) return;
      // Ignores errors: the checksum is correct, so nothing explains an unreadable record.
      rocksdb::WriteBatch(std::string(record.bytes)).Iterate(&changes).PermitUncheckedError();
    });
    FIELDCOST_TRY(
        ScanFile(*state_->files, log, std::numeric_limits<std::uint64_t>::max(), scanner));
  }
  return {};
}

// Copies all files before removing any from the store.
Result<std::filesystem::path> Database::DropBehind(const LogEnd& end,
                                                   const std::filesystem::path& data_dir) {
  std::error_code error;
  std::filesystem::path kept;
  for (int i = 1; i <= kMaxDamagedDirectories; ++i) {
    kept = data_dir / fmt::format("damaged.{}", i);
    if (!std::filesystem::exists(kept, error)) break;
  }
  FIELDCOST_TRY(MakeDirectories(kept, 0700));
  const auto copy = [&](const std::filesystem::path& file) -> Status {
    if (!std::filesystem::exists(file, error)) return {};
    FIELDCOST_ASSIGN(const std::string bytes, ReadFile(file, kMaxLogFileBytes));
    return WriteFileAtomically(kept / file.filename(), bytes, 0600);
  };
  std::vector<std::filesystem::path> logs = end.later;
  logs.push_back(end.file);
  for (const std::filesystem::path& log : logs) {
    FIELDCOST_TRY(copy(log));
    FIELDCOST_TRY(copy(MarkOf(log)));
  }
  for (const std::filesystem::path& log : logs) {
    // Its mark is no longer valid.
    std::filesystem::remove(MarkOf(log), error);
    if (!error && log != end.file) std::filesystem::remove(log, error);
    if (error) return IoError("remove", log, error);
  }
  if (std::filesystem::exists(end.file, error)) {
    FIELDCOST_TRY(RemoveTornEnd(*rocksdb::FileSystem::Default(),
                                {.file = end.file, .whole_bytes = end.at, .bytes = 0}));
  }
  FIELDCOST_TRY(SyncDirectory(end.file.parent_path()));
  return kept;
}

}  // namespace fieldcost::store
