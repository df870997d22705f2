#include "common/draw/spectrum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "common/draw/terminal.h"
#include "tests/common/draw/luminance.h"

namespace fieldcost::draw {
namespace {

using stats::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Luminance;
using ::testing::StartsWith;

constexpr Style kPlain{};
constexpr Style kUtf8{.utf8 = true};
constexpr Style kColor{.utf8 = true, .color = ColorDepth::kTrue};

TEST(SpectrumTest, HeightIsCountOverTheUsedRange) {
  stats::CostHistogram histogram;
  for (int i = 0; i < 1; ++i) histogram.Add(4);
  for (int i = 0; i < 80; ++i) histogram.Add(8);
  for (int i = 0; i < 40; ++i) histogram.Add(32);
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 6, kUtf8), "▁█ ▄  ");
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 6, kPlain), ".@ +  ");
}

TEST(SpectrumTest, AWideRangeIsJoinedToFit) {
  stats::CostHistogram histogram;
  for (unsigned power = 0; power < 64; ++power) histogram.Add(std::uint64_t{1} << power);
  EXPECT_EQ(DisplayWidth(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 16, kUtf8)), 16U);
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 16, kPlain),
            "@@@@@@@@@@@@@@@@");
  histogram.Add(0);  // 65 slots in 16 columns: 5 each, 13 columns
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 16, kPlain),
            "@@@@@@@@@@@@@   ");
}

TEST(SpectrumTest, AnEmptyHistogramIsBlank) {
  EXPECT_EQ(Spectrum({}, 5, kColor), "     ");
  EXPECT_EQ(HistogramView({}, Metric::kWallTime, kPlain), "");
}

TEST(SpectrumTest, ColoursRiseInLightnessFromBucketToBucket) {
  for (unsigned slot = 1; slot <= 31; ++slot) {
    EXPECT_GT(Luminance(BucketColor(slot)), Luminance(BucketColor(slot - 1))) << slot;
  }
  // Red and green hardly differ, so readers who cannot distinguish them miss nothing.
  for (unsigned slot = 0; slot <= 31; ++slot) {
    const Rgb color = BucketColor(slot);
    EXPECT_LE(std::abs(int{color.red} - int{color.green}), 45) << slot;
  }
  // Visible on both white and black pages: a contrast of at least 1.25 : 1.
  EXPECT_GT(1.05 / (Luminance(BucketColor(31)) + 0.05), 1.25);
  EXPECT_GT((Luminance(BucketColor(0)) + 0.05) / 0.05, 2.0);
  EXPECT_EQ(BucketColor(64).red, BucketColor(31).red);
}

TEST(SpectrumTest, ColourAddsEscapesAndNothingElse) {
  stats::CostHistogram histogram;
  histogram.Add(1);
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 1, kColor),
            "\x1b[38;2;51;84;164m█\x1b[0m");
  EXPECT_EQ(Spectrum(CountBars(histogram, Metric::kAllocInclusive), 1,
                     {.utf8 = true, .color = ColorDepth::k256}),
            "\x1b[38;5;67m█\x1b[0m");
}

TEST(HistogramViewTest, ABucketALineWithBoundsAsCostsAreWritten) {
  stats::CostHistogram histogram;
  histogram.Add(0);
  for (int i = 0; i < 40; ++i) histogram.Add(1);
  for (int i = 0; i < 20; ++i) histogram.Add(5);
  const Metric metric = Metric::kAllocInclusive;
  EXPECT_EQ(HistogramView(CountBars(histogram, metric), metric, kPlain),
            "0 B         1 |                                    |\n"
            "1 B        40 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|\n"
            "2 B - 4 B   0 |                                    |\n"
            "4 B - 8 B  20 |@@@@@@@@@@@@@@@@@@                  |\n");
  stats::CostHistogram large;
  large.Add(1024);
  large.Add(~std::uint64_t{0});
  EXPECT_THAT(HistogramView(CountBars(large, metric), metric, kPlain),
              AllOf(StartsWith("1 KiB - 2 KiB "), HasSubstr("\n8192 PiB - 16384 PiB ")));
}

TEST(HistogramViewTest, TheWidestOneFits80Columns) {
  stats::CostHistogram calls;
  calls.Add(1);
  for (int i = 0; i < 100; ++i) calls.Add(150'000);
  const std::string text =
      HistogramView(CountBars(calls, Metric::kCallsPerRun), Metric::kCallsPerRun, kUtf8);
  EXPECT_LE(DisplayWidth(text.substr(0, text.find('\n'))), 76U) << text;  // indented by 4
}

}  // namespace
}  // namespace fieldcost::draw
