#include "aggregator/store/store_row_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/aggregator/store/batches.h"

namespace fieldcost::store {
namespace {

std::string KeyBytes(const stats::RowKey& key) {
  std::string bytes;
  AppendRowKey(key, bytes);
  return bytes;
}

std::string ValueBytes(const CompactRow& row) {
  std::string bytes;
  AppendRowValue(row, bytes);
  return bytes;
}

CompactRow RandomRow(std::mt19937_64& random) {
  stats::CostHistogram histogram;
  for (unsigned i = static_cast<unsigned>(random() % 40) + 1; i > 0; --i) {
    histogram.Add(random() >> (8 + random() % 56), std::uint64_t{1} << (random() % 9));
  }
  CompactRow row;
  row.SetHistogram(histogram);
  const std::uint64_t kind = random() % 5;
  if (kind != 0) row.scalars = stats::ScalarsOf(histogram);
  if (kind > 1) row.SetWeights(stats::WeightsOf(histogram));
  if (kind > 2) row.sizes = stats::SizesOf(histogram);
  return row;
}

// The worked example of aggregator/store/LAYOUT.md.
TEST(RowCodecTest, TheWorkedExampleHasTheBytesOfTheGoldenFile) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  CompactRow row;
  row.SetHistogram(histogram);
  row.scalars = {.contributions = 1,
                 .sum_mean = -2,
                 .sum_mean_squared = 4,
                 .sum_inverse_calls = 5,
                 .sum_within_squares = 300,
                 .sum_within_freedom = 2,
                 .sum_mean_cubed = -8};
  row.SetWeights(stats::WeightsOf(histogram));
  row.sizes = stats::SizesOf(histogram);
  row.untimed = 1;  // one of the two 3 ns values was timed and represents both
  stats::RowKey key;
  key.api = {.soname = "libz.so.1", .package_version = "1.3", .symbol = "crc32"};
  key.metric = stats::Metric::kWallTime;
  key.hardware.architecture = "x86_64";
  key.week = 2960;
  const auto golden =
      ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / "row.golden", 64 * kKiB);
  ASSERT_TRUE(golden.has_value());
  EXPECT_EQ("key " + HexEncode(KeyBytes(key)) + "\nvalue " + HexEncode(ValueBytes(row)) + "\n",
            *golden);
}

TEST(RowCodecTest, InboxRecordsHaveTheBytesOfTheGoldenFile) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  AcceptedRows rows;
  rows.Add(std::string_view("key a"), histogram, Contribution::kNone);
  rows.Add(std::string_view("key bc"), histogram, Contribution::kNone);
  const auto golden =
      ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / "inbox.golden", 64 * kKiB);
  ASSERT_TRUE(golden.has_value());
  EXPECT_EQ("added " + HexEncode(rows.bytes()) + "\nwithdrawn " +
                HexEncode(WithdrawnRecord(rows.bytes())) + "\n",
            *golden);
}

TEST(RowCodecTest, OnlyTheKindsOfInboxRecordsThatThereAreAreRead) {
  const AcceptedRows rows;
  EXPECT_EQ(RecordKindOf(rows.bytes()).value(), RecordKind::kAdded);
  EXPECT_EQ(RecordKindOf(WithdrawnRecord(rows.bytes())).value(), RecordKind::kWithdrawn);
  const auto ignore = [](std::string_view, const CompactRow&) {};
  for (const std::string& bad : {std::string(), std::string("\0", 1)}) {
    EXPECT_EQ(RecordKindOf(bad).error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(ForEachAcceptedRow(bad, ignore).has_value());
  }
  for (const char* newer : {"\x04", "\xff"}) {
    EXPECT_EQ(RecordKindOf(newer).error().code, ErrorCode::kUnsupported);
    EXPECT_FALSE(ForEachAcceptedRow(newer, ignore).has_value());
  }
  EXPECT_EQ(RecordKindOf("\x03").value(), RecordKind::kBatch);
  EXPECT_FALSE(ForEachAcceptedRow("\x03", ignore).has_value());
}

TEST(CompactRowTest, SubtractingWhatWasAddedGivesTheSameBitsAsNeverAddingIt) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    const CompactRow kept = RandomRow(random);
    const CompactRow taken = RandomRow(random);
    CompactRow sums = kept;
    sums.Add(taken);
    ASSERT_TRUE(sums.Subtract(taken).has_value());
    ASSERT_EQ(sums, kept);
    ASSERT_TRUE(sums.Subtract(kept).has_value());
    ASSERT_EQ(sums, CompactRow());
  }
}

TEST(CompactRowTest, RefusesToSubtractWhatWasNeverAdded) {
  stats::CostHistogram histogram;
  histogram.Add(3, 2);
  histogram.Add(7);
  CompactRow row;
  row.SetHistogram(histogram);
  row.scalars = stats::ScalarsOf(histogram);
  row.SetWeights(stats::WeightsOf(histogram));
  row.sizes = stats::SizesOf(histogram);
  const std::vector<std::function<void(CompactRow&)>> spoilers = {
      [](CompactRow& other) { other.buckets[0].sums.count = 3; },
      [](CompactRow& other) { other.buckets[0].sums.sum = 7; },
      [](CompactRow& other) { other.buckets[0].sums.sum_of_squares = 19; },
      [](CompactRow& other) { other.buckets[0].sums.sum = 5; },  // leaves a sum without values
      [](CompactRow& other) { other.buckets[1].slot = 9; },
      [](CompactRow& other) { other.scalars = {}; },  // leaves a contribution without values
      [](CompactRow& other) { other.scalars.contributions = 2; },
      [](CompactRow& other) { ++other.scalars.sum_mean_cubed; },
      [](CompactRow& other) { other.SetWeights({}); },  // leaves weight without values
      [](CompactRow& other) { other.buckets[0].set_weight(other.buckets[0].weight() + 1); },
      [](CompactRow& other) { other.buckets[0].set_weight(other.buckets[0].weight() - 1); },
      [](CompactRow& other) { other.sizes = {}; },  // leaves sizes without a contribution
      [](CompactRow& other) { other.sizes.buckets.pop_back(); },
      [](CompactRow& other) { ++other.sizes.buckets[0].slot; },
      [](CompactRow& other) { ++other.sizes.buckets[0].contributions; },
      [](CompactRow& other) { ++other.sizes.buckets[1].total; },
      [](CompactRow& other) { --other.sizes.buckets[1].total; },
      [](CompactRow& other) { other.untimed = 2; },  // more than there are
      [](CompactRow& other) { other.untimed = 0; },  // leaves untimed values without a timed one
  };
  for (std::size_t i = 0; i < spoilers.size(); ++i) {
    CompactRow other = row;
    spoilers[i](other);
    CompactRow sums = row;
    const Status status = sums.Subtract(other);
    ASSERT_FALSE(status.has_value()) << i;
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(sums, row) << i;
  }
}

TEST(CompactRowTest, NeverLeavesWeightsOfOtherContributionsThanTheRows) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  CompactRow weighted;
  weighted.SetHistogram(histogram);
  weighted.scalars = stats::ScalarsOf(histogram);
  CompactRow unweighted = weighted;
  weighted.SetWeights(stats::WeightsOf(histogram));
  CompactRow later = weighted;
  later.SetWeights({});
  later.scalars = {};
  CompactRow sums = weighted;
  sums.Add(later);
  EXPECT_FALSE(sums.Subtract(unweighted).has_value()) << "leaves more weight than contributions";
  CompactRow part = later;
  part.buckets[0].set_weight(1);
  EXPECT_FALSE(sums.Subtract(part).has_value()) << "leaves a part of a contribution";
  CompactRow mixed = sums;
  mixed.Add(weighted);
  mixed.Add(unweighted);
  EXPECT_FALSE(mixed.Subtract(weighted).has_value()) << "leaves less weight than contributions";
  EXPECT_TRUE(sums.Subtract(weighted).has_value());
  EXPECT_EQ(sums, later);
}

TEST(CompactRowTest, NeverLeavesSizesOfOtherContributionsOrMoreThanTheValues) {
  const auto row_of = [](std::initializer_list<std::uint64_t> values, bool has_sizes) {
    stats::CostHistogram histogram;
    for (const std::uint64_t value : values) histogram.Add(value);
    CompactRow row;
    row.SetHistogram(histogram);
    row.scalars = stats::ScalarsOf(histogram);
    row.SetWeights(stats::WeightsOf(histogram));
    if (has_sizes) row.sizes = stats::SizesOf(histogram);
    return row;
  };
  const CompactRow sized = row_of({3, 3, 7}, true);
  CompactRow sums = sized;
  sums.Add(row_of({7}, false));
  const CompactRow both = sums;
  EXPECT_FALSE(sums.Subtract(row_of({3, 3, 7}, false)).has_value()) << "leaves 3 calls of 1";
  EXPECT_EQ(sums, both);
  EXPECT_TRUE(sums.Subtract(row_of({7}, false)).has_value());
  EXPECT_EQ(sums, sized);
  sums = both;
  sums.Add(sized);
  EXPECT_FALSE(sums.Subtract(sized).has_value()) << "leaves sizes of 1 of 2 contributions";
  // Another contribution, without sizes, would remain, but the first one's sizes would no longer
  // fit.
  sums = both;
  CompactRow later = row_of({3}, false);
  later.scalars = {};
  later.SetWeights({});
  sums.Add(later);
  ASSERT_TRUE(sums.Subtract(row_of({7}, false)).has_value());
  EXPECT_FALSE(sums.Subtract(row_of({3, 3, 7}, false)).has_value());
}

TEST(CompactRowTest, FromASaturatedRowScalarsWeightsAndSizesAreTakenAway) {
  const stats::Bucket most = {
      .count = ~std::uint64_t{0}, .sum = ~stats::Uint128{0}, .sum_of_squares = ~stats::Uint128{0}};
  CompactRow full;
  full.buckets.emplace_back(std::uint8_t{2}, most);
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 2}) histogram.Add(value);
  CompactRow first;
  first.SetHistogram(histogram);
  first.scalars = stats::ScalarsOf(histogram);
  first.SetWeights(stats::WeightsOf(histogram));
  first.sizes = stats::SizesOf(histogram);
  CompactRow sums = full;
  sums.Add(first);
  EXPECT_TRUE(sums.saturated);
  EXPECT_TRUE(sums.buckets[0].weight() == stats::kWeightOne);
  ASSERT_TRUE(sums.Subtract(first).has_value());
  full.saturated = true;
  EXPECT_EQ(sums, full);
}

TEST(RowCodecTest, KeysSortAsRowKeysDo) {
  std::mt19937_64 random(7);
  const std::vector<std::string> texts = {"", "a", "a.1", "aa", "b", "~"};
  const auto text = [&] { return texts[random() % texts.size()]; };
  std::vector<stats::RowKey> keys;
  for (int i = 0; i < 400; ++i) {
    stats::RowKey key;
    key.api = {text(), text(), text(), text(), text()};
    key.metric = random() % 2 == 0 ? stats::Metric::kWallTime : stats::Metric::kAllocInclusive;
    key.hardware = {text(), text(), static_cast<std::uint32_t>(random() % 3),
                    static_cast<std::uint32_t>(random() % 300), text()};
    key.week = static_cast<std::uint32_t>(random() % 70000);
    keys.push_back(key);
  }
  for (const stats::RowKey& a : keys) {
    stats::RowKey decoded;
    ASSERT_TRUE(DecodeRowKey(KeyBytes(a), decoded).has_value());
    ASSERT_EQ(decoded, a);
    for (const stats::RowKey& b : keys) ASSERT_EQ(a < b, KeyBytes(a) < KeyBytes(b));
  }
}

TEST(RowCodecTest, ValuesSurviveARoundTripUpToTheirLimits) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 500; ++i) {
    CompactRow row = RandomRow(random);
    for (std::uint64_t more = random() % 20; more > 0; --more) row.Add(RandomRow(random));
    CompactRow decoded;
    ASSERT_TRUE(DecodeRowValue(ValueBytes(row), decoded).has_value());
    ASSERT_EQ(decoded, row);
  }
  CompactRow extreme;
  extreme.saturated = true;
  extreme.buckets = {
      {64,
       {std::numeric_limits<std::uint64_t>::max(), ~stats::Uint128{0}, ~stats::Uint128{0}},
       CompactBucket::kMaxWeight}};
  extreme.scalars.contributions = std::numeric_limits<std::uint64_t>::max();
  extreme.scalars.sum_mean = static_cast<stats::Int128>(stats::Uint128{1} << 127);
  for (const stats::SizeKind kind : {stats::SizeKind::kCalls, stats::SizeKind::kSum}) {
    for (std::uint8_t slot = 0; slot < shm::kBucketSlots; ++slot) {
      extreme.sizes.buckets.push_back(
          {kind, slot, std::numeric_limits<std::uint64_t>::max(), ~stats::Uint128{0}});
    }
  }
  CompactRow decoded;
  ASSERT_TRUE(DecodeRowValue(ValueBytes(extreme), decoded).has_value());
  EXPECT_EQ(decoded, extreme);
}

TEST(RowCodecTest, AWeightBeyond96BitsIsRefused) {
  CompactRow row;
  row.buckets.emplace_back(std::uint8_t{3}, stats::Bucket{1, 7, 49}, CompactBucket::kMaxWeight);
  std::string bytes = ValueBytes(row);
  std::string longer = bytes.substr(0, bytes.size() - 1);  // ends with the top 5 of 96 bits
  longer += '\x20';
  CompactRow decoded;
  EXPECT_TRUE(DecodeRowValue(bytes, decoded).has_value());
  EXPECT_FALSE(DecodeRowValue(longer, decoded).has_value());
}

TEST(RowCodecTest, EveryShortenedOrLengthenedValueIsRefused) {
  std::mt19937_64 random(9);
  CompactRow decoded;
  for (int i = 0; i < 50; ++i) {
    const std::string bytes = ValueBytes(RandomRow(random));
    EXPECT_FALSE(DecodeRowValue(bytes + '\0', decoded).has_value());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(DecodeRowValue(std::string_view(bytes).substr(0, size), decoded).has_value());
    }
  }
}

TEST(RowCodecTest, FlippedBitsNeverDecodeToSomethingThatEncodesLonger) {
  std::mt19937_64 random(10);
  CompactRow decoded;
  for (int i = 0; i < 200; ++i) {
    std::string bytes = ValueBytes(RandomRow(random));
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << (random() % 8));
    if (!DecodeRowValue(bytes, decoded)) continue;
    EXPECT_LE(ValueBytes(decoded).size(), bytes.size());
  }
}

TEST(RowCodecTest, AnotherFormatVersionIsUnsupported) {
  std::string bytes = ValueBytes({});
  CompactRow decoded;
  for (const char version : {'\0', '\2', '\xff'}) {
    bytes[0] = version;
    EXPECT_EQ(DecodeRowValue(bytes, decoded).error().code, ErrorCode::kUnsupported);
  }
}

TEST(RowCodecTest, CallsThatWereNotTimedAreNeverNone) {
  stats::CostHistogram histogram;
  histogram.Add(3, 4);
  CompactRow row;
  row.SetHistogram(histogram);
  std::string bytes = ValueBytes(row);
  CompactRow decoded;
  ASSERT_TRUE(DecodeRowValue(bytes, decoded).has_value());
  EXPECT_EQ(decoded.ToHistogram(), histogram);
  ASSERT_EQ(bytes.back(), 3);
  bytes.back() = 0;
  EXPECT_EQ(DecodeRowValue(bytes, decoded).error().code, ErrorCode::kCorrupt);
}

TEST(RowCodecTest, SizesThatAreNotOnesThatWereWrittenAreRefused) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {3, 3, 7}) histogram.Add(value);
  CompactRow row;
  row.SetHistogram(histogram);
  const std::string without = ValueBytes(row);
  const auto code_of = [&](std::string_view sizes) {
    std::string bytes = without + std::string(sizes);
    bytes[1] = 8;
    CompactRow decoded;
    const Status status = DecodeRowValue(bytes, decoded);
    return status ? ErrorCode{} : status.error().code;
  };
  using namespace std::string_view_literals;
  EXPECT_EQ(code_of("\1\2\1\3\1\4\1\15"sv), ErrorCode{});
  for (const std::string_view bad :
       {""sv, "\0\1\4\1\15"sv, "\1\2\1\3\0"sv, "\1\2\0\3\1\4\1\15"sv, "\1\101\1\3\1\4\1\15"sv,
        "\2\2\1\3\2\1\3\1\4\1\15"sv, "\2\2\1\3\1\1\1\1\4\1\15"sv, "\1\2\1\3\1\4\1\15\0"sv,
        "\102"sv}) {
    EXPECT_EQ(code_of(bad), ErrorCode::kCorrupt);
  }
}

TEST(AcceptedRowsTest, RowsComeBackInOrderWithTheirKeys) {
  AcceptedRows rows;
  std::vector<std::pair<std::string, std::uint64_t>> expected;
  for (unsigned number = 0; number < 30; ++number) {
    stats::CostHistogram histogram;
    for (unsigned i = 0; i <= number; ++i) histogram.Add(i);
    rows.Add(TestKey(number), histogram,
             number % 2 == 0 ? Contribution::kFirst : Contribution::kNone);
    expected.emplace_back(KeyBytes(TestKey(number)), number % 2 == 0 ? 1 : 0);
  }
  std::vector<std::pair<std::string, std::uint64_t>> found;
  ASSERT_TRUE(ForEachAcceptedRow(rows.bytes(), [&](std::string_view key, const CompactRow& row) {
                found.emplace_back(key, row.scalars.contributions);
              }).has_value());
  EXPECT_EQ(found, expected);
  for (std::size_t size = 0; size < rows.bytes().size(); ++size) {
    const Status status = ForEachAcceptedRow(rows.bytes().substr(0, size),
                                             [](std::string_view, const CompactRow&) {});
    if (!status) {
      EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    }
  }
}

TEST(CompactRowTest, AddsToTheBitsOfTheDenseHistogram) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300; ++i) {
    CompactRow a = RandomRow(random);
    const CompactRow b = RandomRow(random);
    stats::CostHistogram dense = a.ToHistogram();
    dense.Merge(b.ToHistogram());
    stats::ContributionScalars scalars = a.scalars;
    scalars.Merge(b.scalars);
    stats::AgentWeights weights = a.ToWeights();
    weights.Merge(b.ToWeights());
    stats::ContributionSizes sizes = a.sizes;
    sizes.Merge(b.sizes);
    a.Add(b);
    ASSERT_EQ(a.ToHistogram(), dense);
    ASSERT_EQ(a.scalars, scalars);
    ASSERT_EQ(a.ToWeights(), weights);
    ASSERT_EQ(a.sizes, sizes);
    ASSERT_TRUE(std::is_sorted(a.buckets.begin(), a.buckets.end(),
                               [](const auto& x, const auto& y) { return x.slot < y.slot; }));
  }
}

TEST(CompactRowTest, SaturatesAsTheDenseHistogramDoes) {
  const stats::Bucket half = {.count = std::uint64_t{1} << 63,
                              .sum = ~stats::Uint128{0} - 3,
                              .sum_of_squares = ~stats::Uint128{0} - 7};
  stats::CostHistogram dense;
  dense.SetBucket(64, half);
  CompactRow row;
  row.SetHistogram(dense);
  const CompactRow same = row;
  const stats::CostHistogram other = dense;
  dense.Merge(other);
  row.Add(same);
  EXPECT_TRUE(dense.saturated());
  EXPECT_TRUE(row.saturated);
  EXPECT_EQ(row.ToHistogram().bucket(64), dense.bucket(64));
}

}  // namespace
}  // namespace fieldcost::store
