#include <fcntl.h>
#include <fmt/format.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "aggregator/store/store_row_codec.h"
#include "common/base/file.h"
#include "common/base/units.h"
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

double Percentile(std::vector<double>& values, double percent) {
  const auto index =
      std::min(values.size() - 1,
               static_cast<std::size_t>(static_cast<double>(values.size()) * percent / 100));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(index),
                   values.end());
  return values[index];
}

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
  store::CompactRow row;
  const double start = ThreadSeconds();
  FIELDCOST_TRY(ForEachRow(
      batches,
      [&](const DecodedRow& decoded) -> Status {
        key.assign(decoded.key_bytes);
        row.SetHistogram(*decoded.histogram);
        sums[key].Add(row);
        adds += row.buckets.size();
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
  const Path path = directory / "sync";
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoError("open", path, errno);
  Random random(1);
  std::string block(128 * kKiB, '\0');
  for (char& byte : block) byte = static_cast<char>(random.Next());
  std::vector<double> times;
  for (unsigned i = 0; i < count; ++i) {
    const double start = Seconds(CLOCK_MONOTONIC);
    if (::write(fd.get(), block.data(), block.size()) != static_cast<ssize_t>(block.size()) ||
        ::fdatasync(fd.get()) != 0) {
      return ErrnoError("write", path, errno);
    }
    times.push_back((Seconds(CLOCK_MONOTONIC) - start) * 1e3);
  }
  ::unlink(path.c_str());
  const double median = Percentile(times, 50);
  fmt::print("{{\"p50_ms\":{:.3f},\"p99_ms\":{:.3f}}}\n", median, Percentile(times, 99));
  return {};
}

}  // namespace fieldcost::bench
