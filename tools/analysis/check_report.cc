#include "tools/analysis/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <tuple>

#include "common/base/check.h"
#include "common/shm/mix.h"

namespace fieldcost::analysis {
namespace {

using inference::Verdict;

// Too little data sorts last, except before verdicts that are not listed.
int Rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::kMore:
      return 0;
    case Verdict::kTooLittleData:
      return 1;
    case Verdict::kNone:
    case Verdict::kLess:
      return 2;
  }
  return 3;
}

void CompareOne(CheckedApi& api, std::uint64_t salt) {
  api.comparison = inference::Compare(api.mine, api.field.sums, nullptr, salt);
  api.comparison.own_removed = api.field.own_removed;
}

bool Before(const CheckedApi& a, const CheckedApi& b) {
  const auto order = [](const CheckedApi& api) {
    return std::tuple(Rank(api.comparison.verdict), api.comparison.q, -api.comparison.ratio);
  };
  const auto order_a = order(a);
  const auto order_b = order(b);
  return order_a != order_b ? order_a < order_b : a.key < b.key;
}

}  // namespace

std::size_t CheckReport::Count(Verdict verdict) const {
  return static_cast<std::size_t>(std::count_if(apis.begin(), apis.end(), [&](const auto& api) {
    return api.comparison.verdict == verdict;
  }));
}

std::uint64_t CheckReport::Seed() const {
  std::uint64_t hash = shm::kEmptyHash;
  for (const CheckedApi& api : apis) hash = shm::HashNumber(api.comparison.call_test.seed, hash);
  return hash;
}

CheckReport Check(std::vector<CheckedApi> apis, stats::Metric metric, std::uint64_t salt) {
  std::sort(apis.begin(), apis.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < apis.size(); i = next++) CompareOne(apis[i], salt);
  };
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads =
        std::min<std::size_t>({kMaxCheckThreads, std::thread::hardware_concurrency(), apis.size()});
    try {
      while (helpers.size() + 1 < threads) helpers.emplace_back(work);
    } catch (const std::system_error&) {
      // Continues with fewer threads; the result is the same.
    }
    work();
  }
  std::vector<inference::Comparison> comparisons;
  for (const CheckedApi& api : apis) comparisons.push_back(api.comparison);
  inference::Decide(comparisons);
  for (std::size_t i = 0; i < apis.size(); ++i) apis[i].comparison = comparisons[i];
  std::sort(apis.begin(), apis.end(), Before);
  return {.metric = metric, .salt = salt, .apis = std::move(apis), .profile = {}};
}

std::string Lack(const CheckedApi& api) {
  FIELDCOST_CHECK(api.comparison.verdict == inference::Verdict::kTooLittleData);
  if (api.field.stratum == Stratum::kNone) return std::string(Name(api.field.stratum));
  const inference::Comparison& comparison = api.comparison;
  std::string text;
  if (comparison.calls < inference::kFieldThresholds.least_values) {
    text =
        fmt::format("{} of {} calls", comparison.calls, inference::kFieldThresholds.least_values);
  }
  if (comparison.machines < inference::kFieldThresholds.least_machines) {
    if (!text.empty()) text += ", ";
    text += comparison.machines == 0 && comparison.contributions != 0
                ? "not enough machines known"
                : fmt::format("{} of {} machines", comparison.machines,
                              inference::kFieldThresholds.least_machines);
  }
  return text;
}

std::string SeedText(std::uint64_t seed) { return fmt::format("{:016x}", seed); }

std::string_view Name(inference::Method method) {
  switch (method) {
    case inference::Method::kNone:
      return "none";
    case inference::Method::kExact:
      return "exact";
    case inference::Method::kDrawn:
      return "drawn";
    case inference::Method::kNormal:
      return "normal";
  }
  return "";
}

}  // namespace fieldcost::analysis
