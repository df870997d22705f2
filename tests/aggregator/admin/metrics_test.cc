#include "aggregator/admin/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "tests/support/promtool.h"

namespace fieldcost::admin {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Pair;

// Returns the sample lines: name and labels -> value.
std::map<std::string, std::string> Samples(const std::string& text) {
  std::map<std::string, std::string> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.rfind(' ');
    EXPECT_TRUE(samples.emplace(line.substr(0, space), line.substr(space + 1)).second) << line;
  }
  return samples;
}

class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() {
    latency_.Add(std::chrono::milliseconds(3));
    latency_.Add(std::chrono::milliseconds(3));
    latency_.Add(std::chrono::seconds(60));
    using std::chrono::microseconds;
    const store::StageTimes::Clock::time_point begin;
    store::StageTimes times(begin);
    times.EndAt(store::BatchStage::kReceive, begin + microseconds(400));
    times.EndAt(store::BatchStage::kVerify, begin + microseconds(402));
    times.EndAt(store::BatchStage::kReceive, begin + microseconds(502));
    stages_.Add(times);
    stages_.Add(store::StageTimes(begin));  // of a batch that was refused at once
    stages_.AddSync(microseconds(2));
    stages_.AddSync(std::chrono::seconds(11));
    counters_.accepted_batches = 12;
    counters_.bad_signature = 3;
    state_ = {
        .version = "1.2.3",
        .ready = true,
        .free_bytes = 1U << 30U,
        .ingest = &counters_,
        .batch_latency = &latency_,
        .batch_stages = &stages_,
        .server = http::ServerCounters{.connections = 5, .deadlines = 2},
        .certificate_expiry = std::chrono::sys_seconds(std::chrono::seconds(2'000'000'000)),
        .offline_keys = 2,
        .store = store::StoreGauges{.sequence = 9, .checkpoint_microseconds = 1'500'000},
        .publication =
            PublicationState{.task = {.successes = 2,
                                      .failures = 1,
                                      .last_success = WallTime(std::chrono::seconds(1'700'000'000)),
                                      .last_duration = std::chrono::milliseconds(250)},
                             .version = 4,
                             .rows = 10},
        .retention = aggregator::TaskState{}};
  }

  ingest::Counters counters_;
  Latency latency_;
  BatchStageLatency stages_;
  ServiceState state_;
};

TEST_F(MetricsTest, EachNumberHasItsNameAndUnit) {
  const auto samples = Samples(RenderMetrics(state_));
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"fieldcost_build_info{version=\"1.2.3\"}", "1"},
           {"fieldcost_ready", "1"},
           {"fieldcost_disk_free_bytes", "1073741824"},
           {"fieldcost_ingest_accepted_batches_total", "12"},
           {"fieldcost_ingest_refusals_total{reason=\"bad_signature\"}", "3"},
           {"fieldcost_ingest_refusals_total{reason=\"revoked\"}", "0"},
           {"fieldcost_http_connections_total", "5"},
           {"fieldcost_http_refusals_total{reason=\"too_slow\"}", "2"},
           {"fieldcost_certificate_expiry_timestamp_seconds", "2000000000"},
           {"fieldcost_offline_keys_present", "2"},
           {"fieldcost_store_sequence", "9"},
           {"fieldcost_store_checkpoint_seconds_total", "1.5"},
           {"fieldcost_publication_runs_total", "2"},
           {"fieldcost_publication_failures_total", "1"},
           {"fieldcost_publication_last_success_timestamp_seconds", "1700000000"},
           {"fieldcost_publication_last_duration_seconds", "0.25"},
           {"fieldcost_publication_version", "4"},
           {"fieldcost_batch_duration_seconds_bucket{le=\"0.0025\"}", "0"},
           {"fieldcost_batch_duration_seconds_bucket{le=\"0.005\"}", "2"},
           {"fieldcost_batch_duration_seconds_bucket{le=\"30\"}", "2"},
           {"fieldcost_batch_duration_seconds_bucket{le=\"+Inf\"}", "3"},
           {"fieldcost_batch_duration_seconds_count", "3"},
           {"fieldcost_batch_stage_duration_seconds_bucket{stage=\"receive\",le=\"0.00025\"}", "0"},
           {"fieldcost_batch_stage_duration_seconds_bucket{stage=\"receive\",le=\"0.0005\"}", "1"},
           {"fieldcost_batch_stage_duration_seconds_bucket{stage=\"verify\",le=\"1e-05\"}", "1"},
           {"fieldcost_batch_stage_duration_seconds_count{stage=\"receive\"}", "1"},
           {"fieldcost_batch_stage_duration_seconds_sum{stage=\"receive\"}", "0.0005"},
           {"fieldcost_batch_stage_duration_seconds_count{stage=\"answer\"}", "0"},
           {"fieldcost_store_log_sync_duration_seconds_bucket{le=\"1e-05\"}", "1"},
           {"fieldcost_store_log_sync_duration_seconds_bucket{le=\"10\"}", "1"},
           {"fieldcost_store_log_sync_duration_seconds_count", "2"}}) {
    EXPECT_THAT(samples, Contains(Pair(name, value)));
  }
  EXPECT_EQ(samples.count("fieldcost_retention_last_success_timestamp_seconds"), 0U);
  EXPECT_DOUBLE_EQ(std::stod(samples.at("fieldcost_batch_duration_seconds_sum")), 60.006);
}

TEST_F(MetricsTest, EveryCounterOfIngestIsShown) {
  const auto samples = Samples(RenderMetrics(state_));
  for (const ingest::CounterInfo& info : ingest::AllCounters()) {
    const std::string name(info.name);
    EXPECT_THAT(samples, Contains(Key(info.refusal ? "fieldcost_ingest_refusals_total{reason=\"" +
                                                         name + "\"}"
                                                   : "fieldcost_ingest_" + name + "_total")));
  }
}

TEST_F(MetricsTest, EveryStageOfABatchIsShown) {
  const auto samples = Samples(RenderMetrics(state_));
  for (std::size_t i = 0; i < store::kBatchStages; ++i) {
    const std::string name(store::Name(static_cast<store::BatchStage>(i)));
    EXPECT_THAT(samples, Contains(Key("fieldcost_batch_stage_duration_seconds_count{stage=\"" +
                                      name + "\"}")));
  }
}

TEST_F(MetricsTest, TheProcessIsThisOne) {
  const auto samples = Samples(RenderMetrics(state_));
  EXPECT_GT(std::stod(samples.at("process_resident_memory_bytes")), 1e6);
  EXPECT_GT(std::stod(samples.at("process_virtual_memory_bytes")),
            std::stod(samples.at("process_resident_memory_bytes")));
  EXPECT_GE(std::stod(samples.at("process_open_fds")), 3);
  EXPECT_LE(std::stod(samples.at("process_open_fds")), std::stod(samples.at("process_max_fds")));
  const double now = std::chrono::duration<double>(SystemClock().Now().time_since_epoch()).count();
  EXPECT_LE(std::stod(samples.at("process_start_time_seconds")), now + 1);
  EXPECT_GT(std::stod(samples.at("process_start_time_seconds")), now - 86'400);
}

TEST_F(MetricsTest, OmitsStoreMetricsBeforeThereIsAStore) {
  const auto samples = Samples(RenderMetrics({.version = "1"}));
  EXPECT_THAT(samples, Contains(Pair("fieldcost_ready", "0")));
  for (const auto& [name, value] : samples) EXPECT_THAT(name, ::testing::Not(HasSubstr("store")));
}

TEST_F(MetricsTest, PromtoolFindsNothingToSay) {
  const std::string promtool = testing::FindPromtool(FIELDCOST_SOURCE_DIR);
  if (promtool.empty()) {
    GTEST_SKIP() << "promtool is missing (tests/run.sh unpacks the package prometheus)";
  }
  for (const ServiceState& state : {state_, ServiceState{.version = "1"}}) {
    EXPECT_EQ(testing::CheckMetrics(promtool, RenderMetrics(state)), "");
  }
  // Shows that promtool really checks its input.
  EXPECT_NE(testing::CheckMetrics(promtool, "fieldcost_rows_total 1\n"), "");
}

}  // namespace
}  // namespace fieldcost::admin
