// Backs a store up and restores it: the part of Store about backups.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "aggregator/store/directory_lock.h"
#include "aggregator/store/format_mark.h"
#include "aggregator/store/store_state.h"
#include "common/base/byte_order.h"
#include "common/base/units.h"
#include "common/crypto/random.h"

namespace fieldcost::store {
namespace {

constexpr char kIdentityKey[] = "identity";
constexpr std::size_t kIdentityBytes = 16;
constexpr std::size_t kSmallBuffer = 1 * kMiB;

// Random, created at the first backup: identifies the store to which a directory's backups belong.
Result<std::string> IdentityOf(Database& database) {
  FIELDCOST_ASSIGN(auto identity, database.Get(Table::kMeta, kIdentityKey));
  if (identity) return std::move(*identity);
  std::string made = crypto::RandomBytes(kIdentityBytes);
  Database::WriteSet changes(database);
  changes.Put(Table::kMeta, kIdentityKey, made);
  FIELDCOST_TRY(database.Write(changes));
  return made;
}

// `backups` is the directory of the backups, for messages.
Status CheckFormatOf(const std::filesystem::path& directory, const std::filesystem::path& backups) {
  FIELDCOST_ASSIGN(const auto database, Database::Open({.directory = directory,
                                                        .access = DatabaseAccess::kRead,
                                                        .write_buffer_bytes = kSmallBuffer,
                                                        .block_cache_bytes = kSmallBuffer}));
  return CheckFormat(*database, fmt::format("restore the backup in {}", backups.string()));
}

// Notes the restore in the restored store itself: counts it, and makes the next publication settle.
Status NoteRestoration(const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(const auto database, Database::Open({.directory = directory,
                                                        .write_buffer_bytes = kSmallBuffer,
                                                        .block_cache_bytes = kSmallBuffer}));
  const std::string key = NamedNumberKey(kRestorations);
  FIELDCOST_ASSIGN(const auto bytes, database->Get(Table::kMeta, key));
  const std::uint64_t before = bytes && bytes->size() == 8 ? ReadBigEndian(*bytes) : 0;
  Database::WriteSet changes(*database);
  changes.Put(Table::kMeta, key, NumberKey(before + 1));
  changes.Put(Table::kMeta, kUnsettledKey, kUnsettled);
  return database->Write(changes);
}

Status RenameDurably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return ErrnoError("rename", from, errno);
  const UniqueFd parent(::open(to.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid() || ::fsync(parent.get()) != 0) {
    return ErrnoError("sync", to.parent_path(), errno);
  }
  return {};
}

}  // namespace

Status Store::Backup(const std::filesystem::path& directory, std::string_view attachment) {
  const LevelLock lock(state_->backup_mutex, lock_order::kBackup);
  if (!healthy()) {
    return Fail(ErrorCode::kIo, "the store has failed; it is unknown what a copy of it would hold");
  }
  auto identity = IdentityOf(*state_->database);
  if (!identity) return state_->failure.Record(identity.error());
  FIELDCOST_ASSIGN(const auto newest, Database::NewestAttachment(directory));
  if (newest && !newest->starts_with(*identity)) {
    return Fail(ErrorCode::kInvalidArgument, "{} holds backups of another store",
                directory.string());
  }
  state_->sums.SetBackingUp(true);
  const Status copied = state_->database->Backup(directory, *identity + std::string(attachment));
  state_->sums.SetBackingUp(false);
  FIELDCOST_TRY(copied);
  if (!healthy()) return Fail(ErrorCode::kIo, "the store has failed during the backup");
  return {};
}

Status Store::RestoreBackup(const std::filesystem::path& directory,
                            const std::filesystem::path& data_dir, const Prepare& prepare) {
  FIELDCOST_TRY(MakeDirectories(data_dir, 0700));
  FIELDCOST_ASSIGN(const UniqueFd lock, LockDirectory(data_dir));
  const std::filesystem::path target = data_dir / "store";
  std::error_code error;
  if (std::filesystem::exists(target, error) || error) {
    return Fail(ErrorCode::kAlreadyExists, "{} exists already; restore into an empty directory",
                target.string());
  }
  // Under another name until it is complete: an interrupted restore leaves no store.
  const std::filesystem::path unfinished = data_dir / "store.unfinished";
  std::filesystem::remove_all(unfinished, error);
  if (error) return ErrnoError("remove", unfinished, error.value());
  FIELDCOST_ASSIGN(const std::string attachment, Database::Restore(directory, unfinished));
  if (attachment.size() < kIdentityBytes) {
    return Fail(ErrorCode::kCorrupt, "the backup in {} is not one of ours", directory.string());
  }
  FIELDCOST_TRY(CheckFormatOf(unfinished, directory));
  if (prepare) FIELDCOST_TRY(prepare(std::string_view(attachment).substr(kIdentityBytes)));
  FIELDCOST_TRY(NoteRestoration(unfinished));
  return RenameDurably(unfinished, target);
}

}  // namespace fieldcost::store
