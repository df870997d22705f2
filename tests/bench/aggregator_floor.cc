#include <fmt/format.h>
#include <time.h>

#include <unordered_map>

#include "aggregator/store/accepted_rows.h"
#include "aggregator/store/store_row_codec.h"
#include "tests/bench/aggregator_bench.h"

namespace fieldcost::bench {
namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

double ProcessSeconds() { return Seconds(CLOCK_PROCESS_CPUTIME_ID); }
double ThreadSeconds() { return Seconds(CLOCK_THREAD_CPUTIME_ID); }

Status ForEachRow(std::span<const SentBatch> batches,
                  const std::function<Status(const DecodedRow&)>& visit,
                  const std::function<Status()>& end_of_batch) {
  wire::BatchDecoder decoder;
  wire::UntrustedRow row;
  stats::RowKey key;
  std::string key_bytes;
  for (const SentBatch& batch : batches) {
    FIELDCOST_TRY(decoder.Decode(batch.body));
    key.hardware = decoder.hardware();
    for (std::size_t i = 0; i < decoder.row_count(); ++i) {
      decoder.GetRow(i, row);
      std::swap(key.api, row.api);
      key.metric = static_cast<stats::Metric>(row.metric_number);
      key.week = row.week;
      key_bytes.clear();
      store::AppendRowKey(key, key_bytes);
      FIELDCOST_TRY(visit({key_bytes, &key, &row.histogram, row.first_contribution}));
    }
    FIELDCOST_TRY(end_of_batch());
  }
  return {};
}

Status RunFloor(std::span<const SentBatch> batches) {
  std::unordered_map<std::string, store::CompactRow> sums;
  std::string key;
  std::uint64_t rows = 0;
  std::uint64_t adds = 0;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  for (const SentBatch& batch : batches) bytes += batch.body.size();
  store::AcceptedRows one;
  const double start = ThreadSeconds();
  FIELDCOST_TRY(ForEachRow(
      batches,
      [&](const DecodedRow& decoded) -> Status {
        key.assign(decoded.key_bytes);
        one.Clear();
        one.Add(
            decoded.key_bytes, *decoded.histogram,
            decoded.first_contribution ? store::Contribution::kFirst : store::Contribution::kNone);
        const store::RowSums sums_of_row = one.row(0).sums;
        sums[key].Add(sums_of_row);
        adds += sums_of_row.buckets.size();
        ++rows;
        return {};
      },
      [] { return Status(); }));
  const double seconds = ThreadSeconds() - start;
  for (const auto& [name, sum] : sums) {
    for (const store::CompactBucket& bucket : sum.buckets) calls += bucket.sums.count;
  }
  fmt::print(
      "{{\"batches\":{},\"rows\":{},\"adds\":{},\"calls\":{},\"keys\":{},\"body_bytes\":{},"
      "\"cpu_seconds\":{:.4f}}}\n",
      batches.size(), rows, adds, calls, sums.size(), bytes, seconds);
  return {};
}

Status RunSync(const Path& directory, unsigned count) {
  FIELDCOST_ASSIGN(const Quantiles times, MeasureSyncs(directory, SyncCall::kFdatasync, count));
  fmt::print("{{\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},\"p999_ms\":{:.3f}}}\n", times.p50_ms,
             times.p99_ms, times.p999_ms);
  return {};
}

}  // namespace fieldcost::bench
