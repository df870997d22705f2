#include <signal.h>

#include "tests/e2e/house.h"
#include "tests/support/run_files.h"

// From a call in a program to the terminal, with the real programs: the numbers must arrive
// exactly.

namespace fieldcost::testing {
namespace {

using boost::json::object;

class PipelineTest : public HouseTest {
 protected:
  // Runs the scenario "alloc": each run allocates 3, 7 and 22 bytes 1,000 times, and 100 bytes in a
  // callee 1,000 times.
  void RunAlloc(int times) {
    for (int i = 0; i < times; ++i) ASSERT_EQ(RunVictim("alloc").output, "allocated\n");
    runs_ += times;
  }

  void ExpectSums(const object& metric, std::int64_t count, std::int64_t sum,
                  std::int64_t sum_of_squares) const {
    EXPECT_EQ(metric.at("count").to_number<std::int64_t>(), count);
    EXPECT_EQ(metric.at("sum").as_string(), std::to_string(sum));
    EXPECT_EQ(metric.at("sum_of_squares").as_string(), std::to_string(sum_of_squares));
  }

  void ExpectPublishedExactly() const {
    const object own = Published("victim_allocate");
    ASSERT_TRUE(own.contains("wall_time"));
    EXPECT_EQ(own.at("wall_time").at("count").to_number<std::int64_t>(), 3000 * runs_);
    EXPECT_EQ(own.at("wall_time").at("contributions").to_number<std::int64_t>(), 1);
    ExpectSums(own.at("calls_per_run").as_object(), runs_, 3000 * runs_, 9'000'000 * runs_);
    EXPECT_EQ(own.at("first_call").at("count").to_number<std::int64_t>(), runs_);
    for (const char* metric : {"alloc_inclusive", "alloc_exclusive", "alloc_size"}) {
      ExpectSums(own.at(metric).as_object(), 3000 * runs_, 32000 * runs_, 542000 * runs_);
    }
    const object below = Published("victim_allocate_below");
    ExpectSums(below.at("alloc_inclusive").as_object(), 1000 * runs_, 100000 * runs_,
               10000000 * runs_);
    ExpectSums(below.at("alloc_exclusive").as_object(), 1000 * runs_, 0, 0);
  }

  std::int64_t runs_ = 0;
};

TEST_F(PipelineTest, ThePublishedCatalogueShowsExactlyWhatWasCalled) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  RunAlloc(3);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  SyncAll();
  ExpectPublishedExactly();
  StopAggregator();
}

TEST_F(PipelineTest, KillingAProgramLosesNoCompletedCall) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("die").signal, SIGKILL);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  SyncAll();
  EXPECT_EQ(Published("victim_noop").at("wall_time").at("count").to_number<std::int64_t>(), 1000);
  StopAggregator();
}

TEST_F(PipelineTest, SampledRunsArriveWithTheirExactNumberOfCalls) {
  StartAggregator();
  WriteAgentConfig(url(), "", "sampling = 64\n");
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(RunVictim("calls").exit_status, 0);
  ASSERT_EQ(RunVictim("die").signal, SIGKILL);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  SyncAll();
  const object metrics = Published("victim_noop");
  ASSERT_TRUE(metrics.contains("wall_time"));
  // One call in 64 was timed and represents the untimed ones.
  const object& calls = metrics.at("wall_time").at("all_calls").as_object();
  EXPECT_LT(calls.at("timed").to_number<std::int64_t>(), 3000);
  EXPECT_GT(calls.at("count").to_number<std::int64_t>(),
            8 * calls.at("timed").to_number<std::int64_t>());
  ASSERT_TRUE(metrics.contains("calls_per_run"));
  ExpectSums(metrics.at("calls_per_run").as_object(), 3, 3000, 3'000'000);
  const ProcessResult shown = Fieldcost({"show", "libvictim.so.1!victim_noop"});
  EXPECT_THAT(shown.output, ::testing::HasSubstr("3 runs, 3,000 calls measured"));
  StopAggregator();
}

TEST_F(PipelineTest, StoppingAndStartingAnythingAnywhereChangesNoNumber) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);

  RunAlloc(1);
  KillAggregator();
  EXPECT_NE(Upload().exit_status, 0);  // no server: the batch waits in the spool
  RunAlloc(1);
  StartAggregator();
  ASSERT_EQ(Upload().exit_status, 0);
  KillAggregator();  // acknowledged, but possibly not yet in a checkpoint
  StartAggregator();

  for (int round = 0; round < 8; ++round) {  // kills the daemon at eight different times
    RunAlloc(1);
    BackgroundProcess daemon(Options({kFieldcostd, "--once", "--flush"}));
    for (int i = 0; i < round * 4; ++i) RunProcess({.arguments = {"true"}});  // a while, not timed
    daemon.Signal(SIGKILL);
    daemon.Wait();
  }
  ASSERT_EQ(Upload().exit_status, 0);
  StopAggregator();
  StartAggregator();
  EXPECT_EQ(Upload().exit_status, 0);  // nothing is left, so nothing is counted twice

  Publish();
  SyncAll();
  ExpectPublishedExactly();
  const ProcessResult verify =
      RunProcess({.arguments = {kAggregator, "verify", "--config", aggregator_config().string()}});
  EXPECT_NE(verify.exit_status, 0);  // the data directory belongs to the running server
  StopAggregator();
  EXPECT_EQ(
      RunProcess({.arguments = {kAggregator, "verify", "--config", aggregator_config().string()}})
          .exit_status,
      0);
}

TEST_F(PipelineTest, AForcedPickStaysOnTheMachine) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  const ProcessResult forced = Fieldcost(
      {"run", "--pick", "libvictim.so.1!victim_noop", "--metrics", "time", "--", kVictim, "calls"});
  ASSERT_EQ(forced.exit_status, 0) << forced.errors;

  const ProcessResult local = Fieldcost({"top", "--local", "--json"});
  ASSERT_EQ(local.exit_status, 0) << local.errors;
  const boost::json::value answer = boost::json::parse(local.output);
  ASSERT_EQ(answer.at("rows").as_array().size(), 1U);
  EXPECT_EQ(answer.at("rows").at(0).at("symbol").as_string(), "victim_noop");
  EXPECT_EQ(
      answer.at("rows").at(0).at("metrics").at("wall_time").at("count").to_number<std::int64_t>(),
      1000);

  ASSERT_EQ(Upload().exit_status, 0);
  EXPECT_THAT(Publish(), ::testing::HasSubstr("rows=0"));
  StopAggregator();
}

TEST_F(PipelineTest, NeverSendsRunsMeasuredBeforeConsent) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "local"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(Upload().exit_status, 0);
  EXPECT_THAT(Publish(), ::testing::HasSubstr("rows=0"));

  ASSERT_EQ(Fieldcost({"agent", "off"}).exit_status, 0);
  const ProcessResult off = RunVictim("alloc");
  EXPECT_EQ(off.output, "allocated\n");
  EXPECT_TRUE(std::filesystem::is_empty(RunDirectoryOf(home() / "state")));
  StopAggregator();
}

TEST_F(PipelineTest, OnlyTheDaysShareIsFetchedUnlessAsked) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  RunAlloc(1);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  ASSERT_EQ(Fieldcost({"sync"}).exit_status, 0);
  const ProcessResult again = Fieldcost({"sync", "--json"});
  ASSERT_EQ(again.exit_status, 0);
  EXPECT_EQ(boost::json::parse(again.output).at("fragments_fetched").to_number<int>(), 0);
  StopAggregator();
}

}  // namespace
}  // namespace fieldcost::testing
