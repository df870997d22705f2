#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/crypto/ed25519.h"
#include "common/http/http_message.h"
#include "common/wire/batch.h"

// What a fleet of agents sends to the service, made from a seed, and the benchmarks' own files of
// it.
namespace fieldcost::bench {

struct TrafficOptions {
  std::uint64_t seed = 1;
  std::uint64_t keys = 200'000;  // row keys, over all hardware classes together
  std::uint64_t classes = 8;     // hardware classes; an agent has one
  std::uint64_t agents = 250;
  std::uint64_t batches_per_agent = 8;  // all in one week
  std::uint32_t week = 0;
};

// The n-th of the keys that an agent of hardware class `hardware` may report; the class and the
// week belong to the batch and the row.
stats::ApiKey ApiOf(std::uint64_t key);
stats::Metric MetricOf(std::uint64_t key);
stats::HardwareClass HardwareOf(std::uint64_t hardware);

// What one agent measured of one key between two batches: a log-normal cost around the key's own,
// in as many calls as chance has it.
stats::CostHistogram HistogramOf(std::uint64_t key, std::uint64_t random);

// A sequence of random numbers with the same bits everywhere (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// A batch as it will be signed and sent.
struct SentBatch {
  std::uint64_t agent = 0;  // its number
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::string body;
};

// All batches of all agents: everybody's first, then everybody's second, and so on. Every batch has
// wire::kBatchTargetBytes before compression, its rows in the order of their keys, each key once;
// the keys are drawn after Zipf (exponent 1). Two threads. The same bytes for the same options.
std::vector<SentBatch> MakeTraffic(const TrafficOptions& options);

// Signs it for this service (wire::ServiceId()), as its agent would.
http::Request RequestOf(const SentBatch& batch, const std::string& service);

Status WriteTraffic(const std::filesystem::path& path, std::span<const SentBatch> batches);
// At most `limit` batches.
Result<std::vector<SentBatch>> ReadTraffic(const std::filesystem::path& path, std::size_t limit);

}  // namespace fieldcost::bench
