#include "common/draw/numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/spectrum.h"

namespace fieldcost::draw {
namespace {

using stats::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Style kPlain{};
constexpr Style kUtf8{.utf8 = true};

std::string Time(double value) { return FormatCost(value, Metric::kWallTime, kUtf8); }
std::string Bytes(double value) { return FormatCost(value, Metric::kAllocInclusive, kUtf8); }

TEST(NumbersTest, IndistinguishableTimesAreOneClass) {
  EXPECT_EQ(Time(0), "under 16 ns");
  EXPECT_EQ(Time(15.9), "under 16 ns");
  EXPECT_EQ(Time(16), "16 ns");
  EXPECT_EQ(FormatCost(7, Metric::kFirstCallTime, kUtf8), "under 16 ns");
  EXPECT_EQ(FormatCost(7, Metric::kCpuCycles, kUtf8), "7 cyc");
  EXPECT_EQ(Bytes(7), "7 B");
  EXPECT_EQ(FormatInterval(3, 7, " to ", Metric::kWallTime, kUtf8), "under 16 ns");
  EXPECT_EQ(FormatInterval(3, 20, " to ", Metric::kWallTime, kUtf8), "under 16 ns to 20 ns");
  stats::CostHistogram histogram;
  for (const std::uint64_t value : {0, 1, 4, 9, 15, 16}) histogram.Add(value);
  EXPECT_THAT(HistogramView(CountBars(histogram, Metric::kWallTime), Metric::kWallTime, kPlain),
              AllOf(StartsWith("under 16 ns    5 |@"), HasSubstr("\n16 ns - 32 ns  1 |@")));
}

TEST(NumbersTest, CostsHaveTwoSignificantDigitsAndAFittingUnit) {
  EXPECT_EQ(FormatSpread(0, Metric::kWallTime, kUtf8), "0 ns");
  EXPECT_EQ(FormatSpread(0.333, Metric::kWallTime, kUtf8), "0.33 ns");
  EXPECT_EQ(FormatSpread(7, Metric::kWallTime, kUtf8), "7 ns");
  EXPECT_EQ(FormatSpread(101.94e6, Metric::kWallTime, kUtf8, 4), "101.9 ms");
  EXPECT_EQ(FormatSpread(1000e6, Metric::kWallTime, kUtf8, 4), "1.000 s");
  EXPECT_EQ(FormatSpread(455'350, Metric::kAllocInclusive, kUtf8, 6), "444.678 KiB");
  EXPECT_EQ(FormatSpread(1023, Metric::kAllocInclusive, kUtf8, 4), "1023 B");
  EXPECT_EQ(FormatSpread(3.47, Metric::kWallTime, kUtf8), "3.5 ns");
  EXPECT_EQ(Time(123), "120 ns");
  EXPECT_EQ(Time(994), "990 ns");
  EXPECT_EQ(Time(996), "1.0 µs");
  EXPECT_EQ(Time(1234), "1.2 µs");
  EXPECT_EQ(Time(99'900), "100 µs");
  EXPECT_EQ(Time(12'345'678), "12 ms");
  EXPECT_EQ(Time(3.21e9), "3.2 s");
  EXPECT_EQ(Time(600e9), "10 min");
  EXPECT_EQ(Bytes(1000), "1000 B");
  EXPECT_EQ(Bytes(1024), "1.0 KiB");
  EXPECT_EQ(Bytes(1536), "1.5 KiB");
  EXPECT_EQ(Bytes(5.0 * 1048576), "5.0 MiB");
  EXPECT_EQ(FormatCost(1234, Metric::kCpuCycles, kUtf8), "1.2 kcyc");
  EXPECT_EQ(FormatCost(12, Metric::kCallsPerRun, kUtf8), "12 calls");
  EXPECT_EQ(FormatCost(3.4e6, Metric::kCallsPerRun, kUtf8), "3.4 M calls");
  EXPECT_EQ(FormatCost(1234, Metric::kFirstCallTime, kUtf8), "1.2 µs");
}

TEST(NumbersTest, CostsSideBySideShowTheirDifference) {
  EXPECT_EQ(DigitsToTell(100, 100), 2U);
  EXPECT_EQ(DigitsToTell(100, 200), 2U);
  EXPECT_EQ(DigitsToTell(100, 103), 4U);
  EXPECT_EQ(DigitsToTell(455'350, 455'360), 6U);
  EXPECT_EQ(DigitsToTell(1e9, 1e9 + 1), 6U);
  EXPECT_EQ(DigitsToTell(0, 5), 2U);
  EXPECT_EQ(DigitsToTell(-100, -103), 4U);
  for (int i = 1; i < 1000; ++i) {
    const double other = 500e3 + 7.0 * i;
    const unsigned digits = DigitsToTell(500e3, other);
    EXPECT_NE(FormatSpread(500e3, Metric::kWallTime, kUtf8, digits),
              FormatSpread(other, Metric::kWallTime, kUtf8, digits))
        << i;
  }
}

TEST(NumbersTest, WithoutUtf8MicrosecondsAreAscii) {
  EXPECT_EQ(FormatCost(1234, Metric::kWallTime, kPlain), "1.2 us");
}

TEST(NumbersTest, ShowsADashForNonNumbers) {
  EXPECT_EQ(Time(-1), "-");
  EXPECT_EQ(Time(0.0 / 0.0), "-");
  EXPECT_EQ(Time(1e308 * 10), "-");
}

TEST(NumbersTest, SumsAreExact) {
  EXPECT_EQ(Decimal(0), "0");
  EXPECT_EQ(Decimal(~stats::Uint128{0}), "340282366920938463463374607431768211455");
}

TEST(NumbersTest, FormatsSharesAndRoughSharesWithTwoDigits) {
  EXPECT_EQ(ShareText(0.12345), "12.3 %");
  EXPECT_EQ(ShareText(1, 3), "33.3 %");
  EXPECT_EQ(ShareText(0, 0), "0.0 %");
  EXPECT_EQ(RoughShareText(0), "0 %");
  EXPECT_EQ(RoughShareText(0.0009), "<0.1 %");
  EXPECT_EQ(RoughShareText(0.00123), "0.12 %");
  EXPECT_EQ(RoughShareText(0.0994), "9.9 %");
  EXPECT_EQ(RoughShareText(0.1235), "12 %");
}

TEST(NumbersTest, ShowsADashForUnknownCounts) {
  EXPECT_EQ(Counted(std::optional<std::uint64_t>(1), "call"), "1 call");
  EXPECT_EQ(Counted(std::optional<std::uint64_t>(1000), "batch", "batches"), "1,000 batches");
  EXPECT_EQ(Counted(std::nullopt, "call"), "- calls");
}

TEST(NumbersTest, DurationsHaveFourDigits) {
  const Style utf8{.utf8 = true};
  EXPECT_EQ(DurationText(0, utf8), "0 ns");
  EXPECT_EQ(DurationText(999, utf8), "999 ns");
  EXPECT_EQ(DurationText(1'234, utf8), "1.234 µs");
  EXPECT_EQ(DurationText(1'234, {}), "1.234 us");
  EXPECT_EQ(DurationText(12'345'678, utf8), "12.35 ms");
  EXPECT_EQ(DurationText(999'900'000, utf8), "999.9 ms");
  EXPECT_EQ(DurationText(999'960'000, utf8), "1.000 s");
  EXPECT_EQ(DurationText(90e9, utf8), "1.500 min");
  EXPECT_EQ(DurationText(7.2e12, utf8), "2.000 h");
  EXPECT_EQ(DurationText(3.6e16, utf8), "10000 h");
}

TEST(NumbersTest, TimesAndAgesAreForPeople) {
  const WallTime time{std::chrono::seconds(1'700'000'000)};
  EXPECT_EQ(FormatTime(time), "2023-11-14 22:13 UTC");
  EXPECT_EQ(FormatTime(WallTime{}), "never");
  EXPECT_EQ(FormatAge(time, time + std::chrono::seconds(59)), "just now");
  EXPECT_EQ(FormatAge(time, time + std::chrono::minutes(1)), "1 minute ago");
  EXPECT_EQ(FormatAge(time, time + std::chrono::hours(47)), "47 hours ago");
  EXPECT_EQ(FormatAge(time, time + std::chrono::hours(72)), "3 days ago");
}

TEST(FormatBoundTest, PowersOfTwoAreWrittenInFull) {
  const auto bytes = [](double value) {
    return FormatBound(value, stats::Metric::kAllocInclusive, {});
  };
  const auto time = [](double value) { return FormatBound(value, stats::Metric::kWallTime, {}); };
  EXPECT_EQ(bytes(64) + " " + bytes(128) + " " + bytes(512) + " " + bytes(1024),
            "64 B 128 B 512 B 1 KiB");
  EXPECT_EQ(bytes(1023), "1 KiB");  // a bucket's maximum, as the end of a half-open interval
  EXPECT_EQ(bytes(524288), "512 KiB");
  EXPECT_EQ(bytes(1000), "1000 B");
  EXPECT_EQ(time(128) + " " + time(511) + " " + time(1024), "128 ns 512 ns 1.0 us");
  EXPECT_EQ(time(130) + " " + time(8), "130 ns under 16 ns");
  EXPECT_EQ(FormatInterval(64, 127, " - ", stats::Metric::kWallTime, {}), "64 ns - 128 ns");
}

}  // namespace
}  // namespace fieldcost::draw
