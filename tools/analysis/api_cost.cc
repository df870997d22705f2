#include "tools/analysis/api_cost.h"

#include <algorithm>
#include <compare>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "tools/analysis/version_order.h"

namespace fieldcost::analysis {
namespace {

bool IsNewer(const CostSummary& a, const CostSummary& b) {
  return OlderVersion()(VersionOf(b.api), VersionOf(a.api));
}

void AddUp(ApiCost& cost) {
  for (const CostSummary& version : cost.versions) {
    if (const auto calls = CallsOf(version)) {
      const std::uint64_t before = cost.calls.value_or(0);
      cost.calls = before + std::min(*calls, ~before);
    }
    if (const auto total = TotalOf(version)) {
      if (!cost.total) {
        cost.total = total;
      } else {
        cost.total->Add(*total);
      }
    }
  }
}

// Sorts by the values common to all versions; nullopt is the lowest.
template <typename T>
std::partial_ordering OrderOf(const std::optional<T>& a, const std::optional<T>& b) {
  if (a && b) return *a <=> *b;
  return a.has_value() <=> b.has_value();
}

std::partial_ordering OrderOf(const ApiCost& a, const ApiCost& b, SortKey key) {
  if (key == SortKey::kTotal) return OrderOf(a.total, b.total);
  if (key == SortKey::kCalls) return OrderOf(a.calls, b.calls);
  return ValueOf(a.shown(), key) <=> ValueOf(b.shown(), key);
}

}  // namespace

std::vector<ApiCost> CostsOf(std::vector<CostSummary> summaries, Versions versions,
                             const InstalledVersion& installed) {
  using Name = std::tuple<std::string, std::string, std::string>;
  std::map<std::pair<Name, std::size_t>, ApiCost> by_name;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const stats::ApiKey& api = summaries[i].api;
    by_name[{{api.soname, api.symbol, api.symbol_version}, versions == Versions::kSingle ? i : 0}]
        .versions.push_back(std::move(summaries[i]));
  }
  std::vector<ApiCost> costs;
  for (auto& [name, cost] : by_name) {
    std::stable_sort(cost.versions.begin(), cost.versions.end(), IsNewer);
    cost.is_installed = PutInstalledFirst(cost.versions, installed);
    AddUp(cost);
    costs.push_back(std::move(cost));
  }
  return costs;
}

bool PutInstalledFirst(std::vector<CostSummary>& versions, const InstalledVersion& installed) {
  if (versions.size() < 2 || !installed) return false;
  const std::string version = installed(versions.front().api.soname);
  if (version.empty()) return false;
  const auto found = std::ranges::find_if(
      versions, [&](const CostSummary& summary) { return summary.api.package_version == version; });
  if (found == versions.end()) return false;
  std::rotate(versions.begin(), found, found + 1);
  return true;
}

void Sort(std::vector<ApiCost>& costs, SortKey key) {
  std::stable_sort(costs.begin(), costs.end(), [key](const ApiCost& a, const ApiCost& b) {
    const std::partial_ordering order = OrderOf(b, a, key);
    return order != 0 ? order < 0 : a.shown().api < b.shown().api;
  });
}

}  // namespace fieldcost::analysis
