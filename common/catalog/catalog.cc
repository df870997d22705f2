#include "common/catalog/catalog.h"

#include <algorithm>
#include <utility>

#include "common/catalog/nearest.h"
#include "common/catalog/schema.h"
#include "common/wire/fragment.h"

namespace fieldcost::catalog {
namespace {

std::string FullName(std::string_view soname, std::string_view symbol) {
  return fmt::format("{}!{}", soname, symbol);
}

Status AppendRows(std::string_view encoded, std::vector<stats::StatRow>& rows) {
  FIELDCOST_ASSIGN(std::vector<stats::StatRow> decoded, wire::DecodeFragment(encoded));
  rows.insert(rows.end(), std::make_move_iterator(decoded.begin()),
              std::make_move_iterator(decoded.end()));
  return {};
}

}  // namespace

struct Catalog::State {
  sqlite::Database database;
};

Catalog::Catalog(std::unique_ptr<State> state) : state_(std::move(state)) {}
Catalog::Catalog(Catalog&&) noexcept = default;
Catalog& Catalog::operator=(Catalog&&) noexcept = default;
Catalog::~Catalog() = default;

Result<Catalog> Catalog::Open(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(sqlite::Database database, OpenForReading(path));
  FIELDCOST_ASSIGN(const SyncState sync, LoadState(database));
  if (sync.snapshot_version == 0) {
    return Fail(ErrorCode::kNotFound, "no catalogue yet: run `fieldcost sync`");
  }
  return Catalog(std::unique_ptr<State>(new State{std::move(database)}));
}

Result<Freshness> Catalog::GetSnapshotFreshness() const {
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
  return freshness;
}

Result<Freshness> Catalog::GetFreshness() const {
  FIELDCOST_ASSIGN(Freshness freshness, GetSnapshotFreshness());
  FIELDCOST_ASSIGN(freshness.row_count,
                   state_->database.QueryInt("SELECT coalesce(sum(row_count), 0) FROM apis"));
  return freshness;
}

Result<std::vector<stats::StatRow>> Catalog::Find(std::string_view symbol,
                                                  std::string_view soname) const {
  sqlite::Statement select = state_->database.Prepare(
      soname.empty() ? "SELECT rows FROM apis WHERE symbol = ?1 ORDER BY soname"
                     : "SELECT rows FROM apis WHERE symbol = ?1 AND soname = ?2");
  select.Text(symbol);
  if (!soname.empty()) select.Text(soname);
  std::vector<stats::StatRow> rows;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return rows;
    FIELDCOST_TRY(AppendRows(select.ColumnText(0), rows));
  }
}

Result<std::vector<std::string>> Catalog::FindPrefix(std::string_view prefix,
                                                     std::size_t limit) const {
  // Names are printable ASCII, so this is behind every name with the prefix.
  const std::string behind = std::string(prefix) + '\x7f';
  sqlite::Statement select = state_->database.Prepare(
      "SELECT soname, symbol FROM apis WHERE symbol >= ?1 "
      "AND symbol < ?2 ORDER BY symbol, soname LIMIT ?3");
  select.Text(prefix).Text(behind).Int(limit);
  std::vector<std::string> names;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) break;
    names.push_back(FullName(select.ColumnText(0), select.ColumnText(1)));
  }
  return names;
}

Result<std::vector<std::string>> Catalog::Nearest(std::string_view symbol,
                                                  std::size_t limit) const {
  sqlite::Statement select = state_->database.Prepare("SELECT soname, symbol FROM apis");
  const std::size_t max_edits = MaxEdits(symbol);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) break;
    const std::string name = select.ColumnText(1);
    const std::size_t edits = EditDistance(symbol, name, max_edits);
    if (edits <= max_edits) near.emplace_back(edits, FullName(select.ColumnText(0), name));
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
  // Of all indexes this one is the smallest that has both.
  sqlite::Statement select =
      state_->database.Prepare("SELECT soname, symbol FROM apis INDEXED BY apis_by_hash");
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found || !visit(select.ColumnText(0), select.ColumnText(1))) return {};
  }
}

Status Catalog::ForEachApi(
    const std::function<void(std::vector<stats::StatRow> rows)>& visit) const {
  sqlite::Statement select =
      state_->database.Prepare("SELECT rows FROM apis ORDER BY symbol, soname");
  for (;;) {
    FIELDCOST_ASSIGN(const bool found, select.Step());
    if (!found) return {};
    std::vector<stats::StatRow> rows;
    FIELDCOST_TRY(AppendRows(select.ColumnText(0), rows));
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
