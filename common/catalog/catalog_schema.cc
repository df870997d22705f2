// The catalogue: an SQLite file of the tables below (README.md has the columns). apis.rows is the
// fragment of one API's rows (common/wire/fragment.cc); PRAGMA user_version is the format's
// version, kSchemaVersion.
#include "common/catalog/catalog_schema.h"

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/catalog/catalog.h"
#include "common/crypto/random.h"
#include "common/shm/mix.h"
#include "common/wire/fragment.h"

namespace fieldcost::catalog {
namespace {

constexpr std::uint64_t kAllRuns = std::uint64_t{1} << 62;  // see TotalColumn()

// Inner pages of a million APIs fit in these 16 MiB, so that a look-up reads leaves only. Memory is
// taken as pages are read. (Mapping the file was no faster, and would end a reader by a signal if
// the file was truncated.)
constexpr char kReaderCache[] = "PRAGMA cache_size=-16384";

constexpr char kTables[] = R"sql(
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE roots (
  version INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
);
CREATE TABLE fragments (
  fragment INTEGER PRIMARY KEY,
  wanted_sha256 BLOB NOT NULL,
  wanted_bytes INTEGER NOT NULL,
  sha256 BLOB,
  fetched_day INTEGER NOT NULL DEFAULT 0
);
-- Unverified first bytes of fragments.
CREATE TABLE parts (
  number INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL UNIQUE,
  bytes BLOB NOT NULL
);

-- Rows are large: in a table by number they fill its pages, and no index has to carry them. A symbol
-- and soname occur once.
CREATE TABLE apis (
  id INTEGER PRIMARY KEY,
  symbol TEXT NOT NULL,
  soname TEXT NOT NULL,
  hash INTEGER NOT NULL,
  row_count INTEGER NOT NULL,
  total INTEGER NOT NULL,
  rows BLOB NOT NULL
);
CREATE INDEX apis_by_name ON apis (symbol, soname, total);
CREATE INDEX apis_by_hash ON apis (hash);

-- Filled together, by RebuildNameSearch(). A rowid of name_grams is a rank.
CREATE TABLE ranking (
  rank INTEGER PRIMARY KEY,
  symbol TEXT NOT NULL,
  soname TEXT NOT NULL,
  total INTEGER NOT NULL
);
CREATE TABLE libraries (
  soname TEXT PRIMARY KEY
) WITHOUT ROWID;
CREATE VIRTUAL TABLE name_grams USING fts5 (
  symbol, short_name, soname,
  content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1'
);
)sql";

// Names and places of the state's fields in table meta; one visitor for reading and writing.
template <typename State, typename Visitor>
Status VisitFields(State& state, Visitor&& visit) {
  FIELDCOST_TRY(visit("timestamp_version", state.timestamp_version));
  FIELDCOST_TRY(visit("timestamp_sha256", state.timestamp_sha256));
  FIELDCOST_TRY(visit("snapshot_floor", state.snapshot_floor));
  FIELDCOST_TRY(visit("snapshot_version", state.snapshot_version));
  FIELDCOST_TRY(visit("snapshot_sha256", state.snapshot_sha256));
  FIELDCOST_TRY(visit("snapshot_expires", state.snapshot_expires));
  FIELDCOST_TRY(visit("snapshot_published", state.snapshot_published));
  FIELDCOST_TRY(visit("contribution_threshold", state.contribution_threshold));
  FIELDCOST_TRY(visit("synthetic", state.synthetic));
  FIELDCOST_TRY(visit("fragment_bits", state.fragment_bits));
  FIELDCOST_TRY(visit("last_sync", state.last_sync));
  FIELDCOST_TRY(visit("row_count", state.row_count));
  FIELDCOST_TRY(visit("api_count", state.api_count));
  FIELDCOST_TRY(visit("seed", state.seed));
  FIELDCOST_TRY(visit("cursor", state.cursor));
  FIELDCOST_TRY(visit("share_day", state.share_day));
  FIELDCOST_TRY(visit("share_done", state.share_done));
  FIELDCOST_TRY(visit("share_complete_day", state.share_complete_day));
  FIELDCOST_TRY(visit("is_complete", state.is_complete));
  FIELDCOST_TRY(visit("is_ranked", state.is_ranked));
  FIELDCOST_TRY(visit("refresh_seconds", state.refresh.period));
  FIELDCOST_TRY(visit("refresh_failures", state.refresh.failures));
  FIELDCOST_TRY(visit("refresh_next_try", state.refresh.next_try));
  FIELDCOST_TRY(visit("refresh_put_offs", state.refresh.put_offs));
  FIELDCOST_TRY(visit("refresh_missed_slots", state.refresh.missed_slots));
  FIELDCOST_TRY(visit("refresh_moved_slot", state.refresh.moved_slot));
  FIELDCOST_TRY(visit("refresh_problem", state.refresh_problem));
  return {};
}

class FieldReader {
 public:
  explicit FieldReader(sqlite::Statement select) : select_(std::move(select)) {}

  template <typename Field>
  Status operator()(const char* key, Field& field) {
    select_.Text(key);
    FIELDCOST_ASSIGN(const bool found, select_.Step());
    if (found) Get(field);
    return select_.Run();
  }

 private:
  void Get(std::string& field) { field = select_.ColumnText(0); }
  void Get(WallTime& field) {
    field = WallTime(WallTime::duration(static_cast<WallTime::rep>(select_.ColumnInt(0))));
  }
  void Get(std::chrono::seconds& field) {
    field = std::chrono::seconds(static_cast<std::int64_t>(select_.ColumnInt(0)));
  }
  template <typename Number>
  void Get(Number& field) {
    field = static_cast<Number>(select_.ColumnInt(0));
  }

  sqlite::Statement select_;
};

class FieldWriter {
 public:
  explicit FieldWriter(sqlite::Statement insert) : insert_(std::move(insert)) {}

  template <typename Field>
  Status operator()(const char* key, const Field& field) {
    insert_.Text(key);
    Put(field);
    return insert_.Run();
  }

 private:
  void Put(const std::string& field) { insert_.Blob(field); }
  void Put(const WallTime& field) {
    insert_.Int(static_cast<std::uint64_t>(field.time_since_epoch().count()));
  }
  void Put(const std::chrono::seconds& field) {
    insert_.Int(static_cast<std::uint64_t>(field.count()));
  }
  template <typename Number>
  void Put(const Number& field) {
    insert_.Int(static_cast<std::uint64_t>(field));
  }

  sqlite::Statement insert_;
};

Status CheckFormat(const sqlite::Database& database, const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(const std::uint64_t id, database.QueryInt("PRAGMA application_id"));
  FIELDCOST_ASSIGN(const std::uint64_t version, database.QueryInt("PRAGMA user_version"));
  if (id != kApplicationId) {
    return Fail(ErrorCode::kCorrupt, "{} is not a fieldcost catalogue", path.string());
  }
  if (version != kSchemaVersion) {
    return Fail(ErrorCode::kUnsupported,
                "catalogue {} has format {}, this program reads format {}; remove the file and run "
                "`fieldcost sync`",
                path.string(), version, kSchemaVersion);
  }
  return {};
}

Status Create(sqlite::Database& database) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  // Another process may have made it while we waited for the lock.
  FIELDCOST_ASSIGN(const std::uint64_t tables,
                   database.QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    FIELDCOST_TRY(database.Execute(kTables));
    FIELDCOST_TRY(database.Execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}",
                                               kApplicationId, kSchemaVersion)
                                       .c_str()));
    SyncState fresh;
    fresh.seed = crypto::RandomUint64();
    fresh.is_ranked = true;  // without names
    FIELDCOST_TRY(SaveState(database, fresh));
  }
  return transaction.Commit();
}

}  // namespace

Result<sqlite::Database> OpenForReading(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return Fail(ErrorCode::kNotFound, "no catalogue yet: run `fieldcost sync`");
  }
  FIELDCOST_ASSIGN(sqlite::Database database,
                   sqlite::Database::Open(path, sqlite::Database::Access::kRead));
  FIELDCOST_TRY(database.Execute(kReaderCache));
  FIELDCOST_TRY(CheckFormat(database, path));
  return database;
}

Result<sqlite::Database> OpenForWriting(const std::filesystem::path& path) {
  FIELDCOST_TRY(MakeDirectories(path.parent_path(), 0755));
  FIELDCOST_ASSIGN(sqlite::Database database,
                   sqlite::Database::Open(path, sqlite::Database::Access::kCreate));
  FIELDCOST_ASSIGN(const std::uint64_t tables,
                   database.QueryInt("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    FIELDCOST_TRY(database.UseWriteAheadLog());
    FIELDCOST_TRY(Create(database));
  }
  FIELDCOST_TRY(CheckFormat(database, path));
  // Losing the last fragments to a power cut costs a second download, never consistency.
  FIELDCOST_TRY(database.Execute("PRAGMA synchronous=NORMAL"));
  return database;
}

std::uint64_t TotalColumn(const std::vector<stats::StatRow>& rows) {
  const stats::FieldCost total = stats::FieldTotal(rows, stats::Whose::kField);
  const double steps = total.of_all_runs ? total.ns / kTotalStepNs : total.ns;
  const std::uint64_t number =
      steps < static_cast<double>(kAllRuns) ? static_cast<std::uint64_t>(steps) : kAllRuns - 1;
  return total.of_all_runs ? kAllRuns + number : number;
}

stats::FieldCost CostOfColumn(std::uint64_t total) {
  if (total < kAllRuns) return {.ns = static_cast<double>(total)};
  return {.of_all_runs = true, .ns = static_cast<double>(total - kAllRuns) * kTotalStepNs};
}

Result<SyncState> LoadState(const sqlite::Database& database) {
  sqlite::Statement select = database.Prepare("SELECT value FROM meta WHERE key = ?1");
  SyncState state;
  FIELDCOST_TRY(VisitFields(state, FieldReader(std::move(select))));
  state.refresh.seed = shm::MixBits(state.seed);
  return state;
}

Result<bool> IsRanked(const sqlite::Database& database) {
  FIELDCOST_ASSIGN(const std::uint64_t ranked,
                   database.QueryInt("SELECT value FROM meta WHERE key = 'is_ranked'"));
  return ranked != 0;
}

Result<std::map<std::uint64_t, std::string>> LoadRoots(const sqlite::Database& database) {
  sqlite::Statement select = database.Prepare("SELECT version, bytes FROM roots");
  std::map<std::uint64_t, std::string> roots;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return roots;
    roots[select.ColumnInt(0)] = select.ColumnText(1);
  }
}

Result<std::map<std::string, std::string>> LoadParts(const sqlite::Database& database) {
  sqlite::Statement select = database.Prepare("SELECT sha256, bytes FROM parts");
  std::map<std::string, std::string> parts;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return parts;
    parts[select.ColumnText(0)] = select.ColumnText(1);
  }
}

Status SavePart(sqlite::Database& database, const std::string& sha256,
                const std::string& untrusted_part) {
  FIELDCOST_ASSIGN(sqlite::Transaction transaction, sqlite::Transaction::Begin(database));
  FIELDCOST_TRY(database.Prepare("DELETE FROM parts WHERE sha256 = ?1").Blob(sha256).Run());
  if (!untrusted_part.empty()) {
    FIELDCOST_TRY(database.Prepare("INSERT INTO parts (sha256, bytes) VALUES (?1, ?2)")
                      .Blob(sha256)
                      .Blob(untrusted_part)
                      .Run());
    FIELDCOST_TRY(database
                      .Prepare("DELETE FROM parts WHERE number NOT IN "
                               "(SELECT number FROM parts ORDER BY number DESC LIMIT ?1)")
                      .Int(kMaxParts)
                      .Run());
  }
  return transaction.Commit();
}

Status RemoveOldParts(sqlite::Database& database) {
  FIELDCOST_CHECK(database.InTransaction());
  return database.Execute(
      "DELETE FROM parts WHERE sha256 NOT IN (SELECT wanted_sha256 FROM fragments)");
}

Status SaveRoot(sqlite::Database& database, std::uint64_t version, const std::string& bytes) {
  FIELDCOST_CHECK(database.InTransaction());
  return database.Prepare("INSERT OR REPLACE INTO roots (version, bytes) VALUES (?1, ?2)")
      .Int(version)
      .Blob(bytes)
      .Run();
}

Status SaveState(sqlite::Database& database, const SyncState& state) {
  FIELDCOST_CHECK(database.InTransaction());
  sqlite::Statement insert =
      database.Prepare("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)");
  return VisitFields(state, FieldWriter(std::move(insert)));
}

}  // namespace fieldcost::catalog
