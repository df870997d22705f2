#include "tools/report/cost_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/draw/html.h"
#include "common/draw/numbers.h"
#include "common/draw/svg.h"
#include "tests/tools/report/page_check.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {
namespace {

using stats::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

stats::StatRow Row(const std::string& symbol, Metric metric,
                   const std::vector<std::uint64_t>& values) {
  stats::StatRow row;
  row.key.api = {"libz.so.1", "1:1.2.13", "00ff", symbol, "ZLIB_1.2"};
  row.key.metric = metric;
  for (const std::uint64_t value : values) row.histogram.Add(value);
  return row;
}

CostPageContent Content(const std::vector<stats::StatRow>& rows) {
  return {.made = WallTime{std::chrono::seconds(1'700'000'000)},
          .facts = {{"Mode", "on since 2023-11-01 08:00 UTC"}, {"Sent", "2 batches"}},
          .summaries = analysis::Summarise(rows, stats::Whose::kOwn),
          .waiting = {}};
}

TEST(CostPageTest, ThePageIsTheGoldenOne) {
  // The widest content: a C++ name, a build-id, all buckets from nanoseconds to a minute, and long
  // labels.
  std::vector<std::uint64_t> all;
  for (unsigned power = 3; power < 36; ++power) all.insert(all.end(), power, 3ULL << power);
  stats::StatRow parse = Row(
      "_ZN4Json6Reader5parseERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERNS_5ValueEb",
      Metric::kWallTime, all);
  parse.key.api.soname = "libjsoncpp.so.25";
  parse.key.api.package_version = "1.9.5-4+b1~bpo12+20261121";
  parse.key.api.build_id = std::string(20, 'a') + std::string(20, '7');
  const std::string page =
      CostPage(Content({Row("deflate", Metric::kWallTime, {900, 1500, 1600, 5000, 70'000}),
                        Row("deflate", Metric::kAllocInclusive, {0, 0, 4096}),
                        Row("deflate", Metric::kCallsPerRun, {2500, 3000, 900'000}),
                        Row("crc32", Metric::kWallTime, {12}), parse}));
  EXPECT_EQ(page, Golden("cost_page.golden.html", page));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(CostPageTest, HostileNamesStayText) {
  CostPageContent content = Content({Row(kEvil, Metric::kWallTime, {5})});
  content.summaries[0].api.soname = kEvil;
  content.summaries[0].api.package_version = kEvil;
  content.facts.push_back({kEvil, kEvil});
  const std::string page = CostPage(content);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                          HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;"),
                          HasSubstr("\\x1b")));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(CostPageTest, WithoutMeasurementsThePageExplainsHowToGetThem) {
  const std::string page = CostPage(Content({}));
  EXPECT_THAT(page, HasSubstr("fieldcost run -- PROGRAM"));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(CostPageTest, FunctionsThatWaitAreNamedBelow) {
  CostPageContent content = Content({Row("deflate", Metric::kWallTime, {900})});
  content.waiting = {"poll", kEvil};
  std::string page = CostPage(content);
  EXPECT_THAT(page, HasSubstr("waiting: 2 functions set apart, since waiting is not a cost: "));
  EXPECT_THAT(PageProblems(page), IsEmpty());
  content.summaries.clear();
  page = CostPage(content);
  EXPECT_THAT(
      page, AllOf(HasSubstr("waiting: 2 functions"), Not(HasSubstr("Nothing has been measured"))));
}

TEST(CostPageTest, ManyApisAreCutAndCounted) {
  std::vector<stats::StatRow> rows;
  for (std::size_t i = 0; i < kMaxPageApis + 2; ++i) {
    rows.push_back(Row("f" + std::to_string(i), Metric::kWallTime, {i}));
  }
  const std::string page = CostPage(Content(rows));
  EXPECT_THAT(page, HasSubstr("400 of 402 APIs."));
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"api400\""), Not(HasSubstr("id=\"api401\""))));
  EXPECT_THAT(PageProblems(page), IsEmpty());
}

TEST(CostPageTest, TheCheckFindsWhatMustNotBeThere) {
  EXPECT_THAT(PageProblems("<p><img src=\"https://example.org/x\">"),
              AllOf(HasSubstr("<img> must not"), HasSubstr("attribute src"),
                    HasSubstr("does not forbid everything else"), HasSubstr("not closed")));
}

TEST(SvgTest, EveryUsedBucketIsABar) {
  stats::CostHistogram histogram;
  EXPECT_EQ(draw::SpectrumSvg(draw::CountBars(histogram, Metric::kWallTime), Metric::kWallTime),
            "");
  EXPECT_EQ(
      draw::HistogramSvg(draw::CountBars(histogram, Metric::kWallTime), Metric::kWallTime, "a"),
      "");
  for (const std::uint64_t value : {16, 32, 32, 32, 32, 128}) histogram.Add(value);
  EXPECT_EQ(
      draw::SpectrumSvg(draw::CountBars(histogram, Metric::kWallTime), Metric::kWallTime),
      "<svg role=\"img\" aria-label=\"from 16 ns to 256 ns, most at 32 ns – 64 ns\" width=\"27\" "
      "height=\"24\" viewBox=\"0 0 27 24\"><title>from 16 ns to 256 ns, most at 32 ns – 64 ns"
      "</title><rect x=\"0\" y=\"18\" width=\"6\" height=\"6\" fill=\"#4d69a6\"/>"
      "<rect x=\"7\" y=\"0\" width=\"6\" height=\"24\" fill=\"#536fa7\"/>"
      "<rect x=\"21\" y=\"18\" width=\"6\" height=\"6\" fill=\"#6179a7\"/></svg>");
}

TEST(SvgTest, SpectraOfOneRangeStandUnderTheirScale) {
  stats::CostHistogram cheap;
  cheap.Add(100);
  stats::CostHistogram dear;
  dear.Add(3'000'000);
  const draw::Bars bars = draw::CountBars(cheap, Metric::kWallTime);
  const auto range = draw::Join(draw::FindUsedSlots(bars),
                                draw::FindUsedSlots(draw::CountBars(dear, Metric::kWallTime)));
  EXPECT_THAT(draw::TicksOf(*range, Metric::kWallTime), ::testing::ElementsAre(1e3, 1e6));
  // The slots from 64 ns to 4.2 ms are 16 columns of 7 pixels; the first one has all calls.
  EXPECT_THAT(draw::SpectrumSvgOver(bars, *range, Metric::kWallTime),
              AllOf(HasSubstr("width=\"111\""), HasSubstr("<rect x=\"0\" y=\"0\"")));
  EXPECT_THAT(draw::SpectrumScaleSvg(*range, Metric::kWallTime),
              AllOf(HasSubstr("width=\"111\""), HasSubstr(">1 µs</text>"),
                    HasSubstr(">1 ms</text>"), Not(HasSubstr(">1 s</text>"))));
}

TEST(SvgTest, ALongLabelHasRoom) {
  stats::CostHistogram histogram;
  histogram.Add(3000);
  // "2.0 k calls – 4.1 k calls" has 25 letters of 8.5 pixels, left of the bar.
  EXPECT_THAT(draw::HistogramSvg(draw::CountBars(histogram, Metric::kCallsPerRun),
                                 Metric::kCallsPerRun, "f"),
              AllOf(HasSubstr("<text x=\"213\" y=\"15\" text-anchor=\"end\""),
                    HasSubstr("<rect x=\"221\"")));
}

TEST(SvgTest, AHeatMapHasALineAVersionOnOneScale) {
  stats::CostHistogram older;
  older.Add(100);
  stats::CostHistogram newer;
  for (const std::uint64_t value : {100, 900, 900, 900}) newer.Add(value);
  const std::vector<draw::HeatLine> lines = {{"<2.0>", draw::CountBars(newer, Metric::kWallTime)},
                                             {"1.0", draw::CountBars(older, Metric::kWallTime)}};
  EXPECT_THAT(draw::HeatMapSvg(lines, Metric::kWallTime, "f"),
              AllOf(HasSubstr("&lt;2.0&gt;: 512 ns – 1.0 µs, 75.0 %"),
                    HasSubstr("&lt;2.0&gt;: 64 ns – 128 ns, 25.0 %"),
                    HasSubstr("<title>1.0: 64 ns – 128 ns, 100.0 %"), Not(HasSubstr("<2.0>"))));
  EXPECT_EQ(draw::HeatMapSvg({}, Metric::kWallTime, "f"), "");
}

TEST(NumbersTest, DescribesAMachinesClassInWords) {
  EXPECT_EQ(draw::HardwareText({}), "all classes");
  EXPECT_EQ(draw::HardwareText({"x86_64", "GenuineIntel-6", 1, 14, "debian-12"}),
            "Intel, 2 cores, 16 GiB, Debian 12");
  EXPECT_EQ(draw::HardwareText({"x86_64", "AuthenticAMD-25", 0, 9, "ubuntu-22.04"}),
            "AMD family 25, 1 core, 512 MiB, Ubuntu 22.04");
  EXPECT_EQ(draw::HardwareText({"aarch64", "", 70, 70, ""}), "aarch64");
}

TEST(HtmlTest, MarkupAndControlCharactersBecomeText) {
  EXPECT_EQ(draw::EscapeHtml("a<b>&\"'\x01\n"), "a&lt;b&gt;&amp;&quot;&#39;\\x01\\x0a");
  EXPECT_EQ(draw::EscapeHtml("µ"), "µ");
}

}  // namespace
}  // namespace fieldcost::report
