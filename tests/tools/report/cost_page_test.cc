#include "tools/report/cost_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "common/base/file.h"
#include "common/draw/html.h"
#include "common/draw/svg.h"
#include "tests/support/process.h"
#include "tools/analysis/summary.h"

namespace fieldcost::report {
namespace {

using stats::Metric;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::size_t kMaxGoldenBytes = 1 << 20;

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
          .summaries = analysis::Summarise(rows, stats::Whose::kOwn)};
}

// What is wrong with the page; see check_page.py.
std::string Problems(const std::string& page) {
  const testing::ProcessResult result = testing::RunProcess(
      {.arguments = {"python3", FIELDCOST_TEST_DIR "/check_page.py"}, .input = page});
  EXPECT_EQ(result.exit_status, 0) << result.errors;
  return result.output;
}

TEST(CostPageTest, ThePageIsTheGoldenOne) {
  const std::string page =
      CostPage(Content({Row("deflate", Metric::kWallTime, {900, 1500, 1600, 5000, 70'000}),
                        Row("deflate", Metric::kAllocInclusive, {0, 0, 4096}),
                        Row("crc32", Metric::kWallTime, {12})}));
  const std::string path = FIELDCOST_TEST_DIR "/cost_page.golden.html";
  if (std::getenv("FIELDCOST_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(path, page, 0644));
  }
  const auto golden = ReadFile(path, kMaxGoldenBytes);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_EQ(page, *golden);
  EXPECT_THAT(Problems(page), IsEmpty());
}

TEST(CostPageTest, HostileNamesStayText) {
  const std::string evil = "A<\"><img src=x onerror=alert(1)>'&\x1b";
  CostPageContent content = Content({Row(evil, Metric::kWallTime, {5})});
  content.summaries[0].api.soname = evil;
  content.summaries[0].api.package_version = evil;
  content.facts.push_back({evil, evil});
  const std::string page = CostPage(content);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("\x1b")),
                          HasSubstr("A&lt;&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&#39;&amp;"),
                          HasSubstr("\\x1b")));
  EXPECT_THAT(Problems(page), IsEmpty());
}

TEST(CostPageTest, WithoutMeasurementsItSaysHowToGetThem) {
  const std::string page = CostPage(Content({}));
  EXPECT_THAT(page, HasSubstr("fieldcost run -- PROGRAM"));
  EXPECT_THAT(Problems(page), IsEmpty());
}

TEST(CostPageTest, ManyApisAreCutAndCounted) {
  std::vector<stats::StatRow> rows;
  for (std::size_t i = 0; i < kMaxPageApis + 2; ++i) {
    rows.push_back(Row("f" + std::to_string(i), Metric::kWallTime, {i}));
  }
  const std::string page = CostPage(Content(rows));
  EXPECT_THAT(page, HasSubstr("400 of 402 APIs."));
  EXPECT_THAT(page, AllOf(HasSubstr("id=\"api400\""), Not(HasSubstr("id=\"api401\""))));
  EXPECT_THAT(Problems(page), IsEmpty());
}

TEST(CostPageTest, TheCheckFindsWhatMustNotBeThere) {
  EXPECT_THAT(Problems("<p><img src=\"https://example.org/x\">"),
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
      "<svg role=\"img\" aria-label=\"from 16 ns to 260 ns, most at 32 ns – 64 ns\" width=\"27\" "
      "height=\"24\" viewBox=\"0 0 27 24\"><title>from 16 ns to 260 ns, most at 32 ns – 64 ns"
      "</title><rect x=\"0\" y=\"18\" width=\"6\" height=\"6\" fill=\"#4d69a6\"/>"
      "<rect x=\"7\" y=\"0\" width=\"6\" height=\"24\" fill=\"#536fa7\"/>"
      "<rect x=\"21\" y=\"18\" width=\"6\" height=\"6\" fill=\"#6179a7\"/></svg>");
}

TEST(HtmlTest, MarkupAndControlCharactersBecomeText) {
  EXPECT_EQ(draw::EscapeHtml("a<b>&\"'\x01\n"), "a&lt;b&gt;&amp;&quot;&#39;\\x01\\x0a");
  EXPECT_EQ(draw::EscapeHtml("µ"), "µ");
}

}  // namespace
}  // namespace fieldcost::report
