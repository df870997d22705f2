#include "common/tree/merge_trees.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "common/tree/codec.h"
#include "tests/common/tree/random_runs.h"

namespace fieldcost::tree {
namespace {

using Values = std::map<Names, std::uint64_t>;
// Values by metric.
using Table = std::map<std::string, Values>;

Measured MeasuredOf(const Table& table, std::mt19937_64& random) {
  auto dictionary = std::make_shared<Dictionary>();
  Measured measured = {.values = RunValues(table.size())};
  std::vector<Names> order;
  for (const auto& [name, values] : table) {
    measured.metrics.push_back({.name = name});
    for (const auto& [path, value] : values) order.push_back(path);
  }
  std::shuffle(order.begin(), order.end(), random);
  for (const Names& path : order) Enter(*dictionary, path);
  std::size_t metric = 0;
  for (const auto& [name, values] : table) {
    for (const auto& [path, value] : values) {
      EXPECT_TRUE(measured.values.Add(metric, *Find(*dictionary, path), value).has_value());
    }
    ++metric;
  }
  measured.dictionary = std::move(dictionary);
  return measured;
}

Table TableOf(const Measured& measured) {
  Table table;
  for (std::size_t metric = 0; metric < measured.metrics.size(); ++metric) {
    Values& values = table[measured.metrics[metric].name];
    const auto column = measured.values.column(metric);
    for (std::uint32_t path = 0; path < column.size(); ++path) {
      if (column[path] != 0) values[NamesOf(*measured.dictionary, PathId(path))] = column[path];
    }
  }
  return table;
}

MergedRun Merge(const Table& events, const Table& samples, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  return MergeEventsAndSamples(MeasuredOf(events, random), MeasuredOf(samples, random)).value();
}

// main and its call parse have events; read, convert and the kernel were only sampled.
TEST(MergeTest, SamplesDivideWhatEventsDecide) {
  const Table events = {{"calls", {{{"main"}, 1}, {{"main", "parse"}, 4}}},
                        {"wall", {{{"main"}, 100}, {{"main", "parse"}, 1000}}}};
  const Table samples = {{"cpu",
                          {{{"start", "main"}, 3},
                           {{"start", "main", "helper", "parse"}, 10},
                           {{"start", "main", "parse", "convert"}, 20}}},
                         {"off-cpu", {{{"start", "main", "parse", "read", "kernel"}, 3}}}};
  const MergedRun merged = Merge(events, samples);
  Table expected = events;
  expected["wall"] = {{{"main"}, 100},
                      {{"main", "parse"}, 303},                    // of 1000: 10 parts out of 33
                      {{"main", "parse", "convert"}, 606},         // 20
                      {{"main", "parse", "read", "kernel"}, 91}};  // 3, and the largest remainder
  expected["cpu"] = {{{"main"}, 3}, {{"main", "parse"}, 10}, {{"main", "parse", "convert"}, 20}};
  expected["off-cpu"] = {{{"main", "parse", "read", "kernel"}, 3}};
  EXPECT_EQ(TableOf(merged.run), expected);
  EXPECT_EQ(merged.stacks_with_dropped, 4U);  // all begin with start, and one contains helper
  EXPECT_EQ(merged.dropped_frames, 5U);
  EXPECT_TRUE(merged.remarks.empty());
}

TEST(MergeTest, AStackWithoutAnyEventHangsBelowTheRoot) {
  const MergedRun merged =
      Merge({{"wall", {{{"main"}, 10}}}}, {{"cpu", {{{"thread", "work"}, 5}, {{"thread"}, 2}}}});
  EXPECT_EQ(TableOf(merged.run), (Table{{"wall", {{{"main"}, 10}}},
                                        {"cpu", {{{"thread", "work"}, 5}, {{"thread"}, 2}}}}));
  EXPECT_EQ(merged.stacks_with_dropped, 0U);
}

// compress ends by calling compress2, which replaces it on the stack.
TEST(MergeTest, AStackWithoutAFunctionThatTailCalledFollowsTheEvents) {
  const Table events = {
      {"wall", {{{"main"}, 300}, {{"main", "compress", "compress2", "deflate"}, 12}}}};
  const Table samples = {{"cpu", {{{"main", "compress2", "deflate", "longest"}, 5}}}};
  EXPECT_EQ(
      TableOf(Merge(events, samples).run)["wall"],
      (Values{{{"main"}, 300}, {{"main", "compress", "compress2", "deflate", "longest"}, 12}}));
  // There are two ways, and it is unknown which one was taken.
  Table two = events;
  two["wall"][{"main", "uncompress", "compress2", "deflate"}] = 1;
  EXPECT_EQ(TableOf(Merge(two, samples).run)["cpu"],
            (Values{{{"main", "compress2", "deflate", "longest"}, 5}}));
}

TEST(MergeTest, PathsOfTheDictionaryWithoutEventsAreNotOfTheEvents) {
  std::mt19937_64 random(1);
  // Both use the same dictionary: helper is in it, but has no events.
  const Table samples = {{"cpu", {{{"main", "helper", "parse"}, 5}}}};
  Measured sampled = MeasuredOf(samples, random);
  Measured events = {
      .dictionary = sampled.dictionary, .metrics = {{.name = "wall"}}, .values = RunValues(1)};
  ASSERT_TRUE(events.values.Add(0, *Find(*events.dictionary, {"main"}), 10).has_value());
  const MergedRun merged = MergeEventsAndSamples(events, sampled).value();
  EXPECT_EQ(TableOf(merged.run)["wall"], (Values{{{"main", "helper", "parse"}, 10}}));
}

TEST(MergeTest, AMetricOfBothIsThatOfTheEvents) {
  const MergedRun merged =
      Merge({{"wall", {{{"f"}, 10}}}}, {{"cpu", {{{"f", "g"}, 1}}}, {"wall", {{{"f", "g"}, 77}}}});
  EXPECT_EQ(TableOf(merged.run), (Table{{"wall", {{{"f", "g"}, 10}}}, {"cpu", {{{"f", "g"}, 1}}}}));
  EXPECT_THAT(merged.remarks, testing::ElementsAre(testing::HasSubstr("wall")));
}

TEST(MergeTest, MetricsMustBeThere) {
  std::mt19937_64 random(1);
  const Measured events = MeasuredOf({{"calls", {{{"f"}, 1}}}}, random);
  const Measured samples = MeasuredOf({{"cpu", {{{"f"}, 1}}}}, random);
  const Measured other = MeasuredOf({{"wall", {{{"f"}, 1}}}}, random);
  EXPECT_EQ(MergeEventsAndSamples(events, samples).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(MergeEventsAndSamples(other, other).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(MergeEventsAndSamples(events, samples, {.divided = "calls"}).has_value());
}

TEST(MergeTest, RefusesValuesThatOverflow) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  // The greatest possible values are divided exactly.
  const MergedRun merged =
      Merge({{"wall", {{{"f"}, kMost}}}}, {{"cpu", {{{"f", "a"}, kMost}, {{"f", "b"}, kMost}}}});
  EXPECT_EQ(TableOf(merged.run)["wall"],
            (Values{{{"f", "a"}, kMost / 2 + 1}, {{"f", "b"}, kMost / 2}}));
  std::mt19937_64 random(1);
  EXPECT_EQ(MergeEventsAndSamples(
                MeasuredOf({{"wall", {{{"f"}, 1}}}}, random),
                MeasuredOf({{"cpu", {{{"f"}, kMost}}}, {"off-cpu", {{{"f"}, 1}}}}, random))
                .error()
                .code,
            ErrorCode::kTooLarge);
}

std::uint64_t InclusiveOf(const Values& values, const Names& path) {
  PlainRun run;
  for (const auto& [other, value] : values) run.self[other] = {value};
  return run.Inclusive(path, 0);
}

// Follows stacks frame by frame, as described in the header.
struct SlowPlace {
  Names node;
  Names at;
};
SlowPlace SlowPlaceOf(const Names& stack, const PlainRun& events) {
  const std::vector<Names> all = AllPaths(std::span(&events, 1));
  SlowPlace place;
  for (const std::string& frame : stack) {
    Names child = place.node;
    child.push_back(frame);
    std::vector<Names> behind;  // up to three tail calls
    for (const Names& path : all) {
      const bool is_below = path.size() > child.size() && path.size() <= child.size() + 3 &&
                            std::equal(place.node.begin(), place.node.end(), path.begin());
      if (is_below && path.back() == frame) behind.push_back(path);
    }
    if (!events.IsIn(child) && behind.size() == 1) child = behind[0];
    if (events.IsIn(child)) {
      place = {child, child};
    } else {
      place.at.push_back(frame);
    }
  }
  return place;
}

// Checks that every share is rounded down or up, that the sum is exact, and that no share that was
// rounded up has a smaller remainder than one that was not.
void ExpectLargestRemainder(std::uint64_t amount, const Values& weights, const Values& shares) {
  std::uint64_t total = 0;
  for (const auto& [at, weight] : weights) total += weight;
  std::uint64_t sum = 0;
  std::uint64_t least_above = ~std::uint64_t{0};
  std::uint64_t most_below = 0;
  for (const auto& [at, weight] : weights) {
    const stats::Uint128 product = stats::Uint128{amount} * weight;
    const auto floor = static_cast<std::uint64_t>(product / total);
    const auto remainder = static_cast<std::uint64_t>(product % total);
    const auto found = shares.find(at);
    const std::uint64_t share = found == shares.end() ? 0 : found->second;
    ASSERT_TRUE(share == floor || share == floor + 1);
    (share == floor ? most_below : least_above) =
        share == floor ? std::max(most_below, remainder) : std::min(least_above, remainder);
    sum += share;
  }
  EXPECT_EQ(sum, amount);
  EXPECT_LE(most_below, least_above);
}

TEST(MergeTest, InclusiveTimesOfEventsStayExactIn20000RandomCases) {
  std::mt19937_64 random(41);
  std::size_t divided = 0;
  for (std::uint64_t repeat = 0; repeat < 20'000; ++repeat) {
    PlainRun event_run = RandomRun(random, 1, 1 + random() % 5);
    std::erase_if(event_run.self, [](const auto& each) { return each.second[0] == 0; });
    const PlainRun sample_run = RandomRun(random, 1, 4 + random() % 12);
    Table events = {{"wall", {}}};
    Table samples = {{"cpu", {}}};
    for (const auto& [path, self] : event_run.self) events["wall"][path] = self[0];
    for (const auto& [path, self] : sample_run.self) samples["cpu"][path] = self[0];
    const Table merged = TableOf(Merge(events, samples, repeat).run);
    for (const Names& path : AllPaths(std::span(&event_run, 1))) {
      ASSERT_EQ(InclusiveOf(merged.at("wall"), path), event_run.Inclusive(path, 0));
    }
    std::map<Names, Values> weights;  // by node
    for (const auto& [stack, value] : samples["cpu"]) {
      const SlowPlace place = SlowPlaceOf(stack, event_run);
      if (value != 0) weights[place.node][place.at] += value;
    }
    Values placed;
    for (const auto& [node, by_place] : weights) {
      placed.insert(by_place.begin(), by_place.end());
      ExpectLargestRemainder(event_run.Self(node, 0), by_place, merged.at("wall"));
      divided += by_place.size() > 1 && event_run.Self(node, 0) != 0 ? 1 : 0;
    }
    ASSERT_EQ(merged.at("cpu"), placed);
  }
  EXPECT_GT(divided, 5'000U);
}

TEST(MergeTest, NumbersOfPathsDoNotTell) {
  std::mt19937_64 random(42);
  Table events = {{"wall", {{{"f"}, 1001}, {{}, 7}}}};
  Table samples = {{"cpu", {}}};
  for (int i = 0; i < 9; ++i) samples["cpu"][{"f", "g" + std::to_string(i)}] = 5;  // many ties
  const Table first = TableOf(Merge(events, samples, 0).run);
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    EXPECT_EQ(TableOf(Merge(events, samples, seed).run), first);
  }
}

}  // namespace
}  // namespace fieldcost::tree
