#include "tools/report/idle/idle_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/common/idle/idle_recording.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/report/page_check.h"
#include "tools/report/page_assets.h"
#include "tools/report/tree/page_data.h"

namespace fieldcost::report {
namespace {

using recording::Recording;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IdleRecorder;
using ::testing::Not;

constexpr std::uint64_t kMs = 1'000'000;

class IdlePageTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "a.fct"; }

  std::string Page(const std::vector<std::string>& remarks = {}) const {
    const Recording recording = Recording::Open(file()).value();
    const std::vector<recording::Interval> parts = {{}};
    const analysis::IdleView view = analysis::MakeIdleView(recording, parts).value();
    return IdlePageHtml(
        {.view = view,
         .untrusted_operand = kEvil,
         .untrusted_remarks = remarks,
         .timeline = analysis::MakeIdleTimeline(recording, parts, kIdlePageBins).value(),
         .to = Tree(recording, idle::kToIdle),
         .from = Tree(recording, idle::kFromIdle)});
  }

  static tree::MeanTree Tree(const Recording& recording, std::string_view metric) {
    const auto& metrics = recording.contents().descriptions.metrics;
    const std::size_t index = tree::FindMetric(metrics, metric).value();
    const tree::RunValues all = recording.Values({}).value();
    tree::RunValues values(1);
    const auto column = all.column(index);
    std::ranges::copy(column, values.MutableColumn(0, column.size()).begin());
    return tree::Average(
               tree::TreeOf(recording.contents().dictionary, {metrics[index]}, {&values, 1})
                   .value())
        .value();
  }

  testing::TempDir directory_;
};

TEST_F(IdlePageTest, EscapesForeignTextInMarkup) {
  IdleRecorder recorder(file(), {.mode = idle::Mode::kLiteral, .tick_ns = kMs, .why = kEvil});
  const std::string evil = std::string("app!") + kEvil;
  recorder.Add({.to_ns = 5 * kMs,
                .to = "app!main;" + evil + ";[lock]",
                .from = evil + ";[sleep]",
                .waker = evil});
  recorder.AddCpuIdle("[CPU 0];[<script>]", 6 * kMs, 1);
  recorder.Close();
  const std::string page = Page({kEvil});
  EXPECT_EQ(ScriptedPageProblems(page), "");
  EXPECT_THAT(page,
              AllOf(HasSubstr("&lt;img src=x"), Not(HasSubstr("<img")), HasSubstr("unknown")));
}

TEST_F(IdlePageTest, TheNumbersAreThoseOfTheRecording) {
  IdleRecorder recorder(file());
  recorder.Add({.cpu = 1,
                .to_ns = 30 * kMs,
                .to = "app!main;app!Take();[lock]",
                .from = "app!main;app!Hold();[sleep]",
                .waker = "[interrupt]"});
  recorder.Add({.cpu = 1, .from_ns = 40 * kMs, .to_ns = 50 * kMs, .to = "[moved away]"});
  recorder.AddStat(1, 50 * kMs, 40 * kMs);
  recorder.Close();
  const std::string page = Page();
  EXPECT_EQ(ScriptedPageProblems(page), "");
  EXPECT_THAT(page,
              AllOf(HasSubstr("1 CPU idle for 40 ms, 75.0 % of which a stack explains"),
                    HasSubstr("aria-label=\"CPU 1 over time: lock 75.0 %, moved away 25.0 %\""),
                    HasSubstr("<td class=\"n s10\" data-label=\"sleep: app!Hold()\">30 ms</td>"),
                    HasSubstr("idle &lt;- lock: app!Take()"),
                    HasSubstr("&lt;- sleep: app!Hold() &lt;- woken by [interrupt]"),
                    HasSubstr("id=\"to-tree\""), HasSubstr("id=\"from-tree\"")));
}

TEST_F(IdlePageTest, ReportsThatThereAreNoPeriods) {
  IdleRecorder recorder(file());
  recorder.Close();
  const std::string page = Page();
  EXPECT_EQ(ScriptedPageProblems(page), "");
  EXPECT_THAT(page,
              AllOf(HasSubstr("0 CPUs idle for 0 ns"), HasSubstr("No explained idle period")));
}

TEST_F(IdlePageTest, TheMatrixHasTheColoursOfFlameGraphs) {
  const std::vector<std::string> colors = ScaleColors();
  for (std::size_t i = 0; i < colors.size(); ++i) {
    EXPECT_THAT(std::string(kIdlePageStyle.text),
                HasSubstr(fmt::format(".s{}{{background:{};", i, colors[i])));
  }
}

}  // namespace
}  // namespace fieldcost::report
