#include "tools/cli/source.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "agent/daemon/agent.h"
#include "common/base/text.h"
#include "common/catalog/nearest.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxSuggestions = 8;

bool Matches(std::string_view glob, const stats::ApiKey& api) {
  return glob.empty() || GlobMatch(glob, api.soname);
}

}  // namespace

Result<Source> Source::Open(bool local) {
  FIELDCOST_ASSIGN(const daemon::Profile profile, daemon::Profile::FromEnvironment());
  Source source;
  if (local) {
    FIELDCOST_ASSIGN(daemon::Agent agent, daemon::Agent::Open(profile, SystemClock()));
    FIELDCOST_TRY(agent.Harvest());
    FIELDCOST_ASSIGN(source.local_rows_, agent.LocalRows());
  } else {
    FIELDCOST_ASSIGN(source.catalog_, catalog::Catalog::Open(profile.catalog_file));
    FIELDCOST_ASSIGN(source.freshness_, source.catalog_->GetFreshness());
  }
  return source;
}

Result<std::vector<report::CostSummary>> Source::Summaries(std::string_view library_glob) const {
  std::vector<report::CostSummary> all;
  const auto add = [&](std::vector<stats::StatRow> rows) {
    std::erase_if(rows, [&](const auto& row) { return !Matches(library_glob, row.key.api); });
    std::vector<report::CostSummary> some = report::Summarise(rows);
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  };
  if (catalog_) {
    FIELDCOST_TRY(catalog_->ForEachApi(add));
  } else {
    add(local_rows_);
  }
  return all;
}

Result<std::vector<stats::StatRow>> Source::Find(std::string_view symbol,
                                                 std::string_view soname) const {
  if (catalog_) return catalog_->Find(symbol, soname);
  std::vector<stats::StatRow> rows;
  for (const stats::StatRow& row : local_rows_) {
    const stats::ApiKey& api = row.key.api;
    if (api.symbol == symbol && (soname.empty() || api.soname == soname)) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<std::string>> Source::Suggest(std::string_view symbol) const {
  if (catalog_) {
    FIELDCOST_ASSIGN(std::vector<std::string> names, catalog_->FindPrefix(symbol, kMaxSuggestions));
    if (!names.empty()) return names;
    return catalog_->Nearest(symbol, kMaxSuggestions);
  }
  std::set<std::pair<std::size_t, std::string>> names;  // prefix matches first, then by distance
  const std::size_t max_edits = catalog::MaxEdits(symbol);
  for (const stats::StatRow& row : local_rows_) {
    const stats::ApiKey& api = row.key.api;
    const std::size_t edits =
        api.symbol.starts_with(symbol) ? 0 : catalog::EditDistance(symbol, api.symbol, max_edits);
    if (edits <= max_edits) names.emplace(edits, stats::DisplayName(api));
  }
  std::vector<std::string> best;
  for (const auto& [edits, name] : names) {
    if (best.size() < kMaxSuggestions) best.push_back(name);
  }
  return best;
}

}  // namespace fieldcost::cli
