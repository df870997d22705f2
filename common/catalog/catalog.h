#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/catalog/name_pattern.h"
#include "common/catalog/refresh_schedule.h"
#include "common/stats/field_total.h"
#include "common/stats/stat_row.h"

namespace fieldcost::catalog {

// How fresh the local copy is.
struct Freshness {
  std::uint64_t snapshot_version = 0;
  WallTime snapshot_published{};
  WallTime last_sync{};
  std::uint32_t fragments_total = 0;
  std::uint32_t fragments_present = 0;  // stored in any version
  std::uint32_t fragments_current = 0;  // stored in the snapshot's version
  std::uint64_t row_count = 0;
  std::uint32_t contribution_threshold = 0;
  bool synthetic = false;
  WallTime snapshot_expires{};

  // Each part of the catalogue has been stored in some version. Until then, no order by total and
  // no share of the whole is known.
  bool is_complete = false;
  bool IsIncomplete() const { return fragments_total != 0 && !is_complete; }
  // Searches use their index. Otherwise a sync is running, or was interrupted.
  bool is_ranked = false;

  // The signed metadata has expired: a newer one should exist. The catalogue remains usable.
  bool Expired(WallTime now) const { return snapshot_expires < now; }
};

// The record of a catalogue about its automatic refreshes.
struct StoredRefresh {
  RefreshState state;
  std::string problem;  // why the last attempt failed; empty if it did not
};
// Also before anything was fetched. kNotFound if there is no file.
Result<StoredRefresh> LoadRefresh(const std::filesystem::path& path);

struct FoundApi {
  std::string soname;
  std::string symbol;
  stats::FieldCost total{};  // what its calls have cost together; 0 = unknown
};

struct SearchOptions {
  std::string pattern;                                       // see NamePattern; as typed
  std::string library;                                       // glob over sonames, empty = all
  enum class Order { kTotal, kName } order = Order::kTotal;  // most expensive first, or ascending
  std::size_t limit = 20;
  std::function<bool(const FoundApi& api)> leave_out = nullptr;  // omits matches; empty = none
};

inline constexpr double kTotalStepNs = 1024;  // totals are rounded down by less than this

// The local, verified copy of the published catalogue: one SQLite file (WAL), many readers, one
// syncing writer (see catalog_sync.h). Never uses the network. One Catalog per thread.
class Catalog {
 public:
  // kNotFound if missing ("run `fieldcost sync`"), kCorrupt if it is not a catalogue of ours.
  static Result<Catalog> Open(const std::filesystem::path& path);
  Catalog(Catalog&&) noexcept;
  Catalog& operator=(Catalog&&) noexcept;
  ~Catalog();

  Result<Freshness> GetFreshness() const;

  // All rows (versions, metrics, strata) of APIs with that symbol, optionally of one soname; rows
  // of the same library are adjacent.
  Result<std::vector<stats::StatRow>> Find(std::string_view symbol, std::string_view soname) const;

  // Finds up to `limit` "soname!symbol" names whose symbol starts with `prefix`, ascending.
  Result<std::vector<std::string>> FindPrefix(std::string_view prefix, std::size_t limit) const;

  // Finds up to `limit` matching names, by an index of trigrams. Ordered by total, reads candidates
  // from the most expensive on, only as far as needed; ordered by name, reads all. A pattern
  // without three consecutive characters reads all names: about 0.3 s for a million. See
  // ForEachCandidate() for the time after an interrupted sync.
  Result<std::vector<FoundApi>> Search(const SearchOptions& options) const;

  // Calls `visit` with every API, the most expensive total first, until it returns false.
  Status ForEachByTotal(const std::function<bool(const FoundApi& api)>& visit) const;

  // The same for some of the APIs, among them all that have these parts. After an interrupted sync,
  // visits all APIs until the next one succeeds, which takes about 2 s for a million.
  Status ForEachCandidate(const NameParts& parts,
                          const std::function<bool(const FoundApi& api)>& visit) const;

  // Names closest to a mistyped symbol (edit distance), best first: for "did you mean".
  Result<std::vector<std::string>> Nearest(std::string_view symbol, std::size_t limit) const;

  // Calls `visit` with each name, in no particular order, until it returns false. Reads no rows.
  Status ForEachName(
      const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const;

  // Calls `visit` with each soname once, in no particular order, until it returns false.
  Status ForEachLibrary(const std::function<bool(std::string_view soname)>& visit) const;

  // Calls `visit` once for each soname!symbol with all its rows (ascending by key), ordered by
  // symbol. Only one API's rows are in memory at a time: a row takes about 4 KiB there.
  Status ForEachApi(const std::function<void(std::vector<stats::StatRow> rows)>& visit) const;

  // Every row, in key order; for reports and tests.
  Result<std::vector<stats::StatRow>> AllRows() const;

 private:
  struct State;
  explicit Catalog(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fieldcost::catalog
