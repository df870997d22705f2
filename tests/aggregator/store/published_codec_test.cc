#include "aggregator/store/published_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>

#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/aggregator/store/batches.h"

namespace fieldcost::store {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kQuarter = 2951;  // 227 * 13

CompactRow SumsOf(std::initializer_list<std::uint64_t> values) {
  stats::CostHistogram histogram;
  for (const std::uint64_t value : values) histogram.Add(value);
  CompactRow row;
  row.SetHistogram(histogram);
  row.scalars = stats::ScalarsOf(histogram);
  row.SetWeights(stats::WeightsOf(histogram));
  row.sizes = stats::SizesOf(histogram);
  return row;
}

// The worked example of aggregator/store/LAYOUT.md: two cuts, a removed one between them,
// and a class that has the first one.
PublishedKey ExampleKey() {
  return {.api = {.soname = "libz.so.1", .package_version = "1.3", .symbol = "crc32"},
          .metric = stats::Metric::kWallTime,
          .first_week = kQuarter};
}
PublishedUnit ExampleUnit() {
  PublishedUnit unit;
  unit.next_serial = 4;
  unit.seen = 9;
  unit.has_untracked = true;
  unit.week_calls[2] = 3;
  unit.week_calls[3] = 300;
  unit.waiting_weeks = 0b100;
  unit.waiting = {{.after_number = 40, .until_number = 50, .after_s = 1'000, .until_s = 1'600}};
  unit.cuts = {
      {.first_serial = 1,
       .last_serial = 1,
       .weeks = 0b100,
       .ranges = {{.until_number = 40, .until_s = 1'000}},
       .sums = SumsOf({3})},
      {.first_serial = 3,
       .last_serial = 3,
       .weeks = 0b1100,
       .ranges = {{.after_number = 50, .until_number = 350, .after_s = 1'600, .until_s = 2'000}},
       .sums = SumsOf({3, 7})}};
  unit.classes = {
      {.hardware = {.architecture = "x86_64", .log2_cores = 2},
       .seen = 6,
       .behind_from = 3,
       .parts = {{.ranges = {{.until_number = 40, .until_s = 1'000}}, .sums = SumsOf({3})}},
       .newcomers = {{.serial = 1, .moved_with = 1, .newcomers = 3},
                     {.serial = 3, .newcomers = 2}}}};
  unit.recent = {{.serial = 1, .is_whole = true}, {.serial = 3, .others = 1}};
  return unit;
}

std::string KeyBytes(const PublishedKey& key) {
  std::string bytes;
  AppendUnitKey(key, bytes);
  return bytes;
}

// A unit with everything in it.
PublishedUnit RandomUnit(std::mt19937_64& random) {
  PublishedUnit unit;
  const auto number = [&](std::uint64_t bound) { return random() % bound; };
  unit.seen = random() >> number(64);
  unit.has_untracked = number(2) == 0;
  for (std::uint64_t& calls : unit.week_calls) calls = number(3) == 0 ? random() >> number(64) : 0;
  CutRange range;
  const auto next_range = [&] {
    range.after_number = range.until_number;
    range.after_s = range.until_s;
    range.until_number += 1 + number(1'000'000);
    range.until_s += static_cast<std::uint32_t>(number(100'000));
    return range;
  };
  for (std::uint64_t cuts = 1 + number(kMaxLiveCuts); cuts > 0; --cuts) {
    if (number(4) == 0 && unit.waiting.empty()) unit.waiting.push_back(next_range());
    PublishedCut& cut = unit.cuts.emplace_back();
    cut.first_serial = unit.next_serial + static_cast<std::uint32_t>(number(3));
    cut.last_serial = cut.first_serial + static_cast<std::uint32_t>(number(3));
    unit.next_serial = cut.last_serial + 1;
    cut.weeks = static_cast<std::uint16_t>(1 + number(8191));
    cut.ranges = {next_range()};
    cut.sums = SumsOf({random() >> number(64), random() >> number(64)});
    const bool is_recent = number(2) == 0;
    if (is_recent) {
      unit.recent.push_back({.serial = cut.last_serial,
                             .is_whole = number(2) == 0,
                             .others = random() >> number(64)});
    }
  }
  for (std::uint64_t classes = 1 + number(kMaxTrackedClasses); classes > 0; --classes) {
    TrackedClass& tracked = unit.classes.emplace_back();
    tracked.hardware = {.architecture = "class" + std::to_string(100 + classes),
                        .cpu_family = std::string(number(10), 'f'),
                        .log2_cores = static_cast<std::uint32_t>(number(10)),
                        .os_release = "debian-12"};
    tracked.seen = random() >> number(64);
    tracked.behind_from = unit.cuts.back().last_serial;
    for (const PublishedCut& cut : unit.cuts) {
      if (number(3) == 0) continue;
      tracked.parts.push_back(
          {.ranges = cut.ranges,
           .sums = number(2) == 0 ? cut.sums : SumsOf({random() >> number(64)})});
    }
    for (const RecentCut& recent : unit.recent) {
      if (number(3) == 0) continue;
      tracked.newcomers.push_back({.serial = recent.serial,
                                   .moved_with = number(2) == 0 ? 0 : unit.next_serial - 1,
                                   .newcomers = random() >> number(64)});
    }
  }
  std::ranges::sort(unit.classes, {}, &TrackedClass::hardware);
  return unit;
}

TEST(PublishedCodecTest, TheWorkedExampleHasTheBytesOfTheGoldenFile) {
  const auto value = EncodePublishedUnit(ExampleUnit());
  ASSERT_TRUE(value.has_value()) << value.error().message;
  const WithdrawalMark mark{.withdrawal = 352, .record = 42, .weeks = 0b100};
  const auto golden =
      ReadFile(std::filesystem::path(FIELDCOST_TEST_DATA) / "published.golden", 64 * kKiB);
  ASSERT_TRUE(golden.has_value());
  EXPECT_EQ(HexEncode(UnitEntryKey(KeyBytes(ExampleKey()))) + "\n" + HexEncode(*value) + "\n" +
                HexEncode(MarkEntryKey(KeyBytes(ExampleKey()), mark.withdrawal)) + "\n" +
                HexEncode(EncodeMark(mark)) + "\n",
            *golden);
  EXPECT_EQ(DecodePublishedUnit(*value).value(), ExampleUnit());
  EXPECT_EQ(DecodeMark(EncodeMark(mark), 352).value(), mark);
}

TEST(PublishedCodecTest, UnitsComeBackAsTheyWere) {
  EXPECT_EQ(DecodePublishedUnit(EncodePublishedUnit(PublishedUnit()).value()).value(),
            PublishedUnit());
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const PublishedUnit unit = RandomUnit(random);
    ASSERT_TRUE(Validate(unit).has_value()) << i;
    const auto bytes = EncodePublishedUnit(unit);
    ASSERT_TRUE(bytes.has_value());
    const auto decoded = DecodePublishedUnit(*bytes);
    ASSERT_TRUE(decoded.has_value()) << i << ": " << decoded.error().message;
    ASSERT_EQ(*decoded, unit) << i;
  }
}

TEST(PublishedCodecTest, APartThatIsAWholeCutTakesOneByte) {
  PublishedUnit unit = ExampleUnit();
  const std::size_t with_part = EncodePublishedUnit(unit).value().size();
  const ClassPart part = std::exchange(unit.classes[0].parts, {}).front();
  EXPECT_EQ(EncodePublishedUnit(unit).value().size() + 1, with_part);
  unit.classes[0].parts = {{.ranges = part.ranges, .sums = SumsOf({2})}};
  EXPECT_GT(EncodePublishedUnit(unit).value().size(), with_part + 20);
  EXPECT_EQ(DecodePublishedUnit(EncodePublishedUnit(unit).value()).value(), unit);
}

TEST(PublishedCodecTest, NumbersAtTheirLimitsComeBack) {
  constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kMax32 = std::numeric_limits<std::uint32_t>::max();
  PublishedUnit unit;
  unit.next_serial = kMax32;
  unit.seen = kMax64;
  unit.week_calls.fill(kMax64);
  unit.waiting_weeks = 8191;
  unit.cuts = {{.first_serial = kMax32 - 1,
                .last_serial = kMax32 - 1,
                .weeks = 8191,
                .ranges = {{.until_number = kMax64, .until_s = kMax32}},
                .sums = SumsOf({1})}};
  unit.classes = {{.seen = kMax64, .behind_from = kMax32 - 1}};
  unit.classes[0].newcomers = {
      {.serial = kMax32 - 1, .moved_with = kMax32 - 1, .newcomers = kMax64}};
  unit.recent = {{.serial = kMax32 - 1, .others = kMax64}};
  EXPECT_EQ(DecodePublishedUnit(EncodePublishedUnit(unit).value()).value(), unit);
}

TEST(PublishedCodecTest, RefusesTruncatedAndLongerUnitsAndOtherVersions) {
  std::mt19937_64 random(2);
  const std::string good = EncodePublishedUnit(RandomUnit(random)).value();
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto unit = DecodePublishedUnit(good.substr(0, size));
    ASSERT_FALSE(unit.has_value()) << size;
    ASSERT_EQ(unit.error().code, ErrorCode::kCorrupt);
  }
  EXPECT_EQ(DecodePublishedUnit(good + '\0').error().code, ErrorCode::kCorrupt);
  for (const int version : {0, 2, 255}) {
    std::string other = good;
    other[0] = static_cast<char>(version);
    EXPECT_EQ(DecodePublishedUnit(other).error().code, ErrorCode::kUnsupported);
  }
  const std::string mark = EncodeMark({.withdrawal = 9, .record = 7, .weeks = 3});
  EXPECT_EQ(DecodeMark(mark.substr(0, 2), 9).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeMark(mark + "x", 9).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(DecodeMark(std::string("\1\7\0", 3), 9).error().code, ErrorCode::kCorrupt) << "no week";
  EXPECT_EQ(DecodeMark("\2" + mark.substr(1), 9).error().code, ErrorCode::kUnsupported);
}

TEST(PublishedCodecTest, AcceptsOnlyValidUnitsAfterAFlippedBit) {
  const std::string good = EncodePublishedUnit(ExampleUnit()).value();
  int decoded = 0;
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const auto unit = DecodePublishedUnit(bytes);
    if (!unit) continue;
    ++decoded;
    ASSERT_TRUE(Validate(*unit).has_value()) << bit;
    ASSERT_TRUE(EncodePublishedUnit(*unit).has_value()) << bit;
  }
  EXPECT_GT(decoded, 0);
}

// A decoder would refuse them, so they must not be written.
TEST(PublishedCodecTest, EncodesNothingBeyondItsLimits) {
  PublishedUnit unit = ExampleUnit();
  unit.cuts[0].last_serial = 3;
  EXPECT_EQ(EncodePublishedUnit(unit).error().code, ErrorCode::kInvalidArgument);

  unit = ExampleUnit();
  unit.classes[0].hardware.os_release = std::string(64, 'x');
  EXPECT_EQ(EncodePublishedUnit(unit).error().code, ErrorCode::kInvalidArgument);

  // Later records cannot be older. Validate() does not compare the times of parts.
  unit = ExampleUnit();
  unit.classes[0].parts[0].ranges = {
      {.after_number = 10, .until_number = 20, .after_s = 500, .until_s = 900},
      {.after_number = 30, .until_number = 40, .after_s = 800, .until_s = 1'000}};
  ASSERT_TRUE(Validate(unit).has_value());
  EXPECT_EQ(EncodePublishedUnit(unit).error().code, ErrorCode::kInvalidArgument);
  unit.classes[0].parts[0].ranges[1].after_s = 900;
  EXPECT_EQ(DecodePublishedUnit(EncodePublishedUnit(unit).value()).value(), unit);
}

TEST(PublishedCodecTest, KeysAreOrderedAsTheirUnitsAndSplitAgain) {
  std::vector<PublishedKey> keys;
  for (unsigned number = 0; number < 40; ++number) {
    for (const std::uint32_t week : {kQuarter, kQuarter + 13}) {
      const stats::RowKey row = TestKey(number);
      keys.push_back({.api = row.api, .metric = row.metric, .first_week = week});
    }
  }
  std::ranges::sort(keys);
  std::string before;
  for (const PublishedKey& key : keys) {
    const std::string bytes = KeyBytes(key);
    EXPECT_LT(before, bytes);
    before = bytes;
    PublishedKey again;
    ASSERT_TRUE(DecodeUnitKey(bytes, again).has_value());
    EXPECT_EQ(again, key);
    const std::string record_key = UnitEntryKey(bytes);
    const auto record = SplitEntryKey(record_key);
    ASSERT_TRUE(record.has_value());
    EXPECT_EQ(record->unit_key, bytes);
    EXPECT_EQ(record->withdrawal, std::nullopt);
    EXPECT_EQ(record->first_week, key.first_week);
    const std::string mark_key = MarkEntryKey(bytes, 258);
    const auto mark = SplitEntryKey(mark_key);
    ASSERT_TRUE(mark.has_value());
    EXPECT_EQ(mark->unit_key, bytes);
    EXPECT_EQ(mark->withdrawal, 258U);
    EXPECT_EQ(mark->first_week, key.first_week);
    EXPECT_LT(record_key, MarkEntryKey(KeyBytes(keys.front()), 0)) << "records come first";
  }
}

TEST(PublishedCodecTest, ARowBelongsToTheUnitOfItsQuarter) {
  stats::RowKey row = TestKey(3);
  for (const std::uint32_t week : {kQuarter, kQuarter + 5, kQuarter + 12}) {
    row.week = week;
    std::string bytes;
    AppendRowKey(row, bytes);
    EXPECT_EQ(UnitKeyOfRow(bytes),
              KeyBytes({.api = row.api, .metric = row.metric, .first_week = kQuarter}));
    EXPECT_EQ(WeekBitOfRow(bytes), 1U << (week - kQuarter));
  }
}

TEST(PublishedCodecTest, RefusesMalformedKeys) {
  const std::string good = KeyBytes(ExampleKey());
  PublishedKey key;
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(DecodeUnitKey(good.substr(0, size), key).error().code, ErrorCode::kCorrupt);
  }
  std::string other = good;
  other.back() = static_cast<char>(other.back() + 1);
  EXPECT_FALSE(DecodeUnitKey(other, key).has_value()) << "not the first week of a quarter";
  other = good;
  other[other.size() - 8] = 1;
  EXPECT_FALSE(DecodeUnitKey(other, key).has_value()) << "an unknown metric";
  for (const std::string& bytes : {std::string(), std::string("u"), "x" + good, std::string("w"),
                                   std::string("w12345678"), std::string("w123456789")}) {
    EXPECT_FALSE(SplitEntryKey(bytes).has_value()) << bytes;
  }
}

}  // namespace
}  // namespace fieldcost::store
