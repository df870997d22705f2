#include "tools/lsp/cost_book.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "common/base/check.h"
#include "common/draw/numbers.h"
#include "common/draw/spectrum.h"
#include "tools/analysis/summary.h"
#include "tools/analysis/version_order.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/report/cards/heat_page.h"
#include "tools/report/figure_text.h"
#include "tools/report/not_measured.h"

namespace fieldcost::lsp {
namespace {

constexpr std::size_t kSpectrumWidth = 24;
constexpr std::size_t kMaxOtherVersions = 3;
constexpr unsigned kStopQuestions = 1024;  // names indexed between two checks of `stop`

bool IsIo(stats::Metric metric) { return (shm::BitOf(metric) & shm::kIoMetrics) != 0; }

std::uint64_t ContributionsOf(const stats::StatRow& row) { return row.scalars.contributions; }

std::optional<ApiCosts::Metric> Describe(const analysis::MetricSummary& summary,
                                         stats::Metric metric) {
  const stats::Figures& figures = summary.figures;
  if (!figures.quantiles) return std::nullopt;
  const draw::Bars bars = draw::BarsOf(summary.sums, figures, metric);
  return ApiCosts::Metric{
      .quantiles = *figures.quantiles,
      .calls = figures.calls,
      .mean = figures.mean,
      .contributions = figures.contributions,
      .strata = fmt::format("{}{}", analysis::StrataText(summary.strata), report::LoadText(metric)),
      .spectrum = draw::Spectrum(bars, kSpectrumWidth, {.utf8 = true})};
}

// The version to show: the installed one, otherwise the newest. Of its builds, the one with the
// most contributions of times, otherwise of any metric.
const stats::ApiKey& ChooseVersion(std::span<const stats::StatRow> rows,
                                   std::string_view installed) {
  const auto is_better = [&](const stats::StatRow& a, const stats::StatRow& b) {
    const auto rank = [&](const stats::StatRow& row) {
      return !installed.empty() && row.key.api.package_version == installed;
    };
    if (rank(a) != rank(b)) return rank(b);
    const std::string left = analysis::VersionOf(a.key.api);
    const std::string right = analysis::VersionOf(b.key.api);
    if (left != right) return analysis::OlderVersion()(left, right);
    const auto weight = [](const stats::StatRow& row) {
      return std::pair(row.key.metric == stats::Metric::kWallTime, ContributionsOf(row));
    };
    return weight(a) < weight(b);
  };
  return std::max_element(rows.begin(), rows.end(), is_better)->key.api;
}

}  // namespace

ApiCosts MakeCosts(std::span<const stats::StatRow> rows, std::string_view installed) {
  FIELDCOST_CHECK(!rows.empty());
  ApiCosts costs{.api = ChooseVersion(rows, installed), .installed = std::string(installed)};
  costs.is_installed = !installed.empty() && costs.api.package_version == installed;
  // Quantiles are expensive, so compute only those that are shown.
  std::vector<const stats::StatRow*> shown;
  std::map<std::string, const stats::StatRow*> others;  // by version; the largest row
  for (const stats::StatRow& row : rows) {
    const stats::Metric metric = row.key.metric;
    if (row.key.api == costs.api) {
      if (metric == stats::Metric::kWallTime || metric == stats::Metric::kAllocInclusive ||
          metric == stats::Metric::kNotMeasured || IsIo(metric)) {
        shown.push_back(&row);
      }
    } else if (metric == stats::Metric::kWallTime &&
               row.key.api.package_version != costs.api.package_version) {
      const stats::StatRow*& most = others[row.key.api.package_version];
      if (most == nullptr || ContributionsOf(*most) < ContributionsOf(row)) most = &row;
    }
  }
  for (const analysis::CostSummary& summary : analysis::Summarise(shown)) {
    for (const report::NotMeasuredPart& part : report::NotMeasuredParts(summary)) {
      costs.not_measured.push_back(report::Text(part));
    }
    for (const auto& [metric, numbers] : summary.metrics) {
      if (metric == stats::Metric::kWallTime) costs.time = Describe(numbers, metric);
      if (metric == stats::Metric::kAllocInclusive) costs.allocation = Describe(numbers, metric);
      if (IsIo(metric)) costs.io_mean += numbers.figures.mean.value_or(0);
    }
  }
  std::vector<std::pair<std::string, const stats::StatRow*>> ordered(others.begin(), others.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
    return ContributionsOf(*a.second) > ContributionsOf(*b.second);
  });
  if (ordered.size() > kMaxOtherVersions) ordered.resize(kMaxOtherVersions);
  for (const auto& [version, row] : ordered) {
    stats::ApiSums sums;
    sums.Merge(*row);
    if (!stats::KnowsMachines(sums)) continue;
    const stats::Quantile p50 = stats::EstimateWeightedQuantile(row->histogram, row->weights, 0.5);
    costs.others.push_back({version, p50.estimate, ContributionsOf(*row)});
  }
  return costs;
}

CostBook::Stamp CostBook::StampOf(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return {};
  return {.device = facts.st_dev,
          .inode = facts.st_ino,
          .size = facts.st_size,
          .modified_ns = facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
}

bool CostBook::Refresh() {
  const Stamp database = StampOf(file_);
  const Stamp log = StampOf(file_.string() + "-wal");
  if (opened_ && database == database_ && log == log_) return false;
  opened_ = true;
  cache_.clear();
  catalog_.reset();
  freshness_.reset();
  problem_.clear();
  Result<catalog::Catalog> catalog = catalog::Catalog::Open(file_);
  if (catalog) {
    Result<catalog::Freshness> freshness = catalog->GetFreshness();
    if (freshness) {
      catalog_ = std::move(*catalog);
      freshness_ = *freshness;
    } else {
      problem_ = freshness.error().message;
    }
  } else {
    problem_ = catalog.error().message;
  }
  // Opening may have created an empty log. The earlier state has been read in any case.
  database_ = database;
  const Stamp after = StampOf(file_.string() + "-wal");
  log_ = log.size <= 0 && after.size == 0 ? after : log;
  return true;
}

CostBook::Found CostBook::Find(const std::string& symbol) {
  static const Found kNothing = std::make_shared<const std::vector<ApiCosts>>();
  if (!catalog_ || symbol.empty() || symbol.size() > kMaxNameBytes) return kNothing;
  if (const auto cached = cache_.find(symbol); cached != cache_.end()) return cached->second;
  const Result<std::vector<stats::StatRow>> rows = catalog_->Find(symbol, "");
  if (!rows) return kNothing;
  auto found = std::make_shared<std::vector<ApiCosts>>();
  // Rows of one library are adjacent.
  for (std::span<const stats::StatRow> rest(*rows); !rest.empty();) {
    const std::string& soname = rest.front().key.api.soname;
    const auto end = std::ranges::find_if(
        rest, [&](const stats::StatRow& row) { return row.key.api.soname != soname; });
    const std::span<const stats::StatRow> own(rest.begin(), end);
    found->push_back(MakeCosts(own, installed_ ? installed_(soname) : ""));
    rest = rest.subspan(own.size());
  }
  const auto contributions = [](const ApiCosts& costs) {
    return costs.time ? costs.time->contributions : 0;
  };
  std::stable_sort(found->begin(), found->end(), [&](const ApiCosts& a, const ApiCosts& b) {
    return contributions(a) > contributions(b);
  });
  if (found->size() > kMaxLibraries) found->resize(kMaxLibraries);
  if (cache_.size() >= kMaxCachedNames) cache_.clear();
  return cache_.emplace(symbol, found->empty() ? kNothing : Found(found)).first->second;
}

Result<std::string> CostBook::PageOf(const stats::ApiKey& api, WallTime now) const {
  if (!catalog_) return Fail(ErrorCode::kNotFound, "there is no catalogue: {}", problem_);
  FIELDCOST_ASSIGN(const std::vector<stats::StatRow> rows, catalog_->Find(api.symbol, api.soname));
  if (rows.empty()) {
    return Fail(ErrorCode::kNotFound, "not in the catalogue: {}", stats::DisplayName(api));
  }
  return report::HeatPage(
      report::CardsOf(analysis::Summarise(std::span<const stats::StatRow>(rows)),
                      {.source = "catalogue",
                       .snapshot = freshness_->snapshot_version,
                       .published = draw::FormatTime(freshness_->snapshot_published),
                       .expired = freshness_->Expired(now),
                       .synthetic = freshness_->synthetic},
                      installed_));
}

CostBook::Names CostBook::FindPrefix(std::string_view prefix, std::size_t limit) {
  Names found;
  if (!catalog_) return found;
  const Result<std::vector<std::string>> names = catalog_->FindPrefix(prefix, limit);
  if (!names) return found;
  found.more = names->size() == limit;
  std::vector<std::string>& symbols = found.symbols;
  for (const std::string& name : *names) {
    std::string symbol = name.substr(name.find('!') + 1);
    if (symbols.empty() || symbols.back() != symbol) symbols.push_back(std::move(symbol));
  }
  return found;
}

std::shared_ptr<const CxxIndex> CostBook::IndexContaining(std::string_view identifier) const {
  if (!catalog_ || !freshness_->is_ranked) return nullptr;
  auto index = std::make_shared<CxxIndex>();
  std::size_t seen = 0;
  const Status status = catalog_->ForEachCandidate(
      {.symbol = {std::string(identifier)}, .library = {}}, [&](const catalog::FoundApi& api) {
        index->Add(api.symbol);
        return ++seen <= kMaxFewNames;
      });
  if (!status || seen > kMaxFewNames) return nullptr;
  index->Finish();
  return index;
}

CxxIndex IndexCxxNames(const std::filesystem::path& catalog_file,
                       const std::function<bool()>& stop) {
  CxxIndex index;
  const Result<catalog::Catalog> catalog = catalog::Catalog::Open(catalog_file);
  if (catalog) {
    unsigned seen = 0;
    static_cast<void>(
        catalog->ForEachName([&](std::string_view, std::string_view untrusted_symbol) {
          index.Add(untrusted_symbol);
          return ++seen % kStopQuestions != 0 || !stop();
        }));
  }
  index.Finish();
  return index;
}

}  // namespace fieldcost::lsp
