#include "tools/analysis/requirement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/base/text.h"

namespace fieldcost::analysis {
namespace {

using stats::Metric;

constexpr std::uint64_t kMostLimit = std::uint64_t{1} << 53;

struct FigureTraits {
  std::string_view name;
  Metric metric;
  double q;  // 0: not a quantile
};
constexpr std::array<FigureTraits, kRequiredFigures> kFigures = {{
    {"p50", Metric::kWallTime, 0.5},
    {"p90", Metric::kWallTime, 0.9},
    {"p95", Metric::kWallTime, 0.95},
    {"p99", Metric::kWallTime, 0.99},
    {"mean", Metric::kWallTime, 0},
    {"allocated", Metric::kAllocInclusive, 0},
    {"disk_read", Metric::kDiskRead, 0},
    {"disk_written", Metric::kDiskWritten, 0},
    {"net_received", Metric::kNetReceived, 0},
    {"net_sent", Metric::kNetSent, 0},
    {"calls", Metric::kCallsPerRun, 0},
    {"growing", Metric::kAllocInclusive, 0},
}};
const FigureTraits& TraitsOf(RequiredFigure figure) {
  return kFigures[static_cast<std::size_t>(figure)];
}

struct UnitText {
  std::string_view text;
  std::uint64_t factor;
};
constexpr std::array<UnitText, 5> kTimes = {
    {{"ns", 1}, {"us", 1'000}, {"µs", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};
constexpr std::array<UnitText, 4> kSizes = {
    {{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
constexpr std::array<UnitText, 1> kCounts = {{{"", 1}}};

std::span<const UnitText> UnitsOf(Metric metric) {
  if (metric == Metric::kWallTime) return kTimes;
  if (metric == Metric::kCallsPerRun) return kCounts;
  return kSizes;
}

Error BadLimit(Metric metric) {
  const std::string_view form = metric == Metric::kWallTime      ? "a time such as \"1 ms\""
                                : metric == Metric::kCallsPerRun ? "a number of calls such as 100"
                                                                 : "a size such as \"4 KiB\"";
  return Fail(ErrorCode::kInvalidArgument, "expected {}", form);
}

// The value of a decimal number "12.5" times the factor, if it is a whole number.
std::optional<std::uint64_t> Scaled(std::string_view number, std::uint64_t factor) {
  constexpr std::size_t kMostDecimals = 9;
  const std::size_t point = std::min(number.find('.'), number.size());
  const auto whole = ParseUint64(number.substr(0, point));
  if (!whole || *whole > kMostLimit / factor) return std::nullopt;
  std::uint64_t value = *whole * factor;
  if (point == number.size()) return value;
  const std::string_view decimals = number.substr(point + 1);
  const auto fraction = ParseUint64(decimals);
  if (!fraction || decimals.size() > kMostDecimals) return std::nullopt;
  std::uint64_t divisor = 1;
  for (std::size_t i = 0; i < decimals.size(); ++i) divisor *= 10;
  // Both are at most 2^30.
  if (*fraction * factor % divisor != 0) return std::nullopt;
  value += *fraction * factor / divisor;
  return value;
}

bool Matches(std::string_view globs, const stats::ApiKey& api) {
  const std::string name = stats::DisplayName(api);
  for (const std::string_view glob : Split(globs, ",")) {
    if (GlobMatch(glob, name)) return true;
  }
  return false;
}

const stats::CostHistogram* TimesOf(const wire::LabTable& table, const stats::ApiKey& api) {
  for (const stats::StatRow& row : table.rows) {
    if (row.key.metric == Metric::kWallTime && row.key.api == api) return &row.histogram;
  }
  return nullptr;
}

const wire::LabTotal* FindTotal(const wire::LabApi& api, Metric metric) {
  const auto found = std::ranges::find(api.totals, metric, &wire::LabTotal::metric);
  return found == api.totals.end() ? nullptr : &*found;
}

// Decides by the certain interval, or by an estimate that is far from the limit.
void JudgeQuantile(const stats::CostHistogram& times, double q, JudgedRequirement& judged) {
  const auto least = static_cast<std::uint64_t>(std::llround(1 / (1 - q)));
  if (times.count() < least) {
    judged.why = fmt::format("{} of the {} calls that it needs were timed", times.count(), least);
    return;
  }
  const stats::Quantile quantile = stats::EstimateQuantile(times, q);
  judged.quantile = quantile;
  judged.measured = quantile.estimate;
  const auto most = static_cast<double>(judged.requirement.most);
  if (quantile.high <= most || quantile.estimate * kEstimateFactor <= most) {
    judged.verdict = RequiredVerdict::kMet;
  } else if (quantile.low > most || quantile.estimate > most * kEstimateFactor) {
    judged.verdict = RequiredVerdict::kViolated;
  } else {
    judged.why = "too close to the limit to be certain";
  }
}

void JudgeNumber(double value, JudgedRequirement& judged) {
  judged.measured = value;
  judged.verdict = value <= static_cast<double>(judged.requirement.most)
                       ? RequiredVerdict::kMet
                       : RequiredVerdict::kViolated;
}

void JudgeTimes(const wire::LabTable& table, const FigureTraits& figure,
                JudgedRequirement& judged) {
  const stats::CostHistogram* const times = TimesOf(table, judged.api);
  if (times == nullptr || times->count() == 0) {
    judged.why = "no call was timed";
  } else if (figure.q != 0) {
    JudgeQuantile(*times, figure.q, judged);
  } else {
    JudgeNumber(static_cast<double>(times->sum()) / static_cast<double>(times->count()), judged);
  }
}

void JudgeTotals(const wire::LabApi& api, Metric metric, JudgedRequirement& judged) {
  const wire::LabTotal* const calls = FindTotal(api, Metric::kCallsPerRun);
  const wire::LabTotal* const total = FindTotal(api, metric);
  if (calls == nullptr || total == nullptr || calls->most == 0) {
    judged.why = metric == Metric::kCallsPerRun ? "its calls could not be counted"
                                                : "its bytes could not be counted";
    return;
  }
  const auto most = static_cast<double>(total->most);
  JudgeNumber(metric == Metric::kCallsPerRun ? most : most / static_cast<double>(calls->most),
              judged);
}

void JudgeGrowth(std::span<const std::optional<LiveBytes>> runs, JudgedRequirement& judged) {
  if (runs.empty()) {
    judged.why = "the sizes of its blocks are unknown";
    return;
  }
  double most = 0;
  bool is_growing = false;
  for (const std::optional<LiveBytes>& run : runs) {
    if (!run) {
      judged.why = "the sizes of its blocks are unknown";
      continue;
    }
    if (run->calls < kLeastLiveCalls) {
      judged.why = fmt::format("too few calls: growth needs {} in a run", 2 * kLeastLiveCalls);
      continue;
    }
    most = std::max(most, static_cast<double>(run->last) / static_cast<double>(run->calls));
    if (run->last <= 0) continue;
    is_growing = is_growing || run->middle > 0;
    if (run->middle <= 0) judged.why = "only its last calls left bytes: it needs more calls";
  }
  if (!is_growing && !judged.why.empty()) return;
  judged.why.clear();
  judged.measured = most;
  judged.verdict = is_growing ? RequiredVerdict::kViolated : RequiredVerdict::kMet;
}

JudgedRequirement JudgeOne(const Requirement& requirement, const wire::LabTable& table,
                           const wire::LabApi& api, const LiveRuns& live) {
  JudgedRequirement judged{.requirement = requirement,
                           .api = api.api,
                           .measured = std::nullopt,
                           .quantile = std::nullopt,
                           .verdict = RequiredVerdict::kNotMeasured,
                           .why = {}};
  const FigureTraits& figure = TraitsOf(requirement.figure);
  if (requirement.figure == RequiredFigure::kGrowing) {
    const auto runs = live.find({api.api.soname, api.api.symbol, api.api.symbol_version});
    using Runs = std::span<const std::optional<LiveBytes>>;
    JudgeGrowth(runs == live.end() ? Runs() : Runs(runs->second), judged);
  } else if (figure.metric == Metric::kWallTime) {
    JudgeTimes(table, figure, judged);
  } else {
    JudgeTotals(api, figure.metric, judged);
  }
  return judged;
}

}  // namespace

std::string_view Name(RequiredFigure figure) { return TraitsOf(figure).name; }

stats::Metric MetricOf(RequiredFigure figure) { return TraitsOf(figure).metric; }

std::string_view Name(RequiredVerdict verdict) {
  switch (verdict) {
    case RequiredVerdict::kMet:
      return "met";
    case RequiredVerdict::kViolated:
      return "violated";
    case RequiredVerdict::kNotMeasured:
      return "not measured";
  }
  return "";
}

Result<std::uint64_t> ParseLimit(std::string_view untrusted_text, RequiredFigure figure) {
  const Metric metric = MetricOf(figure);
  const std::size_t digits =
      std::min(untrusted_text.find_first_not_of("0123456789."), untrusted_text.size());
  const std::string_view unit = Trim(untrusted_text.substr(digits));
  for (const UnitText& known : UnitsOf(metric)) {
    if (unit != known.text) continue;
    if (const auto value = Scaled(untrusted_text.substr(0, digits), known.factor);
        value && *value <= kMostLimit) {
      return *value;
    }
  }
  return BadLimit(metric);
}

std::vector<JudgedRequirement> Judge(std::span<const Requirement> requirements,
                                     const wire::LabTable& table, const LiveRuns& live) {
  std::vector<JudgedRequirement> judged;
  for (const Requirement& requirement : requirements) {
    const std::size_t before = judged.size();
    for (const wire::LabApi& api : table.apis) {
      if (api.calls == 0 || !Matches(requirement.globs, api.api)) continue;
      judged.push_back(JudgeOne(requirement, table, api, live));
    }
    if (judged.size() != before) continue;
    judged.push_back({.requirement = requirement,
                      .api = {},
                      .measured = std::nullopt,
                      .quantile = std::nullopt,
                      .verdict = RequiredVerdict::kNotMeasured,
                      .why = "no function with that name was called from another library or "
                             "program"});
  }
  return judged;
}

RequiredVerdict Overall(std::span<const JudgedRequirement> judged) {
  const auto has = [&](RequiredVerdict verdict) {
    return std::ranges::find(judged, verdict, &JudgedRequirement::verdict) != judged.end();
  };
  if (has(RequiredVerdict::kViolated)) return RequiredVerdict::kViolated;
  return has(RequiredVerdict::kNotMeasured) ? RequiredVerdict::kNotMeasured : RequiredVerdict::kMet;
}

}  // namespace fieldcost::analysis
