#include "aggregator/publish/collapse.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "aggregator/publish/publish_limits.h"
#include "common/stats/agent_weights.h"
#include "common/stats/contribution.h"
#include "common/stats/cost_histogram.h"
#include "common/wire/epoch.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::publish {
namespace {

// The checks of a reader of fragments, applied to the reader's dense form.
bool WouldBeTaken(const store::CompactRow& row) {
  const stats::CostHistogram histogram = row.ToHistogram();
  return !row.saturated && stats::Validate(row.scalars) && stats::Validate(histogram) &&
         stats::Validate(row.ToWeights(), histogram, row.scalars.contributions) &&
         stats::Validate(row.sizes.buckets, row.scalars.contributions, histogram.Totals()) &&
         stats::Validate(row.sizes.Bounded(), histogram, row.scalars.contributions);
}

store::CompactRow RandomRow(std::mt19937_64& random) {
  store::CompactRow sums;
  const bool has_sizes = random() % 4 != 0;
  for (unsigned contribution = 0; contribution <= random() % 4; ++contribution) {
    stats::CostHistogram histogram;
    for (unsigned call = 0; call <= random() % 9; ++call)
      histogram.Add(random() >> (random() % 64));
    store::CompactRow row;
    row.SetHistogram(histogram);
    row.scalars = stats::ScalarsOf(histogram);
    row.SetWeights(stats::WeightsOf(histogram));
    if (has_sizes) row.sizes = stats::SizesOf(histogram);
    sums.Add(row);
  }
  return sums;
}

// Usually makes the row one that no agents' rows can add up to.
void Spoil(std::mt19937_64& random, store::CompactRow& row) {
  store::CompactBucket& bucket = row.buckets[random() % row.buckets.size()];
  switch (random() % 9) {
    case 7:
      row.sizes.Merge({{{.slot = 1, .contributions = 1, .total = 1}}});
      break;
    case 8:
      if (!row.sizes.buckets.empty()) row.sizes.buckets.back().total += random() % 3;
      break;
    case 0:
      bucket.sums.count += 1 + random() % 2;
      break;
    case 1:
      bucket.sums.sum += random() % 3;
      break;
    case 2:
      bucket.sums.sum_of_squares -= random() % 3;
      break;
    case 3:
      bucket.set_weight(bucket.weight() + (random() % 2 == 0 ? 1 : stats::kWeightOne));
      break;
    case 4:
      row.scalars.contributions = random() % 3;
      break;
    case 5:
      bucket.sums.sum_of_squares = ~stats::Uint128{0} - random() % 2;
      break;
    default:
      row.saturated = true;
      break;
  }
}

TEST(CollapseTest, ARowIsSoundExactlyIfReadersWouldTakeIt) {
  std::mt19937_64 random(20261121);
  unsigned sound = 0;
  unsigned unsound = 0;
  for (int i = 0; i < 20'000; ++i) {
    store::CompactRow row = RandomRow(random);
    if (i % 2 != 0) Spoil(random, row);
    ASSERT_EQ(IsSound(row), WouldBeTaken(row)) << i;
    (IsSound(row) ? sound : unsound)++;
    if (!IsSound(row)) continue;
    ASSERT_TRUE(stats::Validate(row.sizes.Bounded(), row.ToHistogram(), row.scalars.contributions));
  }
  EXPECT_GT(sound, 5'000U);
  EXPECT_GT(unsound, 5'000U);
}

// The contributions that a store received for one API: class -> week -> contributions.
using Contributions = std::map<stats::HardwareClass, std::map<std::uint32_t, std::uint64_t>>;

stats::HardwareClass ClassOf(unsigned number) {
  return {.architecture = "x86_64", .log2_cores = number};
}

// A store filled by random machines: each API has different classes, in varying proportions.
class RandomStore {
 public:
  static constexpr unsigned kApis = 400;

  explicit RandomStore(std::uint64_t seed) : random_(seed) {
    auto store = store::Store::Open({.data_dir = dir_.path(), .checkpoint_seconds = 0});
    EXPECT_TRUE(store.has_value());
    store_ = std::move(*store);
    for (unsigned api = 0; api < kApis; ++api) {
      most_classes_[api] = 1 + static_cast<unsigned>(random_() % (kMaxClassesOfRow + 3));
      most_agents_[api] = 1 + static_cast<unsigned>(random_() % kAgents);
    }
    for (unsigned agent = 0; agent < kAgents; ++agent) AddAgent(agent);
  }

  // Published rows by API: one per class, and the row over all classes under the empty class.
  struct Row {
    store::CompactRow sums;
    stats::QuarterScalars fullest_quarter;
  };
  using Published = std::map<std::string, std::map<stats::HardwareClass, Row>>;
  Published Collapse(std::uint32_t threshold) const {
    Published published;
    auto snapshot = store_->TakeSnapshot();
    EXPECT_TRUE(snapshot.has_value());
    stats::RowKey last;
    std::uint64_t rows = 0;
    for (const auto& range : snapshot->Split(1)) {
      const auto counts = publish::Collapse(
          *snapshot, range, threshold,
          [&](const stats::RowKey& key, const auto& row, const stats::QuarterScalars& week) {
            EXPECT_TRUE(rows == 0 || last < key);
            EXPECT_EQ(key.week, 0U);
            last = key;
            ++rows;
            published[key.api.symbol][key.hardware] = {row, week};
            return Status();
          });
      EXPECT_TRUE(counts.has_value());
      EXPECT_EQ(counts->published, rows);
    }
    return published;
  }

  const std::map<std::string, Contributions>& contributions() const { return contributions_; }
  const store::CompactRow& SumsOf(const std::string& api, const stats::HardwareClass& some) const {
    return sums_.at(api).at(some);
  }
  const stats::ContributionScalars& WeekOf(const std::string& api, const stats::HardwareClass& some,
                                           std::uint32_t week) const {
    return weeks_.at(api).at(some).at(week);
  }

 private:
  static constexpr unsigned kAgents = 48;
  static constexpr unsigned kWeeks = 3;

  void AddAgent(unsigned agent) {
    std::array<unsigned, kApis> classes{};
    // The maximum of two random numbers makes classes differ in size.
    for (unsigned api = 0; api < kApis; ++api) {
      classes[api] = static_cast<unsigned>(
          std::max(random_() % most_classes_[api], random_() % most_classes_[api]));
    }
    for (unsigned week = 0; week < kWeeks; ++week) {
      store::AcceptedRows rows;
      for (unsigned api = 0; api < kApis; ++api) {
        if (agent >= most_agents_[api] || random_() % 3 == 0) continue;
        // Some rows carry no contribution, like those of a quarter's second batch.
        AddRow(api, classes[api], wire::kWeeksPerEpoch * (223 + week), random_() % 8 != 0, rows);
      }
      std::string agent_id(store::kAgentIdBytes, '.');
      agent_id[0] = static_cast<char>(agent);
      EXPECT_TRUE(store_
                      ->Accept({.agent_id = agent_id,
                                .epoch = wire::Epoch(1),
                                .sequence = wire::Sequence(week + 1),
                                .rows = &rows,
                                .answer = "ok"})
                      .has_value());
    }
  }

  void AddRow(unsigned api, unsigned number, std::uint32_t week, bool is_first,
              store::AcceptedRows& rows) {
    stats::CostHistogram histogram;
    for (unsigned call = 0; call <= random_() % 5; ++call) histogram.Add(random_() % 4096);
    const stats::RowKey key = {
        .api = {.soname = "libsample.so.1", .symbol = "sample_" + std::to_string(api)},
        .hardware = ClassOf(number),
        .week = week};
    rows.Add(key, histogram, is_first ? store::Contribution::kFirst : store::Contribution::kNone);
    contributions_[key.api.symbol][key.hardware][week] += is_first ? 1 : 0;
    store::CompactRow row;
    row.SetHistogram(histogram);
    if (is_first) {
      row.scalars = stats::ScalarsOf(histogram);
      row.SetWeights(stats::WeightsOf(histogram));
      row.sizes = stats::SizesOf(histogram);
    }
    for (const stats::HardwareClass& some : {key.hardware, stats::HardwareClass{}}) {
      sums_[key.api.symbol][some].Add(row);
      weeks_[key.api.symbol][some][week].Merge(row.scalars);
    }
  }

  const testing::TempDir dir_;
  std::mt19937_64 random_;
  std::unique_ptr<store::Store> store_;
  std::array<unsigned, kApis> most_classes_{};
  std::array<unsigned, kApis> most_agents_{};
  std::map<std::string, Contributions> contributions_;
  std::map<std::string, std::map<stats::HardwareClass, store::CompactRow>> sums_;
  std::map<std::string,
           std::map<stats::HardwareClass, std::map<std::uint32_t, stats::ContributionScalars>>>
      weeks_;
};

// Returns whether these classes together may be published.
bool Reach(std::uint32_t threshold, const Contributions& all,
           const std::set<stats::HardwareClass>& classes) {
  std::map<std::uint32_t, std::uint64_t> by_week;
  for (const stats::HardwareClass& some : classes) {
    for (const auto& [week, contributions] : all.at(some)) by_week[week] += contributions;
  }
  return std::any_of(by_week.begin(), by_week.end(),
                     [&](const auto& week) { return week.second >= threshold; });
}

std::set<stats::HardwareClass> AllOf(const Contributions& contributions) {
  std::set<stats::HardwareClass> all;
  for (const auto& [some, weeks] : contributions) all.insert(some);
  return all;
}

class CollapseClassesTest : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static void SetUpTestSuite() { store_ = new RandomStore(20261121); }
  static void TearDownTestSuite() { delete store_; }
  static RandomStore* store_;
};

RandomStore* CollapseClassesTest::store_ = nullptr;

// The attack: subtract any published rows from the row over all classes.
TEST_P(CollapseClassesTest, DifferencesOfPublishedRowsReachTheThreshold) {
  const std::uint32_t threshold = GetParam();
  const auto published = store_->Collapse(threshold);
  std::uint64_t differences = 0;
  std::uint64_t rests = 0;
  for (const auto& [api, rows] : published) {
    const Contributions& given = store_->contributions().at(api);
    ASSERT_TRUE(rows.contains({})) << api;
    std::vector<stats::HardwareClass> classes;
    for (const auto& [some, row] : rows) {
      if (some != stats::HardwareClass{}) classes.push_back(some);
    }
    for (unsigned subset = 0; subset < 1U << classes.size(); ++subset) {
      std::set<stats::HardwareClass> sum;
      std::set<stats::HardwareClass> left = AllOf(given);
      for (unsigned i = 0; i < classes.size(); ++i) {
        if ((subset >> i & 1) == 0) continue;
        sum.insert(classes[i]);
        left.erase(classes[i]);
      }
      ASSERT_TRUE(sum.empty() || Reach(threshold, given, sum)) << api;
      ASSERT_TRUE(left.empty() || Reach(threshold, given, left)) << api;
      ++differences;
      rests += sum.size() == classes.size() && !sum.empty() && !left.empty() ? 1 : 0;
    }
  }
  EXPECT_GT(differences, 500U);
  EXPECT_GT(rests, 20U);
}

// How often each (class, week) is included in a published number.
using Cells = std::vector<int>;

// The scalars of weeks allow another attack: add and subtract any figures published for an API
// until the result includes some (class, week)s exactly once and no others.
TEST_P(CollapseClassesTest, SumsOfPublishedScalarsReachTheThreshold) {
  const std::uint32_t threshold = GetParam();
  std::uint64_t sums_of_some = 0;
  for (const auto& [api, rows] : store_->Collapse(threshold)) {
    std::vector<std::pair<stats::HardwareClass, std::uint32_t>> cells;
    std::vector<std::uint64_t> contributions;
    for (const auto& [some, weeks] : store_->contributions().at(api)) {
      for (const auto& [week, count] : weeks) {
        if (count == 0) continue;
        cells.emplace_back(some, week);
        contributions.push_back(count);
      }
    }
    std::vector<Cells> published;
    for (const auto& [some, row] : rows) {
      const std::set<std::uint32_t> told = {0, row.fullest_quarter.week};
      for (const std::uint32_t week : told) {
        Cells about;
        for (const auto& [cell_class, cell_week] : cells) {
          about.push_back((some == stats::HardwareClass{} || some == cell_class) &&
                          (week == 0 || week == cell_week));
        }
        published.push_back(about);
      }
    }
    if (published.size() > 8) continue;
    unsigned combinations = 1;
    for (std::size_t i = 0; i < published.size(); ++i) combinations *= 3;
    for (unsigned number = 0; number < combinations; ++number) {
      Cells sum(cells.size(), 0);
      unsigned digits = number;
      for (const Cells& one : published) {
        const int factor = static_cast<int>(digits % 3) - 1;
        digits /= 3;
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * one[i];
      }
      if (std::any_of(sum.begin(), sum.end(), [](int n) { return n != 0 && n != 1; })) continue;
      std::map<std::uint32_t, std::uint64_t> by_week;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        if (sum[i] == 1) by_week[cells[i].second] += contributions[i];
      }
      if (by_week.empty()) continue;
      ++sums_of_some;
      ASSERT_TRUE(std::any_of(by_week.begin(), by_week.end(), [&](const auto& week) {
        return week.second >= threshold;
      })) << api;
    }
  }
  EXPECT_GT(sums_of_some, 1000U);
}

// Without classes, the published week is the fullest quarter, unless the rest would be too small.
TEST_P(CollapseClassesTest, ReportsTheFullestPermittedWeek) {
  const std::uint32_t threshold = GetParam();
  std::uint64_t withheld = 0;
  for (const auto& [api, rows] : store_->Collapse(threshold)) {
    if (rows.size() != 1) continue;
    std::map<std::uint32_t, std::uint64_t> by_week;
    for (const auto& [some, weeks] : store_->contributions().at(api)) {
      for (const auto& [week, count] : weeks) by_week[week] += count;
    }
    std::uint32_t expected = 0;
    for (const auto& [week, count] : by_week) {
      std::uint64_t all = 0;
      std::uint64_t most = 0;
      for (const auto& [other, others] : by_week) {
        if (other == week) continue;
        all += others;
        most = std::max(most, others);
      }
      if (count < threshold || (all != 0 && most < threshold)) continue;
      if (expected == 0 || count >= by_week[expected]) expected = week;
    }
    const RandomStore::Row& row = rows.begin()->second;
    ASSERT_EQ(row.fullest_quarter.week, expected) << api;
    ASSERT_EQ(row.fullest_quarter.scalars.contributions, by_week[expected]) << api;
    withheld += expected == 0 ? 1 : 0;
  }
  EXPECT_GE(withheld, threshold < 3 ? 0U : 3U);
}

TEST_P(CollapseClassesTest, RowsAreTheSumsBitForBitAndNoMoreIsWithheldThanMustBe) {
  const std::uint32_t threshold = GetParam();
  const auto published = store_->Collapse(threshold);
  std::uint64_t complete = 0;
  std::uint64_t unsafe = 0;
  std::uint64_t told = 0;
  for (const auto& [api, given] : store_->contributions()) {
    ASSERT_EQ(published.contains(api), Reach(threshold, given, AllOf(given))) << api;
    if (!published.contains(api)) continue;
    const auto& rows = published.at(api);
    for (const auto& [some, row] : rows) {
      ASSERT_EQ(row.sums, store_->SumsOf(api, some)) << api;
      if (row.fullest_quarter.week == 0) continue;
      ASSERT_EQ(row.fullest_quarter.scalars, store_->WeekOf(api, some, row.fullest_quarter.week))
          << api;
      ++told;
    }
    std::set<stats::HardwareClass> reaching;
    std::set<stats::HardwareClass> others;
    for (const auto& [some, weeks] : given) {
      (Reach(threshold, given, {some}) ? reaching : others).insert(some);
    }
    std::size_t expected = std::min(reaching.size(), kMaxClassesOfRow);
    if (given.size() == 1) {
      expected = 0;
    } else if (!others.empty() && reaching.size() <= kMaxClassesOfRow && !reaching.empty() &&
               !Reach(threshold, given, others)) {
      --expected;
      ++unsafe;
    }
    ASSERT_EQ(rows.size(), 1 + expected) << api;
    complete += rows.size() == 1 + given.size() ? 1 : 0;
    // The published classes are those with the most contributions.
    std::uint64_t least = ~std::uint64_t{0};
    for (const auto& [some, row] : rows) {
      least = std::min(least, row.sums.scalars.contributions);
    }
    for (const stats::HardwareClass& some : reaching) {
      if (rows.contains(some) || rows.size() == 1) continue;
      ASSERT_LE(store_->SumsOf(api, some).scalars.contributions, least) << api;
    }
  }
  EXPECT_GT(complete, 10U);
  EXPECT_GT(unsafe, 10U);
  EXPECT_GT(told, 300U);
}

INSTANTIATE_TEST_SUITE_P(Thresholds, CollapseClassesTest, ::testing::Values(1U, 2U, 5U));

}  // namespace
}  // namespace fieldcost::publish
