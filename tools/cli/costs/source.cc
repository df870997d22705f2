#include "tools/cli/costs/source.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "agent/volunteer/agent.h"
#include "common/base/nearest.h"
#include "common/base/text.h"
#include "common/catalog/name_pattern.h"
#include "common/draw/numbers.h"
#include "common/names/cxx_name.h"
#include "common/stats/field_total.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/waiting.h"
#include "tools/cli/costs/catalogue_freshness.h"
#include "tools/cli/costs/lab_table_file.h"
#include "tools/cli/costs/library_names.h"
#include "tools/cli/terminal/terminal_io.h"
#include "tools/report/freshness_text.h"

namespace fieldcost::cli {
namespace {

constexpr std::size_t kMaxSuggestions = 8;

bool Matches(std::string_view glob, const stats::ApiKey& api) {
  return glob.empty() || GlobMatch(glob, api.soname);
}

const stats::ApiKey& ApiOf(const stats::StatRow& row) { return row.key.api; }

void Keep(std::vector<analysis::ApiCost>& costs, analysis::SortKey key, std::uint64_t limit) {
  analysis::Sort(costs, key);
  if (limit != 0 && costs.size() > limit) costs.resize(static_cast<std::size_t>(limit));
}

// Measurements may exist even without a catalogue.
Error OfferLocal(const settings::AgentPaths& paths, Error error) {
  if (error.code != ErrorCode::kNotFound) return error;
  const auto agent = volunteer::Agent::Open(paths, SystemClock());
  if (!agent) return error;
  const auto rows = agent->LocalRows();
  if (!rows || rows->empty()) return error;
  return Fail(ErrorCode::kNotFound, "{}; for this machine's own measurements add --local",
              error.message);
}

}  // namespace

Error WithWayOut(Error error) {
  if (error.code != ErrorCode::kCorrupt) return error;
  return Fail(ErrorCode::kCorrupt,
              "the local catalogue is damaged ({}); remove it and run `fieldcost sync --full`",
              error.message);
}

Result<Source> Source::OpenLocal(const volunteer::TimeSpan& span) {
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  FIELDCOST_ASSIGN(volunteer::Agent agent, volunteer::Agent::Open(paths, SystemClock()));
  FIELDCOST_TRY(agent.Harvest());
  Source source;
  const bool all = span.from <= WallTime{} && span.before == WallTime::max();
  FIELDCOST_ASSIGN(source.local_rows_, all ? agent.LocalRows() : agent.LocalRowsOf(span));
  FIELDCOST_ASSIGN(source.local_only_, agent.LocalOnlyApis());
  FIELDCOST_ASSIGN(const volunteer::MeasuringStatus measuring, agent.GetMeasuring());
  source.runs_ = LocalRuns{.counts = measuring.runs,
                           .selection_probability = agent.config().selection_probability};
  if (!all && span.from < measuring.times_since) {
    Remark(fmt::format("times are known only since {}; older data is omitted",
                       draw::FormatTime(measuring.times_since)));
  }
  return source;
}

Result<Source> Source::Open(bool local) {
  if (local) return OpenLocal({});
  FIELDCOST_ASSIGN(const settings::AgentPaths paths, settings::AgentPaths::FromEnvironment());
  Source source;
  auto opened = OrWayOut(catalog::Catalog::Open(paths.catalog_file));
  if (!opened) return OfferLocal(paths, std::move(opened).error());
  source.catalog_ = std::move(*opened);
  FIELDCOST_ASSIGN(source.freshness_, OrWayOut(source.catalog_->GetFreshness()));
  if (source.freshness_->Expired(SystemClock().Now())) {
    Remark("the local catalogue is " + report::OutOfDateText(source.freshness_->snapshot_expires));
  }
  if (source.freshness_->IsIncomplete()) Remark(IncompleteText(*source.freshness_));
  return source;
}

SourceChoice SourceOf(const command::Arguments& arguments) {
  return {.local = arguments.Has("--local"), .table = arguments.Text("--table")};
}

Result<Source> Source::OpenTable(const std::filesystem::path& file) {
  Source source;
  FIELDCOST_ASSIGN(source.table_, ReadLabTable(file));
  source.local_rows_ = source.table_->rows;
  return source;
}

Result<Source> Source::Open(const SourceChoice& choice) {
  return choice.table.empty() ? Open(choice.local) : OpenTable(choice.table);
}

std::vector<analysis::CostSummary> Source::Summarise(std::span<const stats::StatRow> rows) const {
  std::vector<analysis::CostSummary> summaries = analysis::Summarise(rows, whose());
  for (analysis::CostSummary& summary : summaries) {
    summary.local_only = local_only_.contains(summary.api);
    summary.load_known = !table_;
  }
  return summaries;
}

Result<std::string> Source::LibraryGlob(const std::string& name) const {
  if (name.empty()) return name;
  Sonames sonames;
  FIELDCOST_TRY(ForEachLibrary([&](std::string_view soname) { sonames.emplace(soname); }));
  FIELDCOST_ASSIGN(const std::vector<std::string> found, MatchLibraries(sonames, name));
  if (found.size() == 1) return found[0];
  return GlobMatch(name, found[0]) ? name : "*" + name + "*";
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

Status Source::CheckComplete() const {
  if (!freshness_ || !freshness_->IsIncomplete()) return {};
  return Fail(ErrorCode::kUnavailable, "no order of all APIs and no share is known: {}",
              IncompleteText(*freshness_));
}

Result<TopApis> Source::Top(const TopOptions& options) const {
  FIELDCOST_TRY(CheckComplete());
  const std::uint64_t limit = options.limit;
  if (catalog_ && options.key == analysis::SortKey::kTotal && limit != 0) {
    return TopByTotal(options);
  }
  constexpr std::size_t kSpare = 1024;  // entries kept beyond the limit between two sorts
  TopApis top{.costs = {}, .whole = {}, .found = 0, .waiting = {}};
  const auto add = [&](std::vector<stats::StatRow> rows) {
    std::erase_if(rows, [&](const auto& row) { return !Matches(options.library, row.key.api); });
    if (!options.with_waiting) top.waiting.merge(analysis::SetWaitingApart(rows, ApiOf));
    std::vector<analysis::ApiCost> some =
        CostsOf(Summarise(rows), options.versions, analysis::AskPackageManager());
    *top.found += some.size();
    for (analysis::ApiCost& cost : some) {
      if (cost.total) top.whole.Add(*cost.total);
      top.costs.push_back(std::move(cost));
    }
    if (limit != 0 && top.costs.size() > limit + kSpare) Keep(top.costs, options.key, limit);
  };
  if (catalog_) {
    FIELDCOST_TRY(OrWayOut(catalog_->ForEachApi(add)));
  } else {
    add(local_rows_);
  }
  Keep(top.costs, options.key, limit);
  return top;
}

// Reads rows until no later API can be as expensive as the last one kept; of the remaining APIs,
// reads only their totals.
Result<TopApis> Source::TopByTotal(const TopOptions& options) const {
  TopApis top;
  std::size_t found = 0;
  bool all = true;
  Status status;
  const auto visit = [&](const catalog::FoundApi& api) {
    if (!options.library.empty() && !GlobMatch(options.library, api.soname)) return true;
    if (!options.with_waiting &&
        analysis::IsWaiting({.soname = api.soname, .symbol = api.symbol})) {
      top.waiting.insert(api.symbol);
      return true;
    }
    top.whole.Add(api.total);
    stats::FieldCost bound = api.total;
    bound.ns += catalog::kTotalStepNs;  // stored totals are rounded down
    if (top.costs.size() >= options.limit &&
        top.costs.back().total.value_or(stats::FieldCost{}) > bound) {
      all = false;
      return true;
    }
    const auto rows = Find(api.symbol, api.soname);
    if (!rows) {
      status = rows.error();
      return false;
    }
    std::vector<analysis::ApiCost> some =
        CostsOf(Summarise(*rows), options.versions, analysis::AskPackageManager());
    found += some.size();
    std::move(some.begin(), some.end(), std::back_inserter(top.costs));
    Keep(top.costs, analysis::SortKey::kTotal, options.limit);
    return true;
  };
  FIELDCOST_TRY(OrWayOut(catalog_->ForEachByTotal(visit)));
  FIELDCOST_TRY(status);
  if (all) top.found = found;
  return top;
}

Result<std::vector<catalog::FoundApi>> Source::Search(const catalog::SearchOptions& options) const {
  if (catalog_) {
    catalog::SearchOptions in_order = options;
    if (freshness_->IsIncomplete()) in_order.order = catalog::SearchOptions::Order::kName;
    return OrWayOut(catalog_->Search(in_order));
  }
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
    catalog::FoundApi api{name.second, name.first, stats::FieldTotal(rows, whose())};
    if (!options.leave_out || !options.leave_out(api)) found.push_back(std::move(api));
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

Status Source::ForEachName(
    const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const {
  if (catalog_) return OrWayOut(catalog_->ForEachName(visit));
  for (const stats::StatRow& row : local_rows_) {
    if (!visit(row.key.api.soname, row.key.api.symbol)) break;
  }
  return {};
}

Status Source::ForEachCandidate(
    const catalog::NameParts& parts,
    const std::function<bool(std::string_view soname, std::string_view symbol)>& visit) const {
  if (!catalog_) return ForEachName(visit);
  return OrWayOut(catalog_->ForEachCandidate(
      parts, [&](const catalog::FoundApi& api) { return visit(api.soname, api.symbol); }));
}

Status Source::ForEachLibrary(const std::function<void(std::string_view soname)>& visit) const {
  std::set<std::string, std::less<>> seen;
  const auto visit_once = [&](std::string_view soname) {
    if (!seen.contains(soname)) {
      seen.emplace(soname);
      visit(soname);
    }
    return true;
  };
  if (catalog_) return OrWayOut(catalog_->ForEachLibrary(visit_once));
  return ForEachName([&](std::string_view soname, std::string_view) { return visit_once(soname); });
}

Result<std::vector<stats::StatRow>> Source::FindCxx(std::string_view name,
                                                    std::string_view soname) const {
  const names::CxxNameQuery query(name);
  std::set<std::pair<std::string, std::string>> found;  // soname, symbol
  const catalog::NameParts parts{
      .symbol = query.identifiers(),
      .library = soname.empty() ? std::vector<std::string>() : std::vector{std::string(soname)}};
  FIELDCOST_TRY(ForEachCandidate(parts, [&](std::string_view library, std::string_view symbol) {
    if ((soname.empty() || library == soname) && query.Matches(symbol)) {
      found.emplace(library, symbol);
    }
    return true;
  }));
  std::vector<stats::StatRow> rows;
  for (const auto& [library, symbol] : found) {
    FIELDCOST_ASSIGN(std::vector<stats::StatRow> some, Find(symbol, library));
    std::move(some.begin(), some.end(), std::back_inserter(rows));
  }
  return rows;
}

Result<std::vector<std::string>> Source::Suggest(std::string_view name) const {
  std::set<std::pair<std::size_t, std::string>> names;  // prefix matches first, then by distance
  const bool is_cxx = name.find("::") != std::string_view::npos;
  if (catalog_ && !is_cxx) {
    FIELDCOST_ASSIGN(std::vector<std::string> found, catalog_->FindPrefix(name, kMaxSuggestions));
    if (!found.empty()) return found;
    return catalog_->Nearest(name, kMaxSuggestions);
  }
  const std::size_t max_edits = MaxEdits(name);
  FIELDCOST_TRY(ForEachName([&](std::string_view soname, std::string_view symbol) {
    const std::string shown = names::ShortName(symbol);
    const std::size_t edits = shown.starts_with(name) ? 0 : EditDistance(name, shown, max_edits);
    if (edits <= max_edits) names.emplace(edits, fmt::format("{}!{}", soname, shown));
    return true;
  }));
  std::vector<std::string> best;
  for (const auto& [edits, shown] : names) {
    if (best.size() < kMaxSuggestions) best.push_back(shown);
  }
  return best;
}

}  // namespace fieldcost::cli
