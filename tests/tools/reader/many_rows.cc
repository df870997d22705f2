#include "tests/tools/reader/many_rows.h"

#include <algorithm>
#include <limits>
#include <random>
#include <string>

#include "common/base/check.h"
#include "common/wire/fragment.h"

namespace fieldcost {
namespace {

using stats::ContributionScalars;
using stats::CostHistogram;
using stats::HardwareClass;
using stats::Metric;
using stats::StatRow;

constexpr std::uint32_t kMostWeek = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostCalls = std::numeric_limits<std::uint64_t>::max();

const HardwareClass kAllClasses;
const std::vector<HardwareClass> kClasses = {
    {"aarch64", "", 0, 0, ""},
    {"x86_64", "AuthenticAMD-25", 4, 15, "debian-12"},
    {"x86_64", "GenuineIntel-6", 4, 15, "debian-12"},
    {std::string(63, '~'), std::string(63, '!'), 20, 44, std::string(63, '0')},
};

// The same numbers with every standard library.
class Random {
 public:
  std::uint64_t Below(std::uint64_t limit) { return engine_() % limit; }
  bool OneIn(std::uint64_t times) { return Below(times) == 0; }
  // Of any magnitude.
  std::uint64_t Value(unsigned most_bits) {
    const std::uint64_t bits = Below(most_bits + 1);
    return bits == 0 ? 0 : engine_() >> (64 - bits);
  }

 private:
  std::mt19937_64 engine_{35};
};

// The first contribution of one machine to a group.
struct Contribution {
  std::size_t hardware_class = 0;
  std::uint32_t week = 0;
  CostHistogram histogram;
};

Contribution MakeContribution(Random& random, std::uint64_t typical) {
  Contribution made{
      random.Below(kClasses.size()), static_cast<std::uint32_t>(2912 + random.Below(26)), {}};
  const std::uint64_t weight = random.OneIn(4) ? 1 + random.Below(1000) : 1;
  for (std::uint64_t left = 1 + random.Below(12); left > 0; --left) {
    const std::uint64_t value =
        random.OneIn(8) ? random.Value(40) : typical + random.Below(typical + 1);
    made.histogram.Add(value, weight);
  }
  return made;
}

// The parts that a row has besides its key, histogram and scalars.
struct Parts {
  bool weights = false;
  bool bounded = false;
  bool quarter = false;
};

StatRow RowOf(const stats::RowKey& key, const std::vector<Contribution>& contributions,
              const Parts& parts) {
  StatRow row{.key = key, .histogram = {}, .scalars = {}};
  std::vector<stats::QuarterScalars> quarters;
  for (const Contribution& each : contributions) {
    const ContributionScalars scalars = stats::ScalarsOf(each.histogram);
    row.histogram.Merge(each.histogram);
    row.scalars.Merge(scalars);
    if (parts.weights) row.weights.Merge(stats::WeightsOf(each.histogram));
    if (parts.bounded) row.bounded.Merge(stats::BoundedSumsOf(each.histogram));
    const std::uint32_t week = each.week - each.week % 13;
    auto quarter = std::ranges::find(quarters, week, &stats::QuarterScalars::week);
    if (quarter == quarters.end()) quarter = quarters.insert(quarter, {week, {}});
    quarter->scalars.Merge(scalars);
  }
  if (parts.quarter && key.week == 0 && !quarters.empty()) {
    row.fullest_quarter = *std::ranges::max_element(
        quarters, {}, [](const auto& quarter) { return quarter.scalars.contributions; });
  }
  return row;
}

std::vector<Contribution> Selected(const std::vector<Contribution>& all, auto condition) {
  std::vector<Contribution> selected;
  std::ranges::copy_if(all, std::back_inserter(selected), condition);
  return selected;
}

// The rows of an API and metric.
void AddGroup(const stats::ApiKey& api, Metric metric, Random& random, std::vector<StatRow>& rows) {
  const std::uint64_t typical = 1 + random.Value(24);
  std::vector<Contribution> all;
  for (std::uint64_t left = 1 + random.Below(12); left > 0; --left) {
    all.push_back(MakeContribution(random, typical));
  }
  const Parts parts{!random.OneIn(5), !random.OneIn(5), !random.OneIn(4)};
  const auto add = [&](const HardwareClass& hardware, std::uint32_t week,
                       const std::vector<Contribution>& contributions) {
    if (contributions.empty()) return;
    rows.push_back(RowOf({api, metric, hardware, week}, contributions, parts));
  };
  // Some totals have less than their parts, as if these were of another time.
  const bool lacks = random.OneIn(6);
  if (!random.OneIn(10)) {
    add(kAllClasses, 0,
        Selected(all, [&](const auto& each) { return !lacks || each.week % 2 == 0; }));
  }
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    const auto of_class = [&](const Contribution& each) { return each.hardware_class == i; };
    if (random.OneIn(5)) continue;
    add(kClasses[i], 0, Selected(all, of_class));
    if (!random.OneIn(4)) continue;
    add(kClasses[i], 2915,
        Selected(all, [&](const auto& each) { return of_class(each) && each.week <= 2915; }));
  }
}

std::string RandomText(Random& random, std::size_t most) {
  static constexpr char kVisible[] = "abcdefghijklmnopqrstuvwxyz0123456789_.+-~:@ABCXYZ$";
  std::string text;
  for (std::uint64_t left = 1 + random.Below(most); left > 0; --left) {
    text += kVisible[random.Below(sizeof kVisible - 1)];
  }
  return text;
}

stats::ApiKey RandomApi(Random& random) {
  static const std::vector<std::string> kLetters = {"é",          "ж",      "中",
                                                    "\U0001F600", "\uFB01", "\uE000"};
  stats::ApiKey api;
  api.soname = "lib" + RandomText(random, 2) + ".so." + std::to_string(random.Below(3));
  if (!random.OneIn(4)) api.package_version = RandomText(random, 8);
  for (std::uint64_t left = random.OneIn(3) ? 0 : random.Below(20); left > 0; --left) {
    api.build_id += fmt::format("{:02x}", random.Below(256));
  }
  api.symbol = RandomText(random, 12);
  if (random.OneIn(4)) api.symbol += kLetters[random.Below(kLetters.size())];
  if (random.OneIn(3)) api.symbol_version = RandomText(random, 8);
  return api;
}

StatRow ExtremeRow(const std::string& symbol, const CostHistogram& histogram) {
  return {.key = {.api = {.soname = "libextreme.so", .symbol = symbol}},
          .histogram = histogram,
          .scalars = stats::ScalarsOf(histogram),
          .weights = stats::WeightsOf(histogram),
          .bounded = stats::BoundedSumsOf(histogram)};
}

CostHistogram Once(std::uint64_t value, std::uint64_t weight = 1) {
  CostHistogram histogram;
  histogram.Add(value, weight);
  return histogram;
}

// As many contributions as are accepted, each of one call of this cost.
StatRow MostContributions(const std::string& symbol, std::uint64_t cost) {
  StatRow row = ExtremeRow(symbol, Once(cost));
  for (int i = 0; i < 56; ++i) {
    row.histogram.Merge(StatRow(row).histogram);
    row.scalars.Merge(ContributionScalars(row.scalars));
    row.weights.Merge(stats::AgentWeights(row.weights));
    row.bounded.Merge(stats::BoundedSums(row.bounded));
  }
  row.fullest_quarter = {kMostWeek, row.scalars};
  return row;
}

std::vector<StatRow> ExtremeRows() {
  CostHistogram all_slots;
  for (unsigned slot = 0; slot < 65; ++slot)
    all_slots.Add(slot == 0 ? 0 : std::uint64_t{1} << (slot - 1));
  CostHistogram uneven;
  uneven.Add(std::uint64_t{1} << 32, kMostCalls >> 2);
  uneven.Add((std::uint64_t{1} << 33) - 1);
  std::vector<StatRow> rows = {
      ExtremeRow("greatest_value", Once(kMostCalls)),
      ExtremeRow("most_zeros", Once(0, kMostCalls)),
      ExtremeRow("most_ones", Once(1, kMostCalls)),
      ExtremeRow("one_zero", Once(0)),
      ExtremeRow("all_slots", all_slots),
      ExtremeRow("uneven", uneven),
      MostContributions("most_contributions_of_zero", 0),
      MostContributions("most_contributions", (std::uint64_t{1} << 30) + 12345),
      ExtremeRow("no_calls", {}),
      ExtremeRow(std::string(255, 's'), Once(7)),
  };
  rows.back().key.api = {std::string(63, 'l'), std::string(63, 'v'), std::string(64, 'f'),
                         std::string(255, 's'), std::string(63, 'w')};
  rows[0].key.week = kMostWeek;
  rows[1].key.hardware = kClasses.back();
  return rows;
}

}  // namespace

std::vector<StatRow> ManyRows(std::size_t count) {
  Random random;
  std::vector<StatRow> rows = ExtremeRows();
  while (rows.size() < count) {
    stats::ApiKey api = RandomApi(random);
    for (std::uint64_t versions = 1 + random.Below(3); versions > 0; --versions) {
      for (unsigned metric = 1; metric <= shm::kMaxMetric; ++metric) {
        if (random.OneIn(3)) AddGroup(api, static_cast<Metric>(metric), random, rows);
      }
      api.package_version += "+1";
    }
  }
  std::ranges::sort(rows, {}, &StatRow::key);
  const auto same = std::ranges::unique(rows, {}, &StatRow::key);
  rows.erase(same.begin(), same.end());
  return rows;
}

}  // namespace fieldcost
