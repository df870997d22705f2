#include <fmt/format.h>
#include <malloc.h>

#include "aggregator/store/retention_rules.h"
#include "aggregator/store/store.h"
#include "tests/bench/aggregator_bench.h"

namespace fieldcost::bench {
namespace {

constexpr std::uint64_t kRowsABatch = 1'000;

}  // namespace

Status FillStore(const Path& data_dir, std::uint64_t rows, std::uint32_t week) {
  FIELDCOST_ASSIGN(auto store, store::Store::Open({.data_dir = data_dir}));
  store::AcceptedRows accepted;
  const stats::HardwareClass hardware = HardwareOf(0);
  Random random(rows);
  std::uint64_t sequence = 0;
  for (std::uint64_t first = 0; first < rows; first += kRowsABatch) {
    accepted.Clear();
    for (std::uint64_t key = first; key < std::min(rows, first + kRowsABatch); ++key) {
      accepted.Add({.api = ApiOf(key), .metric = MetricOf(key), .hardware = hardware, .week = week},
                   HistogramOf(key, random.Next()), store::Contribution::kFirst);
    }
    const std::string agent(store::kAgentIdBytes, 'b');
    FIELDCOST_TRY(store->Accept({.agent_id = agent,
                                 .epoch = wire::Epoch(week / store::kWeeksPerEpoch),
                                 .sequence = wire::Sequence(++sequence),
                                 .rows = &accepted,
                                 .answer = "{}"}));
  }
  FIELDCOST_TRY(store->Checkpoint());
  fmt::print("{{\"rows\":{}}}\n", rows);
  return {};
}

Status ScanStore(const Path& data_dir) {
  FIELDCOST_ASSIGN(auto store, store::Store::Open({.data_dir = data_dir}));
  FIELDCOST_ASSIGN(const auto snapshot, store->TakeSnapshot());
  std::uint64_t rows = 0;
  std::uint64_t buckets = 0;
  const double start_cpu = ThreadSeconds();
  const auto start = std::chrono::steady_clock::now();
  FIELDCOST_TRY(snapshot.ForEach([&](const stats::RowKey&, const store::CompactRow& row) -> Status {
    ++rows;
    buckets += row.buckets.size();
    return {};
  }));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{{\"rows\":{},\"buckets\":{},\"seconds\":{:.4f},\"cpu_seconds\":{:.4f}}}\n", rows,
             buckets, seconds.count(), ThreadSeconds() - start_cpu);
  return {};
}

}  // namespace fieldcost::bench
