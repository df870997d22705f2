#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "aggregator/store/compact_row.h"
#include "tests/bench/traffic.h"

// The parts of bench_aggregator. Each prints one JSON object on a line.
namespace fieldcost::bench {

using Path = std::filesystem::path;

// CPU time of this process so far, and of this thread.
double ProcessSeconds();
double ThreadSeconds();

// Every row of every batch, as the service's own decoder gives it; `end_of_batch` after each batch.
struct DecodedRow {
  std::string_view key_bytes;  // of the store
  const stats::RowKey* key = nullptr;
  const stats::CostHistogram* histogram = nullptr;
  bool first_contribution = false;
};
Status ForEachRow(std::span<const SentBatch> batches,
                  const std::function<Status(const DecodedRow&)>& visit,
                  const std::function<Status()>& end_of_batch);

// The floor of ingest: decodes and sums in memory, one thread.
Status RunFloor(std::span<const SentBatch> batches);

// Ingest by RocksDB's merge operator: one Merge a row, one synced write a batch.
Status RunMerge(std::span<const SentBatch> batches, const Path& directory, double max_seconds);

struct SendOptions {
  std::string url;
  Path ca_file;
  Path root_file;  // which the batches are signed for
  unsigned connections = 32;
  double batches_a_second = 0;  // 0 = as fast as they are answered; else an open loop
  bool fresh = false;           // a new connection, and TLS handshake, for every batch
};
// Sends to the service and waits for its answers.
Status RunSend(std::span<const SentBatch> batches, const SendOptions& options);

// Files that a peer's own client reads: "postgres", "redis", "clickhouse".
Status WritePeerFile(std::span<const SentBatch> batches, std::string_view peer, const Path& file);

// Fills a store with one row for each of `rows` keys.
Status FillStore(const Path& data_dir, std::uint64_t rows, std::uint32_t week);
// The floor of publishing: reads and decodes all rows of a store.
Status ScanStore(const Path& data_dir);

struct AcceptOptions {
  double batches_a_second = 50;
  double seconds = 10;           // without a checkpoint
  std::uint64_t keys = 200'000;  // rows they are about, at random
};
// What Accept() takes alone, while a checkpoint is made, and while all rows are read. No network.
Status RunAccept(const Path& data_dir, const AcceptOptions& options, std::uint32_t week);

// Times of `count` fdatasync() after appending 128 KiB each.
Status RunSync(const Path& directory, unsigned count);

// The value that `percent` of the values do not pass. REQUIRES: not empty.
double Percentile(std::vector<double>& values, double percent);

}  // namespace fieldcost::bench
