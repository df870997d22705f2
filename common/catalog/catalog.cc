#include "common/catalog/catalog.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/catalog/catalog_schema.h"
#include "common/catalog/name_search.h"
#include "common/wire/fragment.h"

namespace fieldcost::catalog {
namespace {

std::string FullName(std::string_view soname, std::string_view symbol) {
  return fmt::format("{}!{}", soname, symbol);
}

Status AppendRows(std::string_view encoded, std::vector<stats::StatRow>& rows) {
  FIELDCOST_ASSIGN(std::vector<stats::StatRow> decoded, wire::DecodeFragment(encoded));
  if (rows.empty()) {  // a row is large
    rows = std::move(decoded);
    return {};
  }
  rows.insert(rows.end(), std::make_move_iterator(decoded.begin()),
              std::make_move_iterator(decoded.end()));
  return {};
}

// Gives a statement's view of the database up, however its use ends.
class ResetOnExit {
 public:
  explicit ResetOnExit(sqlite::Statement& statement) : statement_(statement) {}
  ~ResetOnExit() { statement_.Reset(); }
  ResetOnExit(const ResetOnExit&) = delete;
  ResetOnExit& operator=(const ResetOnExit&) = delete;
  sqlite::Statement* operator->() { return &statement_; }

 private:
  sqlite::Statement& statement_;
};

// These read an index that has no rows.
constexpr char kAllNames[] = "SELECT soname, symbol FROM apis INDEXED BY apis_by_name";
constexpr char kAllLibraries[] = "SELECT DISTINCT soname FROM apis INDEXED BY apis_by_name";
constexpr char kSortedNames[] =
    "SELECT soname, symbol, total FROM apis INDEXED BY apis_by_name "
    "ORDER BY total DESC, symbol, soname";

constexpr char kRankedNames[] = "SELECT soname, symbol, total FROM ranking ORDER BY rank";
constexpr char kCandidates[] =
    "SELECT ranking.soname, ranking.symbol, ranking.total FROM name_grams "
    "CROSS JOIN ranking ON ranking.rank = name_grams.rowid "
    "WHERE name_grams MATCH ?1 ORDER BY name_grams.rowid";

Status VisitApis(sqlite::Statement select, const std::function<bool(const FoundApi& api)>& visit) {
  FoundApi api;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return {};
    api.soname = select.ColumnView(0);
    api.symbol = select.ColumnView(1);
    api.total = CostOfColumn(select.ColumnInt(2));
    if (!visit(api)) return {};
  }
}

}  // namespace

// Statements are prepared once: that takes longer than a look-up.
struct Catalog::State {
  explicit State(sqlite::Database opened)
      : database(std::move(opened)),
        find_any(database.Prepare("SELECT rows FROM apis WHERE symbol = ?1 ORDER BY soname")),
        find_one(database.Prepare("SELECT rows FROM apis WHERE symbol = ?1 AND soname = ?2")),
        find_prefix(database.Prepare("SELECT soname, symbol FROM apis WHERE symbol >= ?1 "
                                     "AND symbol < ?2 ORDER BY symbol, soname LIMIT ?3")) {}

  sqlite::Database database;
  sqlite::Statement find_any;
  sqlite::Statement find_one;
  sqlite::Statement find_prefix;
};

Catalog::Catalog(std::unique_ptr<State> state) : state_(std::move(state)) {}
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

Result<StoredRefresh> LoadRefresh(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(const sqlite::Database database, OpenForReading(path));
  FIELDCOST_ASSIGN(SyncState sync, LoadState(database));
  return StoredRefresh{.state = sync.refresh, .problem = std::move(sync.refresh_problem)};
}

Result<Catalog> Catalog::Open(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(sqlite::Database database, OpenForReading(path));
  FIELDCOST_ASSIGN(const SyncState sync, LoadState(database));
  if (sync.snapshot_version == 0) {
    return Fail(ErrorCode::kNotFound, "no catalogue yet: run `fieldcost sync`");
  }
  return Catalog(std::make_unique<State>(std::move(database)));
}

Result<Freshness> Catalog::GetFreshness() const {
  const sqlite::Database& database = state_->database;
  FIELDCOST_ASSIGN(const SyncState sync, LoadState(database));
  sqlite::Statement count = database.Prepare(
      "SELECT count(*), count(sha256), "
      "count(CASE WHEN sha256 = wanted_sha256 THEN 1 END) "
      "FROM fragments");
  FIELDCOST_TRY(count.Step());
  Freshness freshness;
  freshness.snapshot_version = sync.snapshot_version;
  freshness.snapshot_published = sync.snapshot_published;
  freshness.last_sync = sync.last_sync;
  freshness.fragments_total = static_cast<std::uint32_t>(count.ColumnInt(0));
  freshness.fragments_present = static_cast<std::uint32_t>(count.ColumnInt(1));
  freshness.fragments_current = static_cast<std::uint32_t>(count.ColumnInt(2));
  freshness.contribution_threshold = sync.contribution_threshold;
  freshness.synthetic = sync.synthetic;
  freshness.snapshot_expires = sync.snapshot_expires;
  freshness.row_count = sync.row_count;
  freshness.is_complete = sync.is_complete;
  freshness.is_ranked = sync.is_ranked;
  return freshness;
}

Result<std::vector<stats::StatRow>> Catalog::Find(std::string_view symbol,
                                                  std::string_view soname) const {
  ResetOnExit select(soname.empty() ? state_->find_any : state_->find_one);
  select->Text(symbol);
  if (!soname.empty()) select->Text(soname);
  std::vector<stats::StatRow> rows;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select->Step());
    if (!found) return rows;
    FIELDCOST_TRY(AppendRows(select->ColumnView(0), rows));
  }
}

Result<std::vector<std::string>> Catalog::FindPrefix(std::string_view prefix,
                                                     std::size_t limit) const {
  // Names are UTF-8, so this sorts after every name with the prefix.
  const std::string behind = std::string(prefix) + '\xff';
  ResetOnExit select(state_->find_prefix);
  select->Text(prefix).Text(behind).Int(limit);
  std::vector<std::string> names;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select->Step());
    if (!found) break;
    names.push_back(FullName(select->ColumnView(0), select->ColumnView(1)));
  }
  return names;
}

Status Catalog::ForEachByTotal(const std::function<bool(const FoundApi& api)>& visit) const {
  return ForEachCandidate({}, visit);
}

Status Catalog::ForEachCandidate(const NameParts& parts,
                                 const std::function<bool(const FoundApi& api)>& visit) const {
  const sqlite::Database& database = state_->database;
  FIELDCOST_ASSIGN(const bool is_ranked, IsRanked(database));
  if (!is_ranked) return VisitApis(database.Prepare(kSortedNames), visit);
  const std::string query = GramQuery(parts);
  if (query.empty()) return VisitApis(database.Prepare(kRankedNames), visit);
  sqlite::Statement select = database.Prepare(kCandidates);
  select.Text(query);
  return VisitApis(std::move(select), visit);
}

Result<std::vector<FoundApi>> Catalog::Search(const SearchOptions& options) const {
  const NamePattern pattern(options.pattern);
  const bool by_name = options.order == SearchOptions::Order::kName;
  const auto name_less = [](const FoundApi& a, const FoundApi& b) {
    return std::tie(a.symbol, a.soname) < std::tie(b.symbol, b.soname);
  };
  NameParts parts = pattern.Parts();
  for (std::string& text : TextsOfGlob(options.library)) parts.library.push_back(std::move(text));
  std::vector<FoundApi> found;  // by name: a heap, the last name on top
  FIELDCOST_TRY(ForEachCandidate(parts, [&](const FoundApi& api) {
    if (options.limit == 0) return false;
    if (!pattern.Matches(api.soname, api.symbol) ||
        (!options.library.empty() && !GlobMatch(options.library, api.soname))) {
      return true;
    }
    if (options.leave_out && options.leave_out(api)) return true;
    if (!by_name) {
      found.push_back(api);
      return found.size() < options.limit;
    }
    if (found.size() == options.limit) {
      if (!name_less(api, found.front())) return true;
      std::pop_heap(found.begin(), found.end(), name_less);
      found.pop_back();
    }
    found.push_back(api);
    std::push_heap(found.begin(), found.end(), name_less);
    return true;
  }));
  if (by_name) std::sort_heap(found.begin(), found.end(), name_less);
  return found;
}

Result<std::vector<std::string>> Catalog::Nearest(std::string_view symbol,
                                                  std::size_t limit) const {
  sqlite::Statement select = state_->database.Prepare(kAllNames);
  const std::size_t max_edits = MaxEdits(symbol);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) break;
    const std::string_view name = select.ColumnView(1);
    const std::size_t edits = EditDistance(symbol, name, max_edits);
    if (edits <= max_edits) near.emplace_back(edits, FullName(select.ColumnView(0), name));
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (auto& [edits, name] : near) {
    if (names.size() == limit) break;
    names.push_back(std::move(name));
  }
  return names;
}

Status Catalog::ForEachName(
    const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const {
  sqlite::Statement select = state_->database.Prepare(kAllNames);
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found || !visit(select.ColumnView(0), select.ColumnView(1))) return {};
  }
}

Status Catalog::ForEachLibrary(const std::function<bool(std::string_view soname)>& visit) const {
  FIELDCOST_ASSIGN(const bool is_ranked, IsRanked(state_->database));
  sqlite::Statement select =
      state_->database.Prepare(is_ranked ? "SELECT soname FROM libraries" : kAllLibraries);
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found || !visit(select.ColumnView(0))) return {};
  }
}

Status Catalog::ForEachApi(
    const std::function<void(std::vector<stats::StatRow> rows)>& visit) const {
  // By that index even if sorting all rows looked cheaper.
  sqlite::Statement select = state_->database.Prepare(
      "SELECT rows FROM apis INDEXED BY apis_by_name ORDER BY symbol, soname");
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return {};
    std::vector<stats::StatRow> rows;
    FIELDCOST_TRY(AppendRows(select.ColumnView(0), rows));
    visit(std::move(rows));
  }
}

Result<std::vector<stats::StatRow>> Catalog::AllRows() const {
  std::vector<stats::StatRow> all;
  FIELDCOST_TRY(ForEachApi([&](std::vector<stats::StatRow> rows) {
    all.insert(all.end(), std::make_move_iterator(rows.begin()),
               std::make_move_iterator(rows.end()));
  }));
  std::sort(all.begin(), all.end(),
            [](const stats::StatRow& a, const stats::StatRow& b) { return a.key < b.key; });
  return all;
}

}  // namespace fieldcost::catalog
