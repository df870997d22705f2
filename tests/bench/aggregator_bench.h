#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "aggregator/bench/disk.h"
#include "aggregator/store/compact_row.h"
#include "tests/bench/traffic.h"

// The parts of bench_aggregator. Each prints one JSON object per line.
namespace fieldcost::bench {

using Path = std::filesystem::path;

// CPU time used so far by this process, and by this thread.
double ProcessSeconds();
double ThreadSeconds();

// Passes on every row of every batch as decoded by the service's own decoder; calls `end_of_batch`
// after each batch.
struct DecodedRow {
  std::string_view key_bytes;  // as in the store
  const stats::RowKey* key = nullptr;
  const stats::CostHistogram* histogram = nullptr;
  bool first_contribution = false;
};
Status ForEachRow(std::span<const SentBatch> batches,
                  const std::function<Status(const DecodedRow&)>& visit,
                  const std::function<Status()>& end_of_batch);

// The floor for ingest: decodes and sums in memory, on one thread, everything that a stored row
// contains: buckets, untimed calls and, of first contributions, scalars, weights and sizes. Not
// included: the checks of rows, the ledger, contributions by agent, and everything durable.
Status RunFloor(std::span<const SentBatch> batches);

// Ingest with RocksDB's merge operator: one Merge per row, one synced write per batch.
Status RunMerge(std::span<const SentBatch> batches, const Path& directory, double max_seconds);

struct SendOptions {
  std::string url;
  Path ca_file;
  Path root_file;  // the root that batches are signed for
  unsigned connections = 32;
  double batches_a_second = 0;  // 0 = each after a response; else an open loop
  bool fresh = false;           // a new connection, with a TLS handshake, for every batch
};
// Sends to the service and waits for its responses.
Status RunSend(std::span<const SentBatch> batches, const SendOptions& options);

// Writes a file that a peer's own client reads; peers are "postgres", "redis" and "clickhouse".
Status WritePeerFile(std::span<const SentBatch> batches, std::string_view peer, const Path& file);

// Fills a store with `rows` rows, one per key.
Status FillStore(const Path& data_dir, std::uint64_t rows, std::uint32_t week);
// The floor for publishing: reads and decodes all rows of a store.
Status ScanStore(const Path& data_dir);

struct AcceptOptions {
  double batches_a_second = 50;
  double seconds = 10;           // without a checkpoint
  std::uint64_t keys = 200'000;  // rows are drawn from these
};
// Measures Accept() alone, during a checkpoint, and while all rows are read. No network.
Status RunAccept(const Path& data_dir, const AcceptOptions& options, std::uint32_t week);

// Prints the durations of `count` fdatasync() calls, each after appending 128 KiB.
Status RunSync(const Path& directory, unsigned count);

}  // namespace fieldcost::bench
