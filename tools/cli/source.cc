#include "tools/cli/source.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "agent/daemon/agent.h"
#include "common/base/text.h"
#include "common/catalog/name_pattern.h"
#include "common/catalog/nearest.h"
#include "common/draw/numbers.h"
#include "common/stats/field_total.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/terminal_io.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxSuggestions = 8;

bool Matches(std::string_view glob, const stats::ApiKey& api) {
  return glob.empty() || GlobMatch(glob, api.soname);
}

void Keep(std::vector<analysis::CostSummary>& summaries, analysis::SortKey key,
          std::uint64_t limit) {
  analysis::Sort(summaries, key);
  if (limit != 0 && summaries.size() > limit) {
    summaries.resize(static_cast<std::size_t>(limit));
  }
}

}  // namespace

Error WithWayOut(Error error) {
  if (error.code != ErrorCode::kCorrupt) return error;
  return Fail(ErrorCode::kCorrupt,
              "the local catalogue is damaged ({}); remove it and run `fieldcost sync --full`",
              error.message);
}

Result<Source> Source::Open(bool local) {
  FIELDCOST_ASSIGN(const agent::AgentPaths paths, agent::AgentPaths::FromEnvironment());
  Source source;
  if (local) {
    FIELDCOST_ASSIGN(agent::Agent agent, agent::Agent::Open(paths, SystemClock()));
    FIELDCOST_TRY(agent.Harvest());
    FIELDCOST_ASSIGN(source.local_rows_, agent.LocalRows());
    FIELDCOST_ASSIGN(source.local_only_, agent.LocalOnlyApis());
  } else {
    FIELDCOST_ASSIGN(source.catalog_, OrWayOut(catalog::Catalog::Open(paths.catalog_file)));
    FIELDCOST_ASSIGN(source.freshness_, OrWayOut(source.catalog_->GetFreshness()));
    if (source.freshness_->Expired(SystemClock().Now())) {
      Remark(fmt::format("the local catalogue is out of date since {}: fieldcost sync",
                         draw::FormatTime(source.freshness_->snapshot_expires)));
    }
  }
  return source;
}

std::vector<analysis::CostSummary> Source::Summarise(std::span<const stats::StatRow> rows) const {
  std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows, whose());
  for (analysis::CostSummary& summary : summaries) {
    summary.local_only = local_only_.contains(summary.api);
  }
  return summaries;
}

Result<std::vector<analysis::CostSummary>> Source::Summaries(std::string_view library_glob) const {
  std::vector<analysis::CostSummary> all;
  const auto add = [&](std::vector<stats::StatRow> rows) {
    std::erase_if(rows, [&](const auto& row) { return !Matches(library_glob, row.key.api); });
    std::vector<analysis::CostSummary> some = Summarise(rows);
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  };
  if (catalog_) {
    FIELDCOST_TRY(OrWayOut(catalog_->ForEachApi(add)));
  } else {
    add(local_rows_);
  }
  return all;
}

Result<TopApis> Source::Top(const TopOptions& options) const {
  const std::uint64_t limit = options.limit;
  if (catalog_ && catalog_->has_totals() && options.key == analysis::SortKey::kTotal &&
      limit != 0) {
    return TopByTotal(options);
  }
  constexpr std::size_t kSpare = 4096;  // kept beyond the limit between two sorts
  TopApis top{.summaries = {}, .found = 0, .waiting = {}};
  const auto add = [&](std::vector<stats::StatRow> rows) {
    std::erase_if(rows, [&](const stats::StatRow& row) {
      if (!Matches(options.library, row.key.api)) return true;
      const bool left_out = !options.with_waiting && analysis::IsWaiting(row.key.api);
      if (left_out) top.waiting.insert(row.key.api.symbol);
      return left_out;
    });
    std::vector<analysis::CostSummary> some = Summarise(rows);
    *top.found += some.size();
    std::move(some.begin(), some.end(), std::back_inserter(top.summaries));
    if (limit != 0 && top.summaries.size() > limit + kSpare) {
      Keep(top.summaries, options.key, limit);
    }
  };
  if (catalog_) {
    FIELDCOST_TRY(OrWayOut(catalog_->ForEachApi(add)));
  } else {
    add(local_rows_);
  }
  Keep(top.summaries, options.key, limit);
  return top;
}

// Goes on until no API that follows can have a version as expensive as the last one kept.
Result<TopApis> Source::TopByTotal(const TopOptions& options) const {
  TopApis top;
  std::size_t found = 0;
  bool all = true;
  Status status;
  const auto visit = [&](const catalog::FoundApi& api) {
    stats::FieldCost bound = api.total;
    bound.ns += catalog::kTotalStepNs;  // it is rounded down
    if (top.summaries.size() >= options.limit &&
        analysis::TotalOf(top.summaries.back()).value_or(stats::FieldCost{}) > bound) {
      return all = false;
    }
    if (!options.library.empty() && !GlobMatch(options.library, api.soname)) return true;
    if (!options.with_waiting &&
        analysis::IsWaiting({.soname = api.soname, .symbol = api.symbol})) {
      top.waiting.insert(api.symbol);
      return true;
    }
    const auto rows = Find(api.symbol, api.soname);
    if (!rows) {
      status = rows.error();
      return false;
    }
    std::vector<analysis::CostSummary> some = Summarise(*rows);
    found += some.size();
    std::move(some.begin(), some.end(), std::back_inserter(top.summaries));
    Keep(top.summaries, analysis::SortKey::kTotal, options.limit);
    return true;
  };
  FIELDCOST_TRY(OrWayOut(catalog_->ForEachByTotal(visit)));
  FIELDCOST_TRY(status);
  if (all) top.found = found;
  return top;
}

Result<std::vector<catalog::FoundApi>> Source::Search(const catalog::SearchOptions& options) const {
  if (catalog_) return OrWayOut(catalog_->Search(options));
  const catalog::NamePattern pattern(options.pattern);
  std::map<std::pair<std::string, std::string>, std::vector<stats::StatRow>> apis;
  for (const stats::StatRow& row : local_rows_) {
    const stats::ApiKey& api = row.key.api;
    if (pattern.Matches(api.soname, api.symbol) && Matches(options.library, api)) {
      apis[{api.symbol, api.soname}].push_back(row);
    }
  }
  std::vector<catalog::FoundApi> found;
  for (const auto& [name, rows] : apis) {
    found.push_back({name.second, name.first, stats::FieldTotal(rows, whose())});
  }
  if (options.order == catalog::SearchOptions::Order::kTotal) {
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.total > b.total; });
  }
  if (found.size() > options.limit) found.resize(options.limit);
  return found;
}

Result<std::vector<stats::StatRow>> Source::Find(std::string_view symbol,
                                                 std::string_view soname) const {
  if (catalog_) return OrWayOut(catalog_->Find(symbol, soname));
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
