#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/refresh_schedule.h"
#include "common/sqlite/sqlite.h"
#include "common/stats/field_total.h"
#include "common/stats/stat_row.h"

namespace fieldcost::catalog {

// The SQLite file of Catalog and Sync; README.md describes the tables. Private to this folder.

inline constexpr std::int64_t kApplicationId = 0x66636174;  // "fcat"
inline constexpr std::int64_t kSchemaVersion = 1;
inline constexpr std::uint64_t kMaxParts = 4;  // the number of connections of a sync

// Everything except roots, fragments and rows: the verified metadata and the progress of today's
// share.
// Days are whole UTC days since 1970-01-01; 0 = never.
struct SyncState {
  // Lower versions are refused, and other content of the same version; 0 and empty = none was seen
  // under the keys of the newest root.
  std::uint64_t timestamp_version = 0;
  std::string timestamp_sha256;
  std::uint64_t snapshot_floor = 0;
  std::uint64_t snapshot_version = 0;  // the snapshot whose fragments are stored; 0 = none yet
  std::string snapshot_sha256;
  WallTime snapshot_expires{};
  WallTime snapshot_published{};
  std::uint32_t contribution_threshold = 0;
  bool synthetic = false;
  unsigned fragment_bits = 0;
  WallTime last_sync{};
  std::uint64_t seed = 0;    // of this catalogue's own fragment order, and of its refresh slots
  std::uint64_t cursor = 0;  // position in that order where the next share begins
  std::int64_t share_day = 0;
  std::uint64_t row_count = 0;  // over all APIs
  std::uint64_t api_count = 0;
  std::uint64_t share_done = 0;  // fragments of that day's share fetched so far
  std::int64_t share_complete_day = 0;
  // Each fragment has been stored once. Stays true: what replaces a fragment covers all of it.
  bool is_complete = false;
  // The tables of RebuildNameSearch() have the names and totals of the stored fragments. Otherwise
  // a sync is running, or was interrupted.
  bool is_ranked = false;
  // Automatic refreshing. Its seed is the one above, changed so that the two are unrelated.
  RefreshState refresh;
  std::string refresh_problem;  // of the last attempt, if it failed
};

// Opens for reading. kNotFound, kCorrupt if it is not a catalogue, kUnsupported if it has another
// version.
Result<sqlite::Database> OpenForReading(const std::filesystem::path& path);
// Opens for writing; creates it (with its directory, tables and a random seed) if absent.
Result<sqlite::Database> OpenForWriting(const std::filesystem::path& path);

// The column `total`: the bounded total cost of an API's calls (stats::FieldTotal), encoded so that
// its order is that of costs: for measured runs only, ns, below 2^62; for all runs, 2^62 plus units
// of 1,024 ns, below 2^63, the limit of SQLite's integers. 0 = not known.
std::uint64_t TotalColumn(const std::vector<stats::StatRow>& rows);
// Rounded down, without its error.
stats::FieldCost CostOfColumn(std::uint64_t total);

Result<SyncState> LoadState(const sqlite::Database& database);
// SyncState::is_ranked alone.
Result<bool> IsRanked(const sqlite::Database& database);
// All verified roots, signed, by version.
Result<std::map<std::uint64_t, std::string>> LoadRoots(const sqlite::Database& database);

// The unverified first bytes of fragments whose download was cut off, by their hash.
Result<std::map<std::string, std::string>> LoadParts(const sqlite::Database& database);
// Replaces those of one fragment, and keeps at most kMaxParts fragments' parts, the newest. Empty:
// removes them.
Status SavePart(sqlite::Database& database, const std::string& sha256,
                const std::string& untrusted_part);
// Removes the parts of fragments that are not in the current snapshot.
Status RemoveOldParts(sqlite::Database& database);

// REQUIRES: inside a Transaction, so that it is atomic with the changes it belongs to.
Status SaveRoot(sqlite::Database& database, std::uint64_t version, const std::string& bytes);
Status SaveState(sqlite::Database& database, const SyncState& state);

}  // namespace fieldcost::catalog
