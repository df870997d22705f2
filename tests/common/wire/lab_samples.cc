#include "tests/common/wire/lab_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "common/base/check.h"

namespace fieldcost::wire {

stats::ApiKey LabTableBuilder::KeyOf(const std::string& symbol) const {
  return {.soname = symbol == "poll" ? "libc.so.6" : soname,
          .package_version = "3.40.1-2+deb12u1",
          .build_id = "f3a1c0de00112233445566778899aabbccddeeff",
          .symbol = symbol,
          .symbol_version = ""};
}

LabApi& LabTableBuilder::Api(const std::string& symbol) {
  const stats::ApiKey key = KeyOf(symbol);
  const auto place =
      std::find_if(apis_.begin(), apis_.end(), [&](const LabApi& api) { return api.api == key; });
  if (place != apis_.end()) return *place;
  apis_.push_back({.api = key, .log_cost = {}, .arguments = {}});
  return apis_.back();
}

stats::StatRow& LabTableBuilder::RowOf(const std::string& symbol, stats::Metric metric) {
  const stats::RowKey key{.api = Api(symbol).api, .metric = metric, .hardware = hardware};
  const auto place =
      std::find_if(rows_.begin(), rows_.end(), [&](const auto& row) { return row.key == key; });
  if (place != rows_.end()) return *place;
  rows_.push_back({.key = key, .histogram = {}, .scalars = {}});
  return rows_.back();
}

LabTableBuilder& LabTableBuilder::Row(const std::string& symbol, stats::Metric metric,
                                      const std::vector<std::uint64_t>& values) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  stats::StatRow& row = RowOf(symbol, metric);
  row.histogram.Merge(histogram);
  row.scalars.Merge(stats::ScalarsOf(histogram));
  return *this;
}

LabTableBuilder& LabTableBuilder::Run(const std::string& symbol,
                                      const std::vector<std::uint64_t>& costs_ns) {
  for (const std::uint64_t cost : costs_ns) Api(symbol).log_cost.Add(cost);
  Row(symbol, stats::Metric::kWallTime, costs_ns);
  return Row(symbol, stats::Metric::kCallsPerRun, {costs_ns.size()});
}

LabTableBuilder& LabTableBuilder::FirstCall(const std::string& symbol, std::uint64_t cost_ns) {
  return Row(symbol, stats::Metric::kFirstCallTime, {cost_ns});
}

LabTableBuilder& LabTableBuilder::Input(const std::string& symbol, unsigned argument,
                                        std::uint64_t input, std::uint64_t cost_ns) {
  std::vector<stats::ShapeArgument>& arguments = Api(symbol).arguments;
  auto place = std::find_if(arguments.begin(), arguments.end(),
                            [&](const auto& each) { return each.number >= argument; });
  if (place == arguments.end() || place->number != argument) {
    place = arguments.insert(place, {.number = argument, .sums = {}});
  }
  place->sums.Add(input, cost_ns);
  return *this;
}

LabTableBuilder& LabTableBuilder::Stack(const std::vector<std::string>& symbols,
                                        std::uint64_t calls, std::uint64_t bytes) {
  std::uint32_t parent = LabStack::kRoot;
  for (const std::string& symbol : symbols) {
    LabApi& api = Api(symbol);
    const auto number = static_cast<std::uint32_t>(&api - apis_.data());
    const bool is_last = &symbol == &symbols.back();
    if (is_last) api.calls += calls;
    stacks_.push_back({.parent = parent,
                       .api = number,
                       .calls = is_last ? calls : 0,
                       .bytes = is_last ? bytes : 0});
    parent = static_cast<std::uint32_t>(stacks_.size() - 1);
  }
  return *this;
}

LabTableBuilder& LabTableBuilder::Total(const std::string& symbol, stats::Metric metric,
                                        std::uint64_t least, std::uint64_t most) {
  std::vector<LabTotal>& totals = Api(symbol).totals;
  const auto place = std::find_if(totals.begin(), totals.end(),
                                  [&](const LabTotal& each) { return each.metric > metric; });
  totals.insert(place, {.metric = metric, .least = least, .most = most});
  return *this;
}

LabTable LabTableBuilder::Table(const std::string& name) const {
  LabTable table{.rows = rows_, .apis = apis_, .stacks = {}, .pairs = {}, .parts = {}};
  std::sort(table.rows.begin(), table.rows.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  std::sort(table.apis.begin(), table.apis.end(),
            [](const auto& a, const auto& b) { return a.api < b.api; });
  for (LabApi& api : table.apis) {
    if (!api.totals.empty() || api.calls == 0) continue;
    api.totals.push_back(
        {.metric = stats::Metric::kCallsPerRun, .least = api.calls, .most = api.calls});
  }
  std::vector<LabStack> stacks = stacks_;
  for (LabStack& node : stacks) {
    const auto place = std::find_if(table.apis.begin(), table.apis.end(), [&](const LabApi& api) {
      return api.api == apis_[node.api].api;
    });
    node.api = static_cast<std::uint32_t>(place - table.apis.begin());
  }
  for (const LabStack& node : stacks) {
    for (auto above = node.parent; above != LabStack::kRoot; above = stacks[above].parent) {
      table.pairs.emplace_back(stacks[above].api, node.api);
    }
  }
  std::sort(table.pairs.begin(), table.pairs.end());
  table.pairs.erase(std::unique(table.pairs.begin(), table.pairs.end()), table.pairs.end());
  table.stacks = SortStacks(stacks);
  const Result<std::string> hash = ContentHash(table);
  FIELDCOST_CHECK(hash.has_value());
  table.parts.push_back({.content_hash = *hash,
                         .name = name,
                         .seed = 7,
                         .rounds = 5,
                         .runs = 11,
                         .left_out = 1,
                         .started_us = 1767225600000000,  // 2026-01-01 00:00 UTC
                         .environment = "linux 6.1.0, governor performance",
                         .counted_runs = 6});
  return table;
}

LabTable SampleLabTable() {
  LabTableBuilder builder;
  builder.Run("sqlite3_step", {20, 40, 5000000000}).Run("sqlite3_step", {20, 40, 5000000000});
  builder.FirstCall("sqlite3_step", 5000000000);
  builder.Row("sqlite3_step", stats::Metric::kAllocInclusive, {3, 7, 22});
  builder.Input("sqlite3_step", 2, 1, 20).Input("sqlite3_step", 2, 9, 5000000000);
  builder.Run("sqlite3_exec", {1000});
  builder.Stack({"sqlite3_exec"}, 1, 0).Stack({"sqlite3_exec", "sqlite3_step"}, 3, 32);
  builder.Stack({"sqlite3_step"}, 3, 0);
  builder.Api("sqlite3_step").first_call_bytes = 22;
  builder.Api("sqlite3_step").other_bytes = 10;
  builder.Total("sqlite3_step", stats::Metric::kAllocInclusive, 32, 40);
  builder.Total("sqlite3_step", stats::Metric::kCallsPerRun, 6, 6);
  builder.Api("main").is_own = true;
  return builder.Table();
}

LabTable ShapesLabTable() { return ShapesLabTable(1, 0); }

LabTable ShapesLabTable(double factor, std::uint64_t seed) {
  constexpr int kRuns = 5;
  constexpr std::uint64_t kCalls = 200;
  std::mt19937_64 random(seed);
  LabTableBuilder builder;
  for (int run = 0; run < kRuns; ++run) {
    // The difference between runs: at most 2 %.
    const double of_run = factor * (1 + 0.0001 * static_cast<double>(random() % 200));
    const auto cost = [&](double ns) {
      return static_cast<std::uint64_t>(ns * of_run) + random() % 8;
    };
    std::vector<std::uint64_t> grows, bimodal, heavy, constant, start_up;
    for (std::uint64_t i = 0; i < kCalls; ++i) {
      const std::uint64_t bytes = std::uint64_t{16} << (i % 11);
      grows.push_back(cost(100 + 2 * static_cast<double>(bytes)));
      builder.Input("grows", 3, bytes, grows.back());
      bimodal.push_back(cost(i % 5 == 0 ? 6000 : 90));
      heavy.push_back(cost(i % 33 == 0 ? 9000 : 200));
      constant.push_back(cost(1500));
      start_up.push_back(cost(i == 0 ? 3e6 : 1200));
    }
    builder.Run("grows", grows).Run("bimodal", bimodal).Run("heavy", heavy);
    builder.Run("constant", constant).Run("start_up", start_up).Run("few", {cost(3e7)});
    builder.FirstCall("start_up", start_up[0]).FirstCall("constant", constant[0]);
    builder.Run("poll", {cost(1e9)}).Run("own", {cost(4e7)});
    builder.Run("_ZN4Json6Reader5parseEv", {cost(5e4), cost(6e4)});
  }
  builder.Row("grows", stats::Metric::kAllocInclusive, {0, 0});
  builder.Row("start_up", stats::Metric::kAllocInclusive, {8192, 0, 0, 0});
  builder.Api("start_up").first_call_bytes = 8192;
  builder.Stack({"own"}, 1, 0).Stack({"own", "few"}, 1, 64).Stack({"own", "few", "grows"}, 150, 0);
  builder.Stack({"own", "grows"}, 50, 0).Stack({"own", "bimodal"}, 200, 4096);
  builder.Stack({"own", "_ZN4Json6Reader5parseEv", "constant"}, 200, 0);
  builder.Stack({"own", "_ZN4Json6Reader5parseEv"}, 2, 128).Stack({"heavy"}, 200, 0);
  builder.Stack({"poll"}, 1, 0).Stack({"start_up"}, 200, 8192).Stack({"never_timed"}, 3, 0);
  builder.Api("own").is_own = true;
  return builder.Table();
}

LabTable RandomLabTable(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const auto any = [&] { return fmt::format("f{}", below(6)); };
  LabTableBuilder builder;
  builder.Run("f0", {seed + 1});  // no two are equal
  for (int i = 0; i < 2; ++i) {
    const std::string symbol = any();
    std::vector<std::uint64_t> costs(1 + below(3));
    for (std::uint64_t& cost : costs) cost = random() >> below(64);
    builder.Run(symbol, costs);
    builder.Input(symbol, static_cast<unsigned>(below(3)), random() >> below(64), costs[0]);
  }
  for (std::uint64_t i = 0; i < 2 + below(3); ++i) {
    std::vector<std::string> stack(1 + below(4));
    std::generate(stack.begin(), stack.end(), any);
    builder.Stack(stack, below(1000), random() >> 1);  // their sums exceed 2^64
  }
  builder.Api(any()).is_own = below(2) == 0;
  return builder.Table(fmt::format("part {}", seed));
}

}  // namespace fieldcost::wire
