#include "tools/lsp/cost_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/catalog/publisher.h"
#include "tests/common/stats/published_row.h"
#include "tools/lsp/protocol.h"
#include "tools/report/link_template.h"

namespace fieldcost::lsp {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::MakeRow;
using ::testing::Not;
using ::testing::StartsWith;

constexpr WallTime kNow{std::chrono::hours(24 * 20'000)};

catalog::Freshness SomeFreshness(bool synthetic = false) {
  return {.snapshot_version = 7,
          .snapshot_published = kNow - std::chrono::hours(48),
          .last_sync = kNow,
          .fragments_total = 4,
          .fragments_present = 4,
          .fragments_current = 3,
          .synthetic = synthetic,
          .snapshot_expires = kNow + std::chrono::hours(48),
          .is_complete = true};
}

std::string Text(const std::vector<ApiCosts>& costs, bool markdown, bool synthetic = false,
                 std::string_view url = "") {
  return CostText(costs, SomeFreshness(synthetic),
                  {.markdown = markdown,
                   .now = kNow,
                   .link = report::FillUntrustedLink(url, costs.front().api)});
}

TEST(CostTextTest, AHoverShowsTheCostAndItsBasis) {
  const ApiCosts costs =
      MakeCosts({MakeRow("libx.so.1", "open_it", 300, 1500),
                 MakeRow("libx.so.1", "open_it", 300, 2048, stats::Metric::kAllocInclusive),
                 MakeRow("libx.so.1", "open_it", 300, 4096, stats::Metric::kDiskRead)});
  EXPECT_EQ(Text({costs}, false, false, "https://costs.example/api/{api}?from=editor"),
            "open_it: typically 1.5 µs a call\n"
            "\n"
            "- p50 1.5 µs (guaranteed 1.0 µs to 2.0 µs)\n"
            "- p95 1.5 µs (guaranteed 1.0 µs to 2.0 µs)\n"
            "- p99 1.5 µs (guaranteed 1.0 µs to 2.0 µs)\n"
            "- cheap █                        expensive\n"
            "- allocates 2.0 KiB a call on average (p99 2.0 KiB (guaranteed 2 KiB to 4 KiB))\n"
            "- reads and writes 4.0 KiB a call on average, files and network\n"
            "- n = 300 calls in 1 contribution; all classes, all weeks; under low load\n"
            "- libx.so.1 1.2-3\n"
            "- catalogue: snapshot 7, published 2024-10-02 00:00 UTC (2 days ago), 3 of 4 "
            "fragments current\n"
            "\n"
            "Details: https://costs.example/api/libx.so.1!open_it?from=editor\n");
}

TEST(CostTextTest, MadeUpDataIsLabelledWhereverACostStands) {
  const ApiCosts costs = MakeCosts({MakeRow("libx.so.1", "open_it", 300, 5'000'000)});
  EXPECT_THAT(Text({costs}, false, true), HasSubstr("SYNTHETIC"));
  EXPECT_THAT(Text({costs}, true, true), HasSubstr("**SYNTHETIC**"));
  EXPECT_EQ(ShortCost(costs, SomeFreshness(true)), "5.0 ms (synthetic)");
  EXPECT_EQ(HintText(costs, SomeFreshness(true), {}), "5.0 ms (synthetic)");
  EXPECT_EQ(StatusText(SomeFreshness(true), kNow), "fieldcost: 2 days ago (synthetic)");
  EXPECT_THAT(Text({costs}, false), Not(HasSubstr("SYNTHETIC")));
}

TEST(CostTextTest, AnExpiredCatalogueIsStillShownAndMarked) {
  const ApiCosts costs = MakeCosts({MakeRow("libx.so.1", "open_it", 300, 5'000'000)});
  catalog::Freshness freshness = SomeFreshness();
  freshness.snapshot_expires = kNow - std::chrono::hours(1);
  EXPECT_THAT(CostText({costs}, freshness, {.now = kNow}),
              HasSubstr("; out of date since 2024-10-03 23:00 UTC: fieldcost sync"));
  EXPECT_EQ(StatusText(freshness, kNow), "fieldcost: 2 days ago (expired)");
}

TEST(CostTextTest, AnIncompleteCatalogueIsStillShownAndMarked) {
  const ApiCosts costs = MakeCosts({MakeRow("libx.so.1", "open_it", 300, 5'000'000)});
  catalog::Freshness freshness = SomeFreshness();
  freshness.is_complete = false;
  EXPECT_THAT(CostText({costs}, freshness, {.now = kNow}),
              HasSubstr("3 of 4 fragments current (incomplete: fieldcost sync)\n"));
  EXPECT_EQ(StatusText(freshness, kNow), "fieldcost: 2 days ago (incomplete)");
}

TEST(CostTextTest, HostileNamesStayInsideTheirCodeSpan) {
  const ApiCosts costs = MakeCosts({MakeRow("libx.so.1", "A<\"><img>``x`](http://evil)", 3, 5)});
  EXPECT_THAT(Text({costs}, true), HasSubstr("``` A<\"><img>``x`](http://evil) ```: typically"));
  stats::StatRow row = MakeRow("libx.so.1", "f", 3, 5);
  row.key.hardware.architecture = "[x](http://evil)";
  EXPECT_THAT(Text({MakeCosts({row})}, true), Not(HasSubstr("[x](http")));
  EXPECT_EQ(Code("a\n\x1b[31mb", true), "`a\\x0a\\x1b[31mb`");
  EXPECT_EQ(Code("a`b", false), "a`b");
}

TEST(CostTextTest, OverloadsStandTogetherByTheirSourceNames) {
  const std::string text =
      Text({MakeCosts({MakeRow("libcv.so.4", "_ZN2cv6resizeEii", 50, 3000)}),
            MakeCosts({MakeRow("libcv.so.4", "_ZN2cv6resizeEd", 50, 400'000)})},
           true);
  EXPECT_THAT(text,
              AllOf(::testing::StartsWith("`cv::resize(int, int)`: typically **3.0 µs** a call"),
                    HasSubstr("- also `cv::resize(double)`: typically **400 µs** a call")));
}

TEST(CostTextTest, TheInstalledVersionIsShownElseTheNewestAndOthersAreNamed) {
  std::vector<stats::StatRow> rows;
  for (const auto& [version, ns] : {std::pair("1.2-3", 1500), {"1.3-1", 3000}, {"1.10-1", 6000}}) {
    rows.push_back(MakeRow("libx.so.1", "open_it", 300, static_cast<std::uint64_t>(ns)));
    rows.back().key.api.package_version = version;
  }
  EXPECT_THAT(Text({MakeCosts(rows, "1.3-1")}, false),
              AllOf(StartsWith("open_it: typically 3.0 µs a call"),
                    HasSubstr("- libx.so.1 1.3-1, installed here\n"),
                    HasSubstr("other versions: 1.10-1 p50 6.0 µs, 1.2-3 p50 1.5 µs")));
  for (const char* const installed : {"", "1.4-1"}) {
    EXPECT_THAT(Text({MakeCosts(rows, installed)}, false),
                AllOf(StartsWith("open_it: typically 6.0 µs a call"),
                      HasSubstr("- libx.so.1 1.10-1, the newest known\n")));
  }
  EXPECT_THAT(Text({MakeCosts(rows, "1.4-1")}, true),
              HasSubstr("- installed here: `1.4-1`, whose costs are not known\n"));
  rows.resize(1);
  EXPECT_THAT(Text({MakeCosts(rows, "1.2-3")}, false),
              HasSubstr("- libx.so.1 1.2-3, installed here\n"))
      << "the only version";
}

TEST(CostTextTest, HintsAppearOnlyAboveTheirThresholds) {
  const ApiCosts cheap = MakeCosts({MakeRow("libx.so.1", "f", 100, 99'000)});
  const ApiCosts dear = MakeCosts({MakeRow("libx.so.1", "f", 100, 2'500'000)});
  EXPECT_EQ(HintText(cheap, SomeFreshness(), {}), "");
  EXPECT_EQ(HintText(dear, SomeFreshness(), {}), "2.5 ms");
  EXPECT_EQ(HintText(dear, SomeFreshness(), {.hint_calls = false}), "");
  EXPECT_EQ(HintText(cheap, SomeFreshness(), {.calls_min_us = 50}), "99 µs");

  stats::StatRow tail = MakeRow("libx.so.1", "f", 950, 10'000);
  for (int i = 0; i < 50; ++i) tail.histogram.Add(20'000'000);
  tail = testing::AsPublished(tail);
  EXPECT_EQ(HintText(MakeCosts({tail}), SomeFreshness(), {}), "p99 20 ms");
  EXPECT_EQ(HintText(MakeCosts({tail}), SomeFreshness(), {.hint_tail = false}), "");
  EXPECT_EQ(HintText(MakeCosts({tail}), SomeFreshness(), {.tail_min_ratio = 5000}), "");

  const ApiCosts hungry =
      MakeCosts({MakeRow("libx.so.1", "f", 9, 64 * 1024, stats::Metric::kAllocInclusive)});
  EXPECT_EQ(HintText(hungry, SomeFreshness(), {}), "allocates 64 KiB");
  EXPECT_EQ(HintText(hungry, SomeFreshness(), {.hint_allocation = false}), "");
  const ApiCosts chatty = MakeCosts({MakeRow("libx.so.1", "f", 9, 3000, stats::Metric::kDiskRead),
                                     MakeRow("libx.so.1", "f", 9, 3000, stats::Metric::kNetSent)});
  EXPECT_EQ(HintText(chatty, SomeFreshness(), {}), "I/O 5.9 KiB");
  EXPECT_EQ(HintText(chatty, SomeFreshness(), {.io_min_kib = 6}), "");
}

TEST(CostTextTest, AHoverNamesWhatIsNotMeasured) {
  const ApiCosts costs = MakeCosts(
      {MakeRow("libx.so.1", "open_it", 300, 1500),
       MakeRow("libx.so.1", "open_it", 3, shm::kDiskInsideLibc, stats::Metric::kNotMeasured)});
  EXPECT_THAT(Text({costs}, false), HasSubstr("- not measured: disk_read, disk_written: libc"));
  EXPECT_THAT(Text({costs}, false), Not(HasSubstr("reads and writes")));
}

}  // namespace
}  // namespace fieldcost::lsp
