// Rows of all sizes and relations to each other as fragments, bit for bit.
#include "common/wire/fragment_rows.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "common/wire/fragment.h"
#include "common/wire/total_rows.h"
#include "common/wire/wire.pb.h"
#include "common/wire/zstd_frame.h"
#include "tests/common/wire/samples.h"

namespace fieldcost::wire {
namespace {

using stats::StatRow;
using stats::Uint128;
using Random = std::mt19937_64;
using Rows = std::vector<StatRow>;

proto::Fragment MessageOf(const Rows& rows) {
  Decompressor decompressor;
  proto::Fragment fragment;
  const std::string bytes = EncodeFragment(rows).value();
  const auto content = decompressor.Decompress(
      bytes, {.max_compressed_bytes = kMiB, .max_decoded_bytes = 64 * kMiB});
  EXPECT_TRUE(fragment.ParseFromString(std::string(content.value())));
  return fragment;
}

void ExpectCorrupt(const proto::Fragment& fragment) {
  const auto rows = DecodeFragment(Compress(fragment.SerializeAsString(), 1).value());
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().code, ErrorCode::kCorrupt) << rows.error().message;
}

void ExpectSurvive(const Rows& rows) {
  const auto bytes = EncodeFragment(rows);
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  const auto decoded = DecodeFragment(*bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  ASSERT_EQ(decoded->size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    StatRow same = (*decoded)[i];
    EXPECT_EQ(same.weights.Contributions(), rows[i].weights.Contributions());
    same.weights = rows[i].weights;  // rounded
    ASSERT_EQ(same, rows[i]) << "row " << i;
  }
  EXPECT_EQ(EncodeFragment(*decoded).value(), *bytes);
}

// A number of at most `max_bits` bits, of any length.
std::uint64_t Any(Random& random, unsigned max_bits) {
  return random() >> (63 - random() % max_bits);
}

// Up to 2^max_log2 calls of one machine, with many equal costs and costs at the edges of slots.
stats::CostHistogram AnyCalls(Random& random, unsigned max_log2) {
  stats::CostHistogram calls;
  for (auto left = random() % 5 + 1; left > 0; --left) {
    const unsigned bits = static_cast<unsigned>(random() % 64) + 1;
    const std::uint64_t edges[] = {0, shm::SlotMin(bits), shm::SlotMax(bits), Any(random, bits)};
    stats::CostHistogram equal;
    equal.Add(edges[random() % 4]);
    for (auto log2 = random() % max_log2; log2 > 0; --log2) {
      const stats::CostHistogram once = equal;
      equal.Merge(once);
    }
    stats::CostHistogram sum = calls;
    sum.Merge(equal);
    if (Validate(sum)) calls = sum;
  }
  if (random() % 3 == 0) {
    const std::uint64_t most = calls.count() - calls.used_count();
    calls.SetUntimed(most == 0 ? 0 : random() % most);
  }
  return calls;
}

stats::ContributionScalars Times(stats::ContributionScalars scalars, unsigned log2) {
  for (; log2 > 0; --log2) {
    const stats::ContributionScalars once = scalars;
    scalars.Merge(once);
  }
  return scalars;
}

// A row of a few machines, some of them in its fullest quarter.
StatRow AnyRow(const stats::RowKey& key, Random& random) {
  StatRow row{.key = key};
  const std::uint32_t week =
      random() % 3 == 0 ? 0 : 13 * static_cast<std::uint32_t>(Any(random, 28));
  const bool has_weights = random() % 3 != 0;
  const bool has_bounded = random() % 3 != 0;
  for (auto machines = random() % 5; machines > 0; --machines) {
    const stats::CostHistogram calls = AnyCalls(random, 40);
    stats::CostHistogram sum = row.histogram;
    sum.Merge(calls);
    if (calls.empty() || !Validate(sum)) continue;
    row.histogram = sum;
    const stats::ContributionScalars scalars = ScalarsOf(calls);
    row.scalars.Merge(scalars);
    if (has_weights) row.weights.Merge(WeightsOf(calls));
    if (has_bounded) row.bounded.Merge(stats::BoundedSumsOf(calls));
    if (key.week == 0 && week != 0 && random() % 2 == 0) {
      row.fullest_quarter.week = week;
      row.fullest_quarter.scalars.Merge(scalars);
    }
  }
  return row;
}

stats::RowKey KeyOf(int symbol, int metric, int cores, std::uint32_t week) {
  stats::RowKey key{.api = SampleRows()[0].key.api,
                    .metric = static_cast<stats::Metric>(metric + 1),
                    .week = week};
  key.api.symbol = fmt::format("symbol_{}", symbol);
  if (cores >= 0) {
    key.hardware = SampleBatch().hardware;
    key.hardware.log2_cores = static_cast<std::uint32_t>(cores);
  }
  return key;
}

// The sum of rows, with the fullest quarter of the first.
StatRow TotalOf(const stats::RowKey& key, std::span<const StatRow> rows) {
  StatRow total{.key = key};
  total.fullest_quarter.week = rows.front().fullest_quarter.week;
  bool has_all_weights = true;
  for (const StatRow& row : rows) {
    total.histogram.Merge(row.histogram);
    total.scalars.Merge(row.scalars);
    total.weights.Merge(row.weights);
    total.bounded.Merge(row.bounded);
    has_all_weights = has_all_weights && row.weights.Contributions() == row.scalars.contributions;
    if (row.fullest_quarter.week == total.fullest_quarter.week) {
      total.fullest_quarter.scalars.Merge(row.fullest_quarter.scalars);
    }
  }
  if (total.fullest_quarter.scalars.contributions == 0) total.fullest_quarter.week = 0;
  if (!has_all_weights) total.weights = {};
  if (total.bounded.contributions != total.scalars.contributions) total.bounded = {};
  return total;
}

// APIs with up to three metrics each, with or without a total; some totals include a row that is
// not published, others are unrelated to their parts, which no writer of ours would make.
Rows AnyRows(Random& random) {
  Rows rows;
  for (int symbol = 0; symbol < 3; ++symbol) {
    for (int metric = 0; metric < 3; ++metric) {
      Rows classes;
      for (int cores = 0; cores < 4; ++cores) {
        if (random() % 2 == 0) classes.push_back(AnyRow(KeyOf(symbol, metric, cores, 0), random));
      }
      const stats::RowKey key = KeyOf(symbol, metric, -1, 0);
      const auto choice = random() % 4;
      if (choice == 0 || classes.empty()) {
        if (choice != 1) rows.push_back(AnyRow(key, random));
      } else if (choice != 1) {
        StatRow total = TotalOf(key, classes);
        if (choice == 3) classes.pop_back();
        if (Validate(total.histogram)) rows.push_back(total);
      }
      for (int week = 0; week < 2; ++week) {
        if (random() % 4 == 0) {
          rows.push_back(AnyRow(KeyOf(symbol, metric, -1, 2900U + week), random));
        }
      }
      rows.insert(rows.end(), classes.begin(), classes.end());
      if (random() % 4 == 0) rows.push_back(AnyRow(KeyOf(symbol, metric, 9, 2921), random));
    }
  }
  return rows;
}

TEST(FragmentRowsTest, RowsOfAllKindsSurvive) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    ExpectSurvive(AnyRows(random));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(FragmentRowsTest, TheGreatestSumsSurvive) {
  StatRow row{.key = KeyOf(0, 0, -1, 0)};
  const std::uint64_t most = ~std::uint64_t{0};
  row.histogram.SetBucket(64, {.count = 1, .sum = most, .sum_of_squares = Uint128{most} * most});
  row.histogram.SetBucket(0, {.count = most - 1});
  row.histogram.SetUntimed(most - 2);
  ExpectSurvive({row});
  row.histogram = {};
  row.histogram.SetBucket(1, {.count = most, .sum = most, .sum_of_squares = most});
  ExpectSurvive({row});
  // Values of 2^32 - 1 in the greatest number that there can be.
  row.histogram = {};
  const std::uint64_t value = (std::uint64_t{1} << 32) - 1;
  row.histogram.SetBucket(32, {.count = most,
                               .sum = Uint128{most} * value,
                               .sum_of_squares = Uint128{most} * value * value});
  ExpectSurvive({row});
}

TEST(FragmentRowsTest, TheMostContributionsSurvive) {
  for (const std::uint64_t cost : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
    stats::CostHistogram call;
    call.Add(cost);
    StatRow row{
        .key = KeyOf(0, 0, -1, 0), .histogram = call, .scalars = Times(ScalarsOf(call), 56)};
    row.fullest_quarter = {.week = ~std::uint32_t{0}, .scalars = Times(ScalarsOf(call), 55)};
    ExpectSurvive({row});
  }
}

TEST(FragmentRowsTest, AllBucketsSurvive) {
  StatRow row{.key = KeyOf(0, 0, -1, 0)};
  for (unsigned slot = 0; slot < shm::kBucketSlots; ++slot) row.histogram.Add(shm::SlotMin(slot));
  row.scalars = ScalarsOf(row.histogram);
  row.weights = WeightsOf(row.histogram);
  row.bounded = stats::BoundedSumsOf(row.histogram);
  ExpectSurvive({row});
  EXPECT_EQ(MessageOf({row}).bucket_gap(), std::string(65, '\0'));
}

TEST(FragmentRowsTest, ATotalIsStoredWithoutItsParts) {
  const Rows rows = PartlyPublishedRows();
  ExpectSurvive(rows);
  const proto::Fragment fragment = MessageOf(rows);
  EXPECT_EQ(fragment.row_kind()[0], 31);
  // One machine is left, with a bucket each for its costs.
  EXPECT_EQ(fragment.bucket_count()[0], 4);
  // Without it, nothing is left.
  Rows all = {TotalOf(rows[0].key, std::span(rows).subspan(1)), rows[1], rows[2]};
  ExpectSurvive(all);
  EXPECT_EQ(MessageOf(all).bucket_count()[0], 0);
}

TEST(FragmentRowsTest, ATotalBelowItsPartsIsStoredWhole) {
  Rows rows = PartlyPublishedRows();
  rows[0] = rows[1];
  rows[0].key = PartlyPublishedRows()[0].key;
  ExpectSurvive(rows);
  EXPECT_EQ(MessageOf(rows).row_kind()[0], 30);
}

TEST(FragmentRowsTest, AQuarterThatIsAllOfTheRowIsStoredOnce) {
  Rows once = {WeekSampleRows()[3]};
  once[0].fullest_quarter = {};
  const Rows twice = {WeekSampleRows()[3]};
  ASSERT_EQ(twice[0].fullest_quarter.scalars, twice[0].scalars);
  EXPECT_LE(MessageOf(twice).ByteSizeLong(), MessageOf(once).ByteSizeLong() + 7)
      << "a week, a column, and that the rest is empty";
}

// Each of these is a second way to write rows that have a first one.
TEST(FragmentRowsTest, OtherEncodingsOfTheSameRowsAreRefused) {
  // A total that includes its parts.
  Rows rows = {SampleRows()[0], SampleRows()[1]};
  rows[0].key.week = 5;
  proto::Fragment fragment = MessageOf(rows);
  fragment.mutable_table()->set_row_week(0, 0);
  ExpectCorrupt(fragment);
  // A week of 0.
  fragment = MessageOf(WeekSampleRows());
  (*fragment.mutable_quarter_week())[0] = 0;
  ExpectCorrupt(fragment);
}

TEST(FragmentRowsTest, KindsThatAreNoneAreRefused) {
  const auto with_kind = [](const Rows& rows, std::size_t row, int kind) {
    proto::Fragment fragment = MessageOf(rows);
    (*fragment.mutable_row_kind())[row] = static_cast<char>(kind);
    return fragment;
  };
  const Rows rows = SampleRows();
  ASSERT_EQ(MessageOf(rows).row_kind(), std::string("\1\0\1\0\0\0", 6));
  ExpectCorrupt(with_kind(rows, 1, 1));  // a part
  ExpectCorrupt(with_kind(rows, 4, 1));  // a total without parts
  ExpectCorrupt(with_kind(rows, 5, 1));  // a row of one week
  ExpectCorrupt(with_kind(rows, 5, 32));
  ExpectCorrupt(with_kind(rows, 5, 128));
}

TEST(FragmentRowsTest, SharesThatExceedTheWholeAreRefused) {
  const Rows rows = {WeightedSampleRows()[5]};
  const proto::Fragment good = MessageOf(rows);
  ASSERT_EQ(good.share().size(), 2U) << "the last of three follows from the others";
  proto::Fragment fragment = good;
  fragment.set_share(std::string("\x12\0", 2));
  fragment.set_bits(good.bits() + std::string(2, '\0'));
  ExpectCorrupt(fragment);
}

}  // namespace
}  // namespace fieldcost::wire
