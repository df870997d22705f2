#include "tools/analysis/idle_timeline.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/common/idle/idle_recording.h"
#include "tests/support/temp_dir.h"
#include "tools/analysis/idle_matrix.h"

namespace fieldcost::analysis {
namespace {

using recording::Interval;
using recording::Recording;
using testing::IdleRecorder;

constexpr std::uint64_t kMs = 1'000'000;
constexpr auto kLock = static_cast<std::size_t>(idle::Why::kLock);
constexpr auto kSleep = static_cast<std::size_t>(idle::Why::kSleep);

class IdleTimelineTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "a.fct"; }
  std::optional<IdleTimeline> Timeline(std::size_t bins, std::vector<Interval> parts = {{}}) const {
    return MakeIdleTimeline(Recording::Open(file()).value(), parts, bins).value();
  }
  static std::vector<std::uint64_t> Of(const IdleTimeline::Cpu& cpu, std::size_t why) {
    std::vector<std::uint64_t> values;
    for (const IdleTimeline::Bin& bin : cpu.bins) values.push_back(bin.at(why));
    return values;
  }
  testing::TempDir directory_;
};

TEST_F(IdleTimelineTest, APeriodIsInAllBinsThatItReachesInto) {
  IdleRecorder recorder(file());
  recorder.AddCpuIdle("[CPU 3];[lock]", 25, 20);
  recorder.AddCpuIdle("[CPU 3];[sleep]", 30, 3);
  recorder.AddCpuIdle("[CPU 0];[lock]", 39, 1);
  recorder.Close();
  const IdleTimeline timeline = Timeline(4).value();
  EXPECT_EQ(timeline.length_ns, 40U) << "until after the last sample";
  ASSERT_EQ(timeline.cpus.size(), 2U);
  EXPECT_EQ(timeline.cpus[0].cpu, 0U);
  EXPECT_EQ(Of(timeline.cpus[0], kLock), (std::vector<std::uint64_t>{0, 0, 0, 1}));
  EXPECT_EQ(Of(timeline.cpus[1], kLock), (std::vector<std::uint64_t>{5, 10, 5, 0}));
  EXPECT_EQ(Of(timeline.cpus[1], kSleep), (std::vector<std::uint64_t>{0, 0, 3, 0}));
}

TEST_F(IdleTimelineTest, BinsAddUpToTheIdleTimeHoweverManyThereAre) {
  IdleRecorder recorder(file());
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    const std::uint64_t ns = 1 + i * i * 7'919 % (2 * kMs);
    recorder.Add({.from_ns = i * 3 * kMs, .to_ns = i * 3 * kMs + ns, .to = "a;[lock]"});
    sum += ns;
  }
  recorder.Close();
  for (const std::size_t bins : {1U, 3U, 256U, 10'007U}) {
    const IdleTimeline timeline = Timeline(bins).value();
    const std::vector<std::uint64_t> values = Of(timeline.cpus.at(0), kLock);
    EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::uint64_t{0}), sum) << bins;
    for (std::size_t i = 0; i < bins; ++i) {
      EXPECT_LE(values[i], timeline.EdgeNs(i + 1, bins) - timeline.EdgeNs(i, bins));
    }
  }
}

TEST_F(IdleTimelineTest, RunsBeginTogetherAndWhatIsBeforeAPartIsCutOff) {
  IdleRecorder recorder(file());
  recorder.AddCpuIdle("[CPU 0];[lock]", 20, 15);
  recorder.AddCpuIdle("[CPU 0];[lock]", 110, 4);
  recorder.Close();
  const IdleTimeline timeline = Timeline(2, {{10, 30}, {100, 111}}).value();
  EXPECT_EQ(timeline.parts, 2U);
  EXPECT_EQ(timeline.length_ns, 20U);
  EXPECT_EQ(Of(timeline.cpus.at(0), kLock), (std::vector<std::uint64_t>{14, 0}));
  EXPECT_FALSE(Timeline(2, {{200, 300}}).has_value());
}

TEST_F(IdleTimelineTest, ReportsTheLimitOfCpus) {
  IdleRecorder recorder(file());
  for (std::size_t i = 0; i <= kMaxTimelineCpus; ++i) {
    recorder.AddCpuIdle("[CPU " + std::to_string(i) + "];[lock]", i, 1);
  }
  recorder.AddCpuIdle("[CPU none];[lock]", 5'000, 1);
  recorder.Close();
  const IdleTimeline timeline = Timeline(1).value();
  EXPECT_EQ(timeline.cpus.size(), kMaxTimelineCpus);
  EXPECT_TRUE(timeline.has_more);
}

TEST_F(IdleTimelineTest, MatrixHasAllPairsEvenIfTruncated) {
  IdleRecorder recorder(file());
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 12; ++i) {
    recorder.Add({.from_ns = 100 * i,
                  .to_ns = 100 * i + i + 1,
                  .to = "app!main;app!to" + std::to_string(i % 4) + ";[lock]",
                  .from = "app!main;app!from" + std::to_string(i % 3) + ";[sleep]"});
    sum += i + 1;
  }
  recorder.Close();
  const IdleView view =
      MakeIdleView(Recording::Open(file()).value(), std::vector{Interval{}}).value();
  const auto total = [](const IdleMatrix& matrix) {
    std::uint64_t ns = 0;
    for (const auto& line : matrix.ns) ns = std::accumulate(line.begin(), line.end(), ns);
    return ns;
  };
  const IdleMatrix whole = MakeIdleMatrix(view, 10, 10);
  ASSERT_EQ(whole.to.size(), 4U);
  ASSERT_EQ(whole.from.size(), 3U);
  EXPECT_EQ(DoingText(*view.dictionary, whole.to[0].value()), "lock: app!to3") << "the greatest";
  EXPECT_EQ(whole.ns[0][0], 12U);
  EXPECT_EQ(total(whole), sum);
  const IdleMatrix cut = MakeIdleMatrix(view, 2, 2);
  ASSERT_EQ(cut.to.size(), 2U);
  EXPECT_EQ(cut.to[1], std::nullopt) << "all others";
  EXPECT_EQ(total(cut), sum);
}

TEST(IdleTimelineDeathTest, AnEdgeBeyondTheLastBinIsABug) {
  const IdleTimeline timeline{.length_ns = 10};
  EXPECT_EQ(timeline.EdgeNs(2, 2), 10U);
  EXPECT_DEATH((void)timeline.EdgeNs(3, 2), "i <= bins");
}

}  // namespace
}  // namespace fieldcost::analysis
