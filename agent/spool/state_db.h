#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/spool/spool_row_codec.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/sqlite/sqlite.h"
#include "common/wire/batch.h"

namespace fieldcost::spool {

// Identifies the run file of a snapshot; the name alone does not, since another file may reuse it.
struct RunIdentity {
  std::string name;  // within runs/
  std::uint64_t inode = 0;
  std::uint64_t start_unix_ns = 0;
};

// A run's counters about the measuring itself.
struct RunNumbers {
  std::uint64_t lost_calls = 0;
  std::uint64_t timed_calls = 0;
  std::uint64_t untimed_calls = 0;
  std::uint64_t dropped_picks = 0;
  std::uint64_t refused_cells = 0;
  bool operator==(const RunNumbers&) const = default;
};

// The part of a run file that has been counted so far.
struct RunSnapshot {
  bool is_known = false;            // some part has been counted
  std::uint64_t looked_second = 0;  // when it was last read, since 1970
  RunNumbers numbers;
  std::map<std::pair<std::uint32_t, stats::Metric>, stats::CostHistogram> totals;
};

// The time of a measurement, and the request that it belongs to.
struct RecentKey {
  std::uint64_t second = 0;   // since 1970
  std::uint64_t request = 0;  // shm::RunHeader::request_id
  bool is_fielded = false;    // from a run for the field, not only for a request
};
// Selects the rows of `request` if it is not 0, otherwise those of these seconds.
struct RecentFilter {
  std::uint64_t request = 0;
  std::uint64_t from_second = 0;
  std::uint64_t before_second = ~std::uint64_t{0};
};
struct RecentRows {
  std::map<LocalKey, stats::CostHistogram> sums;
  bool any_fielded = false;
};
inline constexpr std::uint64_t kMaxRecentRows = 32'768;  // about 10 MiB

// A library on disk, for the cache of package versions.
struct ModuleFile {
  std::string path;
  std::uint64_t inode = 0;
  std::uint64_t modified_ns = 0;
};

// Names of the numbers for Get(), Set() and Add().
inline constexpr char kLostCallsNumber[] = "lost_calls";
inline constexpr char kTimedCallsNumber[] = "timed_calls";
inline constexpr char kUntimedCallsNumber[] = "untimed_calls";
inline constexpr char kDroppedPicksNumber[] = "dropped_picks";
inline constexpr char kOverheadNumber[] = "overhead_ns";
inline constexpr char kRefusedFilesNumber[] = "refused_files";
inline constexpr char kRefusedCellsNumber[] = "refused_cells";
inline constexpr char kDrawnRunsNumber[] = "drawn_runs";
inline constexpr char kNotDrawnRunsNumber[] = "not_drawn_runs";
inline constexpr char kAskedRunsNumber[] = "asked_runs";
// The skip file's count of runs that were not drawn, as last added to kNotDrawnRunsNumber.
inline constexpr char kNotDrawnSeenNumber[] = "not_drawn_seen";
// All rows of AddRecent() from this second (since 1970) on are still stored.
inline constexpr char kRecentSinceNumber[] = "recent_since";

// The agent's database: one file, several processes. Every method is one statement; callers group
// them in transactions. README.md has the schema; spool_db.h the part about batches. Not
// thread-safe.
class StateDb {
 public:
  // kUnsupported if a newer version created the file.
  static Result<StateDb> Open(const std::filesystem::path& path);

  sqlite::Database& connection() { return *database_; }
  Result<sqlite::Transaction> Begin() { return sqlite::Transaction::Begin(*database_); }

  Result<std::uint64_t> Get(std::string_view name, std::uint64_t fallback);
  Status Set(std::string_view name, std::uint64_t value);
  // Saturates at 2^63 - 1.
  Status Add(std::string_view name, std::uint64_t amount);
  Result<std::string> GetText(std::string_view name);  // empty if absent
  Status SetText(std::string_view name, std::string_view value);

  // Empty if there is none, or if it belongs to another file of this name.
  Result<RunSnapshot> FindSnapshot(const RunIdentity& run);
  // Replaces the totals listed in `changes`. Removes those of another file of this name.
  Status SaveSnapshot(const RunIdentity& run, const RunSnapshot& changes);
  Status RemoveSnapshot(const RunIdentity& run);
  Result<std::vector<RunIdentity>> Snapshots();

  // `is_private`: its module is not public, so the row is never sent.
  Status AddLocal(const LocalKey& key, const stats::CostHistogram& histogram, bool is_private);
  Result<std::vector<std::pair<LocalKey, stats::CostHistogram>>> LocalRows();
  // Also stores the row by its time of measurement. The newest kMaxRecentRows are kept.
  Status AddRecent(const RecentKey& when, const LocalKey& key,
                   const stats::CostHistogram& histogram);
  Result<RecentRows> FindRecent(const RecentFilter& filter);
  Status PruneRecent();
  // Deletes all rows of AddLocal() and AddRecent().
  Status ForgetLocal();
  // The rows that are never sent, and the APIs that have only such rows.
  Result<std::uint64_t> CountPrivateRows();
  Result<std::set<stats::ApiKey>> PrivateApis();

  Status AddPending(const LocalKey& key, const stats::CostHistogram& histogram, WallTime now);
  // At most `limit` rows as they would be sent, ascending by stored key. `hardware` is part of a
  // contribution's key.
  Result<std::vector<wire::BatchRow>> PendingRows(std::string_view hardware, std::size_t limit);
  Result<std::optional<WallTime>> OldestPending();
  Status RemovePending(const LocalKey& key);
  // `batch`: the id of the contributing batch. If it is never accepted, the contribution does not
  // count.
  Status AddContributed(const LocalKey& key, std::string_view hardware, std::uint64_t batch);
  // After this, the next row of this key claims a contribution again.
  Status DropContributed(const LocalKey& key, std::string_view hardware);
  // Forgets contributions of earlier weeks that also belong to earlier batches, so that a jump of
  // the clock alone forgets nothing.
  Status PruneContributed(std::uint32_t oldest_week, std::uint64_t oldest_batch);

  Result<std::optional<std::string>> FindModuleVersion(const ModuleFile& file);
  Status SaveModuleVersion(const ModuleFile& file, std::string_view version);

 private:
  explicit StateDb(std::unique_ptr<sqlite::Database> database) : database_(std::move(database)) {}
  std::unique_ptr<sqlite::Database> database_;
};

}  // namespace fieldcost::spool
