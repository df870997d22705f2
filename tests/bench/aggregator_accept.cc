#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "aggregator/store/retention_rules.h"
#include "aggregator/store/store.h"
#include "tests/bench/aggregator_bench.h"

namespace fieldcost::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kThreads = 16;
constexpr std::uint64_t kRowsABatch = 1'150;
constexpr std::uint64_t kPrepared = 64;  // distinct batches

// Rows with random keys out of the first `keys`, ascending.
std::vector<store::AcceptedRows> PrepareRows(std::uint64_t keys, std::uint32_t week) {
  std::vector<store::AcceptedRows> prepared(kPrepared);
  Random random(1);
  for (store::AcceptedRows& rows : prepared) {
    std::vector<std::string> ordered;
    std::uint64_t any = 0;
    for (std::uint64_t i = 0; i < kRowsABatch; ++i) {
      any = random.Below(keys);
      std::string key;
      store::AppendRowKey(
          {.api = ApiOf(any), .metric = MetricOf(any), .hardware = HardwareOf(0), .week = week},
          key);
      ordered.push_back(std::move(key));
    }
    std::sort(ordered.begin(), ordered.end());
    ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
    for (const std::string& key : ordered) {
      rows.Add(key, HistogramOf(any, random.Next()), store::Contribution::kFirst);
    }
  }
  return prepared;
}

// Accepts batches at a fixed rate, regardless of whether earlier ones have completed.
class Stream {
 public:
  Stream(store::Store& store, const AcceptOptions& options, std::uint32_t week)
      : store_(store), options_(options), week_(week), rows_(PrepareRows(options.keys, week)) {
    start_ = Clock::now();
    for (unsigned i = 0; i < kThreads; ++i) threads_.emplace_back([this, i] { Run(i); });
  }
  // Returns the durations, in milliseconds, of the batches due in [begin, end).
  std::vector<double> Between(Clock::time_point begin, Clock::time_point end) {
    const std::lock_guard lock(mutex_);
    std::vector<double> times;
    for (const auto& [due, time] : times_) {
      if (due >= begin && due < end) times.push_back(time);
    }
    return times;
  }
  Status End() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
    return failure_;
  }

 private:
  void Run(unsigned thread) {
    const std::string agent(store::kAgentIdBytes, static_cast<char>(thread));
    for (std::uint64_t sequence = 1; !stop_; ++sequence) {
      const std::uint64_t index = next_++;
      const auto due =
          start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                       static_cast<double>(index) / options_.batches_a_second));
      std::this_thread::sleep_until(due);
      const auto result = store_.Accept({.agent_id = agent,
                                         .epoch = wire::Epoch(week_ / store::kWeeksPerEpoch),
                                         .sequence = wire::Sequence(sequence),
                                         .rows = &rows_[index % rows_.size()],
                                         .answer = "{}"});
      const double time = std::chrono::duration<double, std::milli>(Clock::now() - due).count();
      const std::lock_guard lock(mutex_);
      if (!result) {
        if (failure_) failure_ = result.error();
        return;
      }
      times_.emplace_back(due, time);
    }
  }

  store::Store& store_;
  const AcceptOptions& options_;
  const std::uint32_t week_;
  const std::vector<store::AcceptedRows> rows_;
  Clock::time_point start_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::vector<std::pair<Clock::time_point, double>> times_;
  Status failure_;
  std::vector<std::thread> threads_;
};

std::string Summary(std::vector<double> times) {
  if (times.empty()) return "{\"batches\":0}";
  return fmt::format(R"({{"batches":{},"p50_ms":{:.3f},"p99_ms":{:.3f},"max_ms":{:.3f}}})",
                     times.size(), Percentile(times, 50), Percentile(times, 99),
                     Percentile(times, 100));
}

}  // namespace

Status RunAccept(const Path& data_dir, const AcceptOptions& options, std::uint32_t week) {
  FIELDCOST_ASSIGN(auto store, store::Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0}));
  Stream stream(*store, options, week);
  const auto length = std::chrono::duration<double>(options.seconds);
  const auto begin = Clock::now();
  std::this_thread::sleep_for(length);
  const auto checkpoint = Clock::now();
  const double cpu = ThreadSeconds();
  FIELDCOST_TRY(store->Checkpoint());
  const double checkpoint_cpu = ThreadSeconds() - cpu;
  const auto scan = Clock::now();
  FIELDCOST_ASSIGN(const auto snapshot, store->TakeSnapshot());
  std::uint64_t rows = 0;
  FIELDCOST_TRY(snapshot.ForEach([&](const stats::RowKey&, const store::CompactRow&) -> Status {
    ++rows;
    return {};
  }));
  const auto end = Clock::now();
  FIELDCOST_TRY(stream.End());
  fmt::print(
      R"({{"quiet":{},"checkpoint":{},"checkpoint_seconds":{:.3f},"checkpoint_cpu_seconds":{:.3f},)"
      "\"scan\":{},\"scanned_rows\":{}}}\n",
      Summary(stream.Between(begin, checkpoint)), Summary(stream.Between(checkpoint, scan)),
      std::chrono::duration<double>(scan - checkpoint).count(), checkpoint_cpu,
      Summary(stream.Between(scan, end)), rows);
  return {};
}

}  // namespace fieldcost::bench
