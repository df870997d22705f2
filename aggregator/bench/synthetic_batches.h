#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/crypto/ed25519.h"
#include "common/http/http_message.h"
#include "common/wire/batch.h"

// The batches that a fleet of agents sends to the service, generated from a seed, for benchmarks.
namespace fieldcost::bench {

struct TrafficOptions {
  std::uint64_t seed = 1;
  std::uint64_t keys = 200'000;  // row keys, over all hardware classes
  std::uint64_t classes = 8;     // hardware classes; an agent has one
  std::uint64_t agents = 250;
  std::uint64_t batches_per_agent = 8;  // all in one week
  std::uint32_t week = 0;               // of all rows
};

// Returns the n-th of the keys that an agent of hardware class `hardware` may report; the class
// belongs to the batch, the week to the row.
stats::ApiKey ApiOf(std::uint64_t key);
stats::Metric MetricOf(std::uint64_t key);
stats::HardwareClass HardwareOf(std::uint64_t hardware);

// Returns what one agent measured for a key between two batches: a log-normal cost around the key's
// own, with a random number of calls.
stats::CostHistogram HistogramOf(std::uint64_t key, std::uint64_t random);

// Random numbers with the same bits on all platforms (splitmix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  std::uint64_t Below(std::uint64_t bound) { return Next() % bound; }
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

// A batch, to be signed and sent.
struct SentBatch {
  std::uint64_t agent = 0;  // its number
  std::uint64_t epoch = 0;
  std::uint64_t sequence = 0;
  std::string body;
};

// Returns all batches of all agents: first each agent's first one, then each agent's second one,
// and so on. Every batch has wire::kBatchTargetBytes before compression, with rows ordered by key
// and each key once; keys are Zipf-distributed (exponent 1). Uses two threads. Deterministic for
// given options. `go_on` is called after each agent, by both threads, with the number of finished
// ones; if it returns false, the result is empty.
using GoOn = std::function<bool(std::uint64_t agents)>;
std::vector<SentBatch> MakeTraffic(const TrafficOptions& options, const GoOn& go_on = {});

// Signs the batch for this service (wire::ServiceId()), as its agent would.
http::Request RequestOf(const SentBatch& batch, const std::string& service);

// The number of bucket-adds that the batch causes. REQUIRES: it was made by MakeTraffic().
std::uint64_t BucketAddsOf(const SentBatch& batch);

}  // namespace fieldcost::bench
