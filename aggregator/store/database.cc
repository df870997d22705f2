#include "aggregator/store/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <array>
#include <vector>

#include "aggregator/store/database_state.h"
#include "aggregator/store/store_limits.h"
#include "common/base/units.h"

namespace fieldcost::store {
namespace {

constexpr std::array<const char*, kTables> kTableNames = {
    "rows", "inbox", "ledger", "meta", "held", "progress", "batches", "published"};
constexpr int kBackgroundJobs = 2;
constexpr int kWriteBuffers = 4;  // per table, including flushed ones, before writers wait
constexpr std::uint64_t kMaxLogBytes = 256 * kMiB;  // above it the oldest table is flushed
constexpr double kFilterBitsPerKey = 10;

rocksdb::CompressionType BestCompression() {
  const std::vector<rocksdb::CompressionType> supported = rocksdb::GetSupportedCompressions();
  for (const auto type : {rocksdb::kZSTD, rocksdb::kLZ4Compression, rocksdb::kSnappyCompression}) {
    if (std::find(supported.begin(), supported.end(), type) != supported.end()) return type;
  }
  return rocksdb::kNoCompression;
}

bool Writes(const DatabaseOptions& options) {
  return options.access == DatabaseAccess::kWrite || options.access == DatabaseAccess::kWriteCut;
}

rocksdb::DBOptions DatabaseOptionsOf(const DatabaseOptions& options) {
  rocksdb::DBOptions result;
  result.create_if_missing = true;
  result.create_missing_column_families = true;
  result.paranoid_checks = true;
  result.max_open_files = kMaxOpenFiles;
  result.max_background_jobs = kBackgroundJobs;
  result.db_write_buffer_size = options.write_buffer_bytes;
  result.max_total_wal_size = kMaxLogBytes;
  // CheckLogs() has removed any torn end, so anything else that is not a record is damage. In
  // read-only mode a torn end cannot be removed, only ignored.
  result.wal_recovery_mode = Writes(options) ? rocksdb::WALRecoveryMode::kAbsoluteConsistency
                                             : rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  result.max_bgerror_resume_count =
      0;  // never continue after a failed write as if it had not happened
  result.track_and_verify_wals_in_manifest =
      options.access != DatabaseAccess::kWriteCut && options.access != DatabaseAccess::kReadDamaged;
  // A record whose write failed may still be in the log. If the tables were flushed one by one
  // after that, the next start would replay the record into some of them only.
  result.atomic_flush = true;
  result.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  result.info_log = std::make_shared<EngineLogger>();
  return result;
}

// Returns the table files that cannot be read to their end.
std::vector<std::string> DamagedTables(rocksdb::Env& env, const std::string& directory) {
  std::vector<std::string> names;
  std::vector<std::string> damaged;
  if (!env.GetChildren(directory, &names).ok()) return damaged;
  rocksdb::Options options;
  options.env = &env;
  for (const std::string& name : names) {
    if (!name.ends_with(".sst")) continue;
    const std::string file = fmt::format("{}/{}", directory, name);
    rocksdb::SstFileReader reader(options);
    rocksdb::Status status = reader.Open(file);
    if (status.ok()) status = reader.VerifyChecksum();
    if (!status.ok()) damaged.push_back(file);
  }
  return damaged;
}

// If the store has tables that this program does not know, explains why it is not opened; otherwise
// returns `status`.
Error WhyNotOpened(const rocksdb::DBOptions& options, const std::string& directory,
                   const rocksdb::Status& status) {
  std::vector<std::string> names;
  if (rocksdb::DB::ListColumnFamilies(options, directory, &names).ok()) {
    for (const std::string& name : names) {
      if (name == rocksdb::kDefaultColumnFamilyName ||
          std::find(kTableNames.begin(), kTableNames.end(), name) != kTableNames.end()) {
        continue;
      }
      return Fail(ErrorCode::kUnsupported,
                  "open the store in {}: a newer version of this program has made a table '{}' in "
                  "it; use that version",
                  directory, name);
    }
  }
  Error error = ErrorOf(fmt::format("open the store in {}", directory), status);
  // The engine has also looked for a missing table file under the old form of its name.
  if (const std::size_t at = error.message.find(".ldb"); at != std::string::npos) {
    error.message.replace(at, 4, ".sst");
  }
  // The engine may blame its list of files for damage in a table file.
  if (error.code == ErrorCode::kCorrupt) {
    // This may include a file that was being written and is not in any list.
    for (const std::string& file : DamagedTables(*options.env, directory)) {
      error.message += "; cannot be read: " + file;
    }
    error.message += "; or one of the .sst files is not the one that was written";
  }
  return error;
}

}  // namespace

struct Database::WriteSet::State {
  Database::State& database;
  rocksdb::WriteBatch batch;
};

Database::WriteSet::WriteSet(Database& database)
    : state_(new State{*database.state_, rocksdb::WriteBatch()}) {}
Database::WriteSet::~WriteSet() = default;

// A WriteBatch can fail only at its configured maximum size, and none is set.
void Database::WriteSet::Put(Table table, std::string_view key, std::string_view value) {
  state_->batch.Put(state_->database.Handle(table), SliceOf(key), SliceOf(value))
      .PermitUncheckedError();
}
void Database::WriteSet::Delete(Table table, std::string_view key) {
  state_->batch.Delete(state_->database.Handle(table), SliceOf(key)).PermitUncheckedError();
}

Database::Database(std::unique_ptr<State> state) : state_(std::move(state)) {}
Database::~Database() = default;

namespace {

std::vector<rocksdb::ColumnFamilyDescriptor> FamiliesOf(const DatabaseOptions& options) {
  rocksdb::BlockBasedTableOptions blocks;
  blocks.block_cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  blocks.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kFilterBitsPerKey));
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(blocks));
  family.compression = BestCompression();
  family.max_write_buffer_number = kWriteBuffers;
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (std::size_t table = 0; table < kTables; ++table) {
    rocksdb::ColumnFamilyOptions options_of_table = family;
    // Data that the next checkpoint deletes is not worth compressing; batches are compressed
    // already.
    if (table == static_cast<std::size_t>(Table::kInbox) ||
        table == static_cast<std::size_t>(Table::kBatches)) {
      options_of_table.compression = rocksdb::kNoCompression;
    }
    families.emplace_back(kTableNames[table], options_of_table);
  }
  families.emplace_back(rocksdb::kDefaultColumnFamilyName, family);
  return families;
}

// Opens for reading; a table that does not exist has no handle.
rocksdb::Status OpenToRead(const rocksdb::DBOptions& options, const std::string& directory,
                           std::vector<rocksdb::ColumnFamilyDescriptor> families,
                           std::vector<rocksdb::ColumnFamilyHandle*>& handles, rocksdb::DB** db) {
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(options, directory, &names);
  if (!status.ok()) return status;
  std::vector<std::size_t> places;
  std::vector<rocksdb::ColumnFamilyDescriptor> existing;
  for (std::size_t i = 0; i < families.size(); ++i) {
    if (std::find(names.begin(), names.end(), families[i].name) == names.end()) continue;
    places.push_back(i);
    existing.push_back(families[i]);
  }
  std::vector<rocksdb::ColumnFamilyHandle*> opened;
  status = rocksdb::DB::OpenForReadOnly(options, directory, existing, &opened, db);
  if (!status.ok()) return status;
  handles.assign(families.size(), nullptr);
  for (std::size_t i = 0; i < opened.size(); ++i) handles[places[i]] = opened[i];
  return status;
}

}  // namespace

bool Database::LacksTables(const DatabaseOptions& options) {
  const std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(
      options.file_system != nullptr ? options.file_system : rocksdb::FileSystem::Default());
  rocksdb::DBOptions db_options;
  db_options.env = env.get();
  std::vector<std::string> names;
  if (!rocksdb::DB::ListColumnFamilies(db_options, options.directory.string(), &names).ok()) {
    return false;
  }
  return std::any_of(kTableNames.begin(), kTableNames.end(), [&](const char* table) {
    return std::find(names.begin(), names.end(), table) == names.end();
  });
}

Result<std::unique_ptr<Database>> Database::Open(const DatabaseOptions& options) {
  const bool writes = Writes(options);
  auto state = std::make_unique<State>();
  rocksdb::DBOptions db_options = DatabaseOptionsOf(options);
  db_options.listeners.push_back(state->failures);
  state->files = std::make_shared<MarkingFileSystem>(
      options.file_system != nullptr ? options.file_system : rocksdb::FileSystem::Default(),
      state->failures);
  state->env = rocksdb::NewCompositeEnv(state->files);
  db_options.env = state->env.get();
  if (options.access != DatabaseAccess::kReadDamaged) {
    FIELDCOST_ASSIGN(const std::vector<TornEnd> torn, CheckLogs(*state->files, options.directory));
    for (const TornEnd& end : torn) {
      state->torn_logs.push_back({.file = end.file, .at = end.whole_bytes, .bytes = end.bytes});
      if (writes) FIELDCOST_TRY(RemoveTornEnd(*state->files, end));
    }
  }
  const std::string directory = options.directory.string();
  rocksdb::DB* db = nullptr;
  if (!writes) {
    const rocksdb::Status status =
        OpenToRead(db_options, directory, FamiliesOf(options), state->handles, &db);
    if (!status.ok()) return WhyNotOpened(db_options, directory, status);
    state->db.reset(db);
    return std::unique_ptr<Database>(new Database(std::move(state)));
  }
  FIELDCOST_TRY(CleanUpLogs(*state->files, options.directory));
  FIELDCOST_TRY(RemoveUnadopted(*db_options.env, options.directory));
  // Writers may wait for flushes; compactions have the lowest priority.
  db_options.env->LowerThreadPoolCPUPriority(rocksdb::Env::LOW);
  db_options.env->LowerThreadPoolIOPriority(rocksdb::Env::LOW);
  const rocksdb::Status status =
      rocksdb::DB::Open(db_options, directory, FamiliesOf(options), &state->handles, &db);
  if (!status.ok()) return WhyNotOpened(db_options, directory, status);
  state->db.reset(db);
  return std::unique_ptr<Database>(new Database(std::move(state)));
}

Status Database::Write(WriteSet& changes) {
  if (!healthy()) return Fail(ErrorCode::kIo, "write to the store: it has failed before");
  if (changes.state_->batch.Count() == 0) return {};  // RocksDB would log an empty record
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = state_->db->Write(options, &changes.state_->batch);
  if (!status.ok()) return Fail(ErrorCode::kIo, "write to the store: {}", status.ToString());
  return {};
}

Status Database::Flush() {
  if (!healthy()) return Fail(ErrorCode::kIo, "write to the store: it has failed before");
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;  // short: the tables in memory are small
  const rocksdb::Status status = state_->db->Flush(options, state_->handles);
  if (!status.ok()) return Fail(ErrorCode::kIo, "write to the store: {}", status.ToString());
  return {};
}

const std::vector<Database::TornLog>& Database::torn_logs() const { return state_->torn_logs; }

bool Database::healthy() const { return !state_->failures->failed(); }

std::shared_ptr<Database::View> Database::Freeze() { return std::make_shared<View>(*state_->db); }

Result<std::optional<std::string>> Database::Get(Table table, std::string_view key,
                                                 const View* view) const {
  if (state_->Handle(table) == nullptr) return std::optional<std::string>();
  rocksdb::ReadOptions options;
  if (view != nullptr) options.snapshot = view->get();
  std::string value;
  const rocksdb::Status status =
      state_->db->Get(options, state_->Handle(table), SliceOf(key), &value);
  if (status.IsNotFound()) return std::optional<std::string>();
  if (!status.ok()) return state_->ReadError("read from the store", status);
  return std::optional<std::string>(std::move(value));
}

Result<bool> Database::IsEmpty() const {
  for (std::size_t table = 0; table < kTables; ++table) {
    if (state_->handles[table] == nullptr) continue;
    const std::unique_ptr<rocksdb::Iterator> iterator(
        state_->db->NewIterator(rocksdb::ReadOptions(), state_->handles[table]));
    iterator->SeekToFirst();
    if (iterator->Valid()) return false;
    if (!iterator->status().ok()) return state_->ReadError("scan the store", iterator->status());
  }
  return true;
}

Status Database::ForEach(Table table, std::string_view begin, const View* view,
                         const Visitor& visit, std::string_view end) const {
  if (state_->Handle(table) == nullptr) return {};
  rocksdb::ReadOptions options;
  if (view != nullptr) options.snapshot = view->get();
  const rocksdb::Slice bound = SliceOf(end);
  if (!end.empty()) options.iterate_upper_bound = &bound;
  options.fill_cache = false;  // the cache is for reads on behalf of batches
  const std::unique_ptr<rocksdb::Iterator> iterator(
      state_->db->NewIterator(options, state_->Handle(table)));
  for (iterator->Seek(SliceOf(begin)); iterator->Valid(); iterator->Next()) {
    FIELDCOST_TRY(visit(ViewOf(iterator->key()), ViewOf(iterator->value())));
  }
  if (!iterator->status().ok()) return state_->ReadError("scan the store", iterator->status());
  return {};
}

Status Database::ForPrefix(Table table, std::string_view prefix, const Visitor& visit) const {
  if (state_->Handle(table) == nullptr) return {};
  const std::unique_ptr<rocksdb::Iterator> iterator(
      state_->db->NewIterator(rocksdb::ReadOptions(), state_->Handle(table)));
  for (iterator->Seek(SliceOf(prefix)); iterator->Valid(); iterator->Next()) {
    if (!iterator->key().starts_with(SliceOf(prefix))) return {};
    FIELDCOST_TRY(visit(ViewOf(iterator->key()), ViewOf(iterator->value())));
  }
  if (!iterator->status().ok()) return state_->ReadError("scan the store", iterator->status());
  return {};
}

Status Database::ForEachPrefix(Table table, std::size_t prefix_bytes,
                               const std::function<Status(std::string_view)>& visit) const {
  const std::unique_ptr<rocksdb::Iterator> iterator(
      state_->db->NewIterator(rocksdb::ReadOptions(), state_->Handle(table)));
  std::string prefix;
  for (iterator->SeekToFirst(); iterator->Valid();) {
    if (iterator->key().size() < prefix_bytes) {
      iterator->Next();
      continue;
    }
    prefix.assign(iterator->key().data(), prefix_bytes);
    FIELDCOST_TRY(visit(prefix));
    // The first key after all with this prefix; there is none if the prefix consists of bytes 0xff.
    std::size_t last = prefix.size();
    while (last != 0 && prefix[last - 1] == '\xff') --last;
    if (last == 0) break;
    prefix.resize(last);
    ++prefix.back();
    iterator->Seek(prefix);
  }
  if (!iterator->status().ok()) return state_->ReadError("scan the store", iterator->status());
  return {};
}

Result<std::string> Database::ForSome(Table table, std::string_view begin, std::size_t max_entries,
                                      const Visitor& visit) const {
  const std::unique_ptr<rocksdb::Iterator> iterator(
      state_->db->NewIterator(rocksdb::ReadOptions(), state_->Handle(table)));
  iterator->Seek(SliceOf(begin));
  for (; iterator->Valid() && max_entries != 0; iterator->Next(), --max_entries) {
    FIELDCOST_TRY(visit(ViewOf(iterator->key()), ViewOf(iterator->value())));
  }
  if (!iterator->status().ok()) return state_->ReadError("scan the store", iterator->status());
  return iterator->Valid() ? iterator->key().ToString() : std::string();
}

Status Database::Compact(Table table) {
  rocksdb::CompactRangeOptions options;
  options.exclusive_manual_compaction = false;
  options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
  const rocksdb::Status status =
      state_->db->CompactRange(options, state_->Handle(table), nullptr, nullptr);
  if (!status.ok()) return ErrorOf("compact the store", status);
  return {};
}

std::uint64_t Database::EstimatedBytes(Table table) const {
  std::uint64_t sum = 0;
  state_->db->GetIntProperty(state_->Handle(table), rocksdb::DB::Properties::kEstimateLiveDataSize,
                             &sum);
  return sum;
}

}  // namespace fieldcost::store
