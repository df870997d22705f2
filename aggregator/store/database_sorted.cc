// Writes ascending changes into table files that the engine adopts; reads entries in ascending
// order, all or some of them.
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "aggregator/store/database_state.h"
#include "common/base/units.h"

namespace fieldcost::store {
namespace {

// The files are in the engine's own directory, since it adopts them by linking, not copying. The
// engine's own files never have such names.
constexpr char kFilePrefix[] = "checkpoint.";
// A new file begins at this size, so that compactions work on pieces of reasonable size.
constexpr std::uint64_t kFileBytes = 32 * kMiB;
// Data is written to the disk continuously, not all at once at the end, since batches sync their
// logs meanwhile.
constexpr std::uint64_t kBytesPerSync = 512 * kKiB;
// Number of entries to skip one by one before seeking the next key.
constexpr int kSteps = 8;

rocksdb::EnvOptions SmoothWrites() {
  rocksdb::EnvOptions options;
  options.bytes_per_sync = kBytesPerSync;
  return options;
}

}  // namespace

Status RemoveUnadopted(rocksdb::Env& env, const std::filesystem::path& directory) {
  std::vector<std::string> names;
  rocksdb::Status status = env.GetChildren(directory.string(), &names);
  if (status.IsNotFound()) return {};
  for (const std::string& name : names) {
    if (!status.ok()) break;
    if (name.starts_with(kFilePrefix)) status = env.DeleteFile((directory / name).string());
  }
  if (!status.ok()) return ErrorOf(fmt::format("clean up {}", directory.string()), status);
  return {};
}

struct Database::SortedSet::State {
  // The files of one table.
  struct Part {
    std::unique_ptr<rocksdb::SstFileWriter> writer;  // null: no file is being written
    std::vector<std::string> files;                  // the last one is being written
    std::vector<std::string> checksums;              // of all but the last
    std::vector<std::string> checksum_names;
  };

  Result<rocksdb::SstFileWriter*> WriterOf(Table table) {
    Part& part = parts[static_cast<std::size_t>(table)];
    if (part.writer != nullptr && part.writer->FileSize() >= kFileBytes) {
      FIELDCOST_TRY(Finish(part));
    }
    if (part.writer == nullptr) {
      const std::filesystem::path directory = database.db->GetName();
      const std::string name = kFilePrefix + std::to_string(database.next_sorted_file++);
      part.files.push_back((directory / name).string());
      rocksdb::ColumnFamilyHandle* const handle = database.Handle(table);
      constexpr bool kForgetPages = false;  // they will be read again soon
      part.writer = std::make_unique<rocksdb::SstFileWriter>(
          SmoothWrites(), database.db->GetOptions(handle), handle, kForgetPages);
      const rocksdb::Status status = part.writer->Open(part.files.back());
      if (!status.ok()) return ErrorOf("create a file of the store", status);
    }
    return part.writer.get();
  }

  // Closes and syncs the file.
  static Status Finish(Part& part) {
    if (part.writer == nullptr) return {};
    rocksdb::ExternalSstFileInfo written;
    const rocksdb::Status status = part.writer->Finish(&written);
    part.writer.reset();
    if (!status.ok()) return ErrorOf("write a file of the store", status);
    part.checksums.push_back(written.file_checksum);
    part.checksum_names.push_back(written.file_checksum_func_name);
    return {};
  }

  Database::State& database;
  std::array<Part, kTables> parts;
};

Database::SortedSet::SortedSet(Database& database) : state_(new State{*database.state_, {}}) {}

Database::SortedSet::~SortedSet() {
  for (State::Part& part : state_->parts) {
    part.writer.reset();
    // Adopted files have other names by now. A file that cannot be removed now is removed when the
    // store is next opened; until then its name is not reused, since it may be a second name of
    // adopted rows.
    for (const std::string& file : part.files) {
      state_->database.db->GetEnv()->DeleteFile(file).PermitUncheckedError();
    }
  }
}

Status Database::SortedSet::Put(Table table, std::string_view key, std::string_view value) {
  FIELDCOST_ASSIGN(rocksdb::SstFileWriter* const writer, state_->WriterOf(table));
  const rocksdb::Status status = writer->Put(SliceOf(key), SliceOf(value));
  if (!status.ok()) return ErrorOf("write a file of the store", status);
  return {};
}

Status Database::SortedSet::Delete(Table table, std::string_view key) {
  FIELDCOST_ASSIGN(rocksdb::SstFileWriter* const writer, state_->WriterOf(table));
  const rocksdb::Status status = writer->Delete(SliceOf(key));
  if (!status.ok()) return ErrorOf("write a file of the store", status);
  return {};
}

Status Database::Adopt(std::span<SortedSet* const> sets) {
  if (!healthy()) return Fail(ErrorCode::kIo, "write to the store: it has failed before");
  std::vector<rocksdb::IngestExternalFileArg> arguments;
  for (std::size_t table = 0; table < kTables; ++table) {
    rocksdb::IngestExternalFileArg argument;
    for (SortedSet* const set : sets) {
      SortedSet::State::Part& part = set->state_->parts[table];
      FIELDCOST_TRY(SortedSet::State::Finish(part));
      const auto append = [](const std::vector<std::string>& from, std::vector<std::string>& to) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(part.files, argument.external_files);
      append(part.checksums, argument.files_checksums);
      append(part.checksum_names, argument.files_checksum_func_names);
    }
    if (argument.external_files.empty()) continue;
    argument.column_family = state_->handles[table];
    argument.options.verify_file_checksum = false;  // they were just written
    argument.options.move_files = true;
    argument.options.failed_move_fall_back_to_copy = true;  // if the file system has no hard links
    argument.options.write_global_seqno = false;            // files never change once written
    arguments.push_back(std::move(argument));
  }
  if (arguments.empty()) return {};
  const rocksdb::Status status = state_->db->IngestExternalFiles(arguments);
  if (!status.ok()) return Fail(ErrorCode::kIo, "write to the store: {}", status.ToString());
  return {};
}

Status Database::Adopt(SortedSet& changes) {
  SortedSet* const set = &changes;
  return Adopt(std::span(&set, 1));
}

std::vector<std::string> Database::Cuts(Table table, std::size_t parts) const {
  rocksdb::ColumnFamilyMetaData family;
  state_->db->GetColumnFamilyMetaData(state_->Handle(table), &family);
  std::vector<std::pair<std::string, std::uint64_t>> files;  // the first key, and the size
  std::uint64_t total = 0;
  for (const rocksdb::LevelMetaData& level : family.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      files.emplace_back(file.smallestkey, file.size);
      total += file.size;
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> cuts;
  std::uint64_t before = 0;
  for (const auto& [key, size] : files) {
    if (before != 0 && before >= total * (cuts.size() + 1) / parts && cuts.size() + 1 < parts) {
      cuts.push_back(key);
    }
    before += size;
  }
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

struct Database::Lookup::State {
  explicit State(Database::State& state) : database(state) {}
  Database::State& database;
  std::unique_ptr<rocksdb::Iterator> iterator;
  bool started = false;
};

Database::Lookup::Lookup(const Database& database, Table table, const View* view)
    : state_(std::make_unique<State>(*database.state_)) {
  rocksdb::ReadOptions options;
  if (view != nullptr) options.snapshot = view->get();
  options.fill_cache = false;
  rocksdb::ColumnFamilyHandle* const handle = database.state_->Handle(table);
  if (handle == nullptr) return;
  state_->iterator.reset(database.state_->db->NewIterator(options, handle));
}
Database::Lookup::~Lookup() = default;

Result<std::optional<std::string_view>> Database::Lookup::Find(std::string_view key) {
  if (state_->iterator == nullptr) return std::optional<std::string_view>();
  rocksdb::Iterator& iterator = *state_->iterator;
  const auto is_before = [&] { return iterator.Valid() && ViewOf(iterator.key()) < key; };
  if (state_->started) {
    for (int step = 0; step < kSteps && is_before(); ++step) iterator.Next();
  }
  if (!state_->started || is_before()) iterator.Seek(SliceOf(key));
  state_->started = true;
  if (!iterator.status().ok())
    return state_->database.ReadError("read from the store", iterator.status());
  if (!iterator.Valid() || ViewOf(iterator.key()) != key) return std::optional<std::string_view>();
  return std::optional(ViewOf(iterator.value()));
}

struct Database::Cursor::State {
  State(Database::State& state, std::string first, std::string bound)
      : database(state), begin(std::move(first)), end(std::move(bound)), end_slice(SliceOf(end)) {}
  Database::State& database;
  const std::string begin;
  const std::string end;
  const rocksdb::Slice end_slice;               // the iterator refers to it
  std::unique_ptr<rocksdb::Iterator> iterator;  // null: the table does not exist
  bool started = false;
};

Database::Cursor::Cursor(const Database& database, Table table, const View* view, std::string begin,
                         std::string end)
    : state_(std::make_unique<State>(*database.state_, std::move(begin), std::move(end))) {
  rocksdb::ReadOptions options;
  if (view != nullptr) options.snapshot = view->get();
  if (!state_->end.empty()) options.iterate_upper_bound = &state_->end_slice;
  options.fill_cache = false;
  rocksdb::ColumnFamilyHandle* const handle = database.state_->Handle(table);
  if (handle == nullptr) return;
  state_->iterator.reset(database.state_->db->NewIterator(options, handle));
}
Database::Cursor::~Cursor() = default;

Result<bool> Database::Cursor::Next() {
  if (state_->iterator == nullptr) return false;
  rocksdb::Iterator& iterator = *state_->iterator;
  if (!state_->started) {
    iterator.Seek(SliceOf(state_->begin));
    state_->started = true;
  } else if (iterator.Valid()) {
    iterator.Next();
  }
  if (!iterator.status().ok()) {
    return state_->database.ReadError("scan the store", iterator.status());
  }
  return iterator.Valid();
}

std::string_view Database::Cursor::key() const { return ViewOf(state_->iterator->key()); }
std::string_view Database::Cursor::value() const { return ViewOf(state_->iterator->value()); }

}  // namespace fieldcost::store
