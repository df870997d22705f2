// One key sends as many rows as it may, in as few bytes as possible: the cost to the real process
// is bounded, and the log names the key. A machine that measures very much never reaches the limit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>

#include "aggregator/ingest/ingest_limits.h"
#include "common/wire/wire_limits.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kAttackBatches = 28;
constexpr std::uint32_t kRowsAnHour = 65'536;  // the default

class RowBudgetFaults : public ServiceTest {
 protected:
  RowBudgetFaults() { ingest::SetTestEpoch(ingest::EpochOfWeek(week_)); }

  wire::BatchRow RowOf(unsigned function, stats::Metric metric, std::uint32_t week) const {
    wire::BatchRow row = ingest::TestRow(0, week);
    row.api = {.soname = "libz.so.1", .symbol = fmt::format("f{}", function)};
    row.metric = metric;
    row.histogram = {};
    row.histogram.Add(100);
    return row;
  }

  // Returns the weeks for which a new key's rows are accepted, the current one first.
  std::vector<std::uint32_t> Weeks() const {
    std::vector<std::uint32_t> weeks;
    for (std::uint32_t back = 0; back <= ingest::kWeeksBeforeFirstBatch; ++back) {
      if (ingest::EpochOfWeek(week_ - back) == ingest::EpochOfWeek(week_)) {
        weeks.push_back(week_ - back);
      }
    }
    return weeks;
  }

  // Sends one batch and returns the status; adds up the accepted rows.
  int Send(std::uint64_t sequence, const wire::BatchContent& content) {
    const http::Request request = ingest::SignedRequest(key_, sequence, content);
    const http::Response response = MustSend(request);
    if (response.status != 200) {
      EXPECT_EQ(response.status, 429) << response.body;
      EXPECT_NE(http::Find(response.headers, "Retry-After"), "");
      return response.status;
    }
    const auto answer = wire::DecodeAnswer(response.body);
    EXPECT_TRUE(answer.has_value());
    EXPECT_EQ(answer->rejected_rows, 0U) << response.body;
    accepted_rows_ += answer->accepted_rows;
    received_bytes_ += request.body.size();
    return 200;
  }

  // Of the child processes that have ended: CPU seconds and peak MiB.
  struct Cost {
    double cpu_seconds = 0;
    double peak_mib = 0;
  };
  static Cost CostSoFar() {
    rusage usage{};
    EXPECT_EQ(::getrusage(RUSAGE_CHILDREN, &usage), 0);
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return {.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime),
            .peak_mib = static_cast<double>(usage.ru_maxrss) / 1024};
  }
  double DiskMib() const {
    std::uintmax_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(DataDir())) {
      if (entry.is_regular_file()) bytes += entry.file_size();
    }
    return static_cast<double>(bytes) / static_cast<double>(kMiB);
  }

  const std::uint32_t week_ = WeekOf(SystemClock().Now());
  std::uint64_t accepted_rows_ = 0;
  std::uint64_t received_bytes_ = 0;
};

TEST_F(RowBudgetFaults, OneKeyCostsAtMostItsHourlyRows) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const std::vector<std::uint32_t> weeks = Weeks();
  unsigned accepted = 0;
  std::uint64_t sequence = 0;
  for (unsigned number = 0; number < kAttackBatches; ++number) {
    // All functions that a new key may name, in one week after another.
    wire::BatchContent content = ingest::TestContent(0, week_);
    for (unsigned function = 0; function < ingest::kMaxContributionsPerWeekOfHistory; ++function) {
      content.rows.push_back(
          RowOf(function, stats::Metric::kWallTime, weeks[number % weeks.size()]));
      content.rows.back().first_contribution = number == 0;
    }
    accepted += Send(++sequence, content) == 200 ? 1 : 0;
  }
  constexpr unsigned kBatchesAnHour = kRowsAnHour / ingest::kMaxContributionsPerWeekOfHistory;
  EXPECT_GE(accepted, kBatchesAnHour);
  EXPECT_LE(accepted, 2 * kBatchesAnHour) << "two hours, if one began meanwhile";
  const double before = CostSoFar().cpu_seconds;
  server_->Signal(SIGTERM);
  const std::string log = server_->Wait().output;
  const Cost cost = CostSoFar();
  fmt::print(
      "{} of {} batches, {} rows, {} bytes: {:.1f} s of CPU, {:.0f} MiB, {:.0f} MiB of disk\n",
      accepted, kAttackBatches, accepted_rows_, received_bytes_, cost.cpu_seconds - before,
      cost.peak_mib, DiskMib());
  EXPECT_THAT(log, HasSubstr("abuse kind=too_many_rows agent="));
  EXPECT_THAT(log, HasSubstr(fmt::format(" too_many_rows={}", kAttackBatches - accepted)));
}

TEST_F(RowBudgetFaults, AMachineWithThreeThousandFunctionsAWeekIsNeverRefused) {
  ASSERT_NO_FATAL_FAILURE(Start());
  constexpr unsigned kFunctions = 3'000;
  constexpr stats::Metric kMetrics[] = {stats::Metric::kWallTime, stats::Metric::kFirstCallTime,
                                        stats::Metric::kCallsPerRun, stats::Metric::kTimePerRun,
                                        stats::Metric::kAllocInclusive};
  // Everything from the longest time it may have been offline, within one hour.
  std::uint64_t sequence = 0;
  std::uint64_t rows = 0;
  for (const std::uint32_t week : Weeks()) {
    wire::BatchContent all = ingest::TestContent(0, week_);
    for (unsigned function = 0; function < kFunctions; ++function) {
      for (const stats::Metric metric : kMetrics) {
        all.rows.push_back(RowOf(function, metric, week));
        all.rows.back().first_contribution = week == week_;
        for (const std::uint64_t value : {200, 400, 800, 1'600}) {
          all.rows.back().histogram.Add(value);
        }
      }
    }
    rows += all.rows.size();
    while (!all.rows.empty()) {
      wire::BatchContent batch = all;
      batch.rows.resize(wire::RowsThatFit(all, wire::kBatchTargetBytes));
      ASSERT_EQ(Send(++sequence, batch), 200);
      all.rows.erase(all.rows.begin(),
                     all.rows.begin() + static_cast<std::ptrdiff_t>(batch.rows.size()));
    }
  }
  EXPECT_EQ(accepted_rows_, rows);
  server_->Signal(SIGTERM);
  EXPECT_THAT(server_->Wait().output, Not(HasSubstr("abuse")));
}

}  // namespace
}  // namespace fieldcost::aggregator
