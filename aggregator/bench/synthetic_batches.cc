#include "aggregator/bench/synthetic_batches.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <tuple>
#include <unordered_set>

#include "aggregator/store/retention_rules.h"
#include "common/base/check.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/shm/mix.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::bench {
namespace {

constexpr std::uint64_t kModules = 200;
constexpr std::uint64_t kRowsDrawn = 2'500;  // more than fit into a batch
constexpr unsigned kThreads = 2;
constexpr std::uint64_t kSpread = 7;  // slots around the median
// Shares, in 1/1024, of a log-normal cost with a standard deviation of 1.2 octaves.
constexpr std::array<std::uint64_t, kSpread> kShares = {20, 104, 258, 330, 214, 78, 20};

std::uint64_t Mix(std::uint64_t value) { return Random(value).Next(); }

crypto::PrivateKey KeyOf(std::uint64_t agent) {
  std::string seed = fmt::format("{:032}", agent);
  return crypto::PrivateKey::FromSeed(seed);
}

// Draws 0 .. size-1, with a probability of n proportional to 1 / (n + 1).
class Zipf {
 public:
  explicit Zipf(std::uint64_t size) {
    double sum = 0;
    cumulated_.reserve(size);
    for (std::uint64_t n = 0; n < size; ++n) {
      cumulated_.push_back(sum += 1.0 / static_cast<double>(n + 1));
    }
  }
  std::uint64_t Draw(Random& random) const {
    const double at = random.Uniform() * cumulated_.back();
    const auto place = std::upper_bound(cumulated_.begin(), cumulated_.end(), at);
    const auto index = static_cast<std::size_t>(place - cumulated_.begin());
    return std::min(index, cumulated_.size() - 1);
  }

 private:
  std::vector<double> cumulated_;
};

wire::BatchContent Prefix(const wire::BatchContent& drawn, std::size_t rows) {
  wire::BatchContent content{
      .field_policy_version = drawn.field_policy_version, .hardware = drawn.hardware, .rows = {}};
  content.rows.assign(drawn.rows.begin(), drawn.rows.begin() + static_cast<std::ptrdiff_t>(rows));
  std::sort(content.rows.begin(), content.rows.end(), [](const auto& a, const auto& b) {
    return std::tie(a.api, a.metric) < std::tie(b.api, b.metric);
  });
  return content;
}

// Returns almost the longest prefix that fits into a batch.
wire::BatchContent FullBatch(const wire::BatchContent& drawn) {
  std::size_t rows = drawn.rows.size();
  for (int round = 0; round < 8; ++round) {
    wire::BatchContent content = Prefix(drawn, rows);
    const std::size_t bytes = wire::EncodedBatchBytes(content);
    if (bytes <= wire::kBatchTargetBytes && bytes >= wire::kBatchTargetBytes * 98 / 100) {
      return content;
    }
    rows = std::min(drawn.rows.size(), rows * wire::kBatchTargetBytes * 99 / 100 / bytes);
  }
  return Prefix(drawn, rows * 95 / 100);
}

void MakeAgent(const TrafficOptions& options, const Zipf& zipf, std::uint64_t agent,
               std::vector<SentBatch>& batches) {
  Random random(Mix(options.seed) ^ Mix(agent));
  const std::uint64_t keys = options.keys / options.classes;
  std::unordered_set<std::uint64_t> reported;
  for (std::uint64_t sequence = 1; sequence <= options.batches_per_agent; ++sequence) {
    wire::BatchContent drawn{
        .field_policy_version = 1, .hardware = HardwareOf(agent % options.classes), .rows = {}};
    std::unordered_set<std::uint64_t> in_batch;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t draws = 0; numbers.size() < std::min(kRowsDrawn, keys) && draws < 100'000;
         ++draws) {
      // Keys of similar popularity must not be adjacent in key order.
      const std::uint64_t key = zipf.Draw(random) * 7'919 % keys;
      if (in_batch.insert(key).second) numbers.push_back(key);
    }
    for (const std::uint64_t key : numbers) {
      drawn.rows.push_back({.api = ApiOf(key),
                            .metric = MetricOf(key),
                            .week = options.week,
                            .first_contribution = !reported.contains(key),
                            .histogram = HistogramOf(key, random.Next())});
    }
    wire::BatchContent content = FullBatch(drawn);
    for (std::size_t i = 0; i < content.rows.size(); ++i) reported.insert(numbers[i]);
    auto body = wire::EncodeBatch(content);
    FIELDCOST_CHECK(body.has_value());
    batches[(sequence - 1) * options.agents + agent] = {
        .agent = agent,
        .epoch = options.week / store::kWeeksPerEpoch,
        .sequence = sequence,
        .body = std::move(*body)};
  }
}

}  // namespace

std::uint64_t Random::Next() { return shm::NextRandom(&state_); }

stats::ApiKey ApiOf(std::uint64_t key) {
  const std::uint64_t module = key % kModules;
  const std::uint64_t module_hash = Mix(module + 1'000'003);
  return {.soname = fmt::format("libbench{}.so.{}", module, module % 7),
          .package_version = fmt::format("{}.{}.{}-{}+deb12u1", module % 5, module % 31, module % 9,
                                         module % 4 + 1),
          .build_id = fmt::format("{:016x}{:016x}{:08x}", module_hash, Mix(module_hash),
                                  module_hash & 0xffffffff),
          .symbol = fmt::format("bench{}_object_{}_{}", module,
                                Mix(key) % 2 != 0 ? "get" : "create", key / kModules),
          .symbol_version = module % 3 == 0 ? fmt::format("BENCH_1.{}", module % 4) : ""};
}

stats::Metric MetricOf(std::uint64_t key) {
  constexpr std::array kMetrics = {stats::Metric::kWallTime, stats::Metric::kWallTime,
                                   stats::Metric::kAllocInclusive, stats::Metric::kCallsPerRun};
  return kMetrics[Mix(key + 17) % kMetrics.size()];
}

stats::HardwareClass HardwareOf(std::uint64_t hardware) {
  return {.architecture = "x86_64",
          .cpu_family = hardware % 2 == 0 ? "GenuineIntel-6" : "AuthenticAMD-25",
          .log2_cores = static_cast<std::uint32_t>(1 + hardware / 2 % 4),
          .log2_memory_mib = static_cast<std::uint32_t>(12 + hardware / 8),
          .os_release = "debian-12"};
}

stats::CostHistogram HistogramOf(std::uint64_t key, std::uint64_t random_seed) {
  Random random(random_seed);
  const std::uint64_t calls = (std::uint64_t{1} << random.Below(11)) + random.Below(4);
  const std::uint64_t lowest = 4 + Mix(key) % 12 + random.Below(2);
  stats::CostHistogram histogram;
  std::uint64_t left = calls;
  for (std::uint64_t i = 0; i < kSpread && left != 0; ++i) {
    const std::uint64_t fair = (calls * kShares[i] + random.Below(1024)) / 1024;
    const std::uint64_t count = i + 1 == kSpread ? left : std::min(left, fair);
    if (count == 0) continue;
    left -= count;
    // Two values within the bucket, each used by a part of the calls.
    const auto slot = static_cast<unsigned>(lowest + i);
    const std::uint64_t low = shm::SlotMin(slot) + random.Below(shm::SlotMin(slot));
    const std::uint64_t high = shm::SlotMin(slot) + random.Below(shm::SlotMin(slot));
    const std::uint64_t part = random.Below(count + 1);
    const stats::Uint128 rest = count - part;
    histogram.SetBucket(slot,
                        {.count = count,
                         .sum = part * stats::Uint128{low} + rest * high,
                         .sum_of_squares = part * stats::Uint128{low} * low + rest * high * high});
  }
  return histogram;
}

http::Request RequestOf(const SentBatch& batch, const std::string& service) {
  const crypto::PrivateKey key = KeyOf(batch.agent);
  const std::string signature =
      key.Sign(wire::BatchSigningInput(service, key.public_key().view(), wire::Epoch(batch.epoch),
                                       wire::Sequence(batch.sequence), crypto::Sha256(batch.body)));
  return {.method = "POST",
          .target = wire::kBatchesPath,
          .headers = {{"Content-Type", wire::kBatchContentType},
                      {wire::kServiceHeader, service},
                      {wire::kAgentHeader, key.public_key().Hex()},
                      {wire::kEpochHeader, std::to_string(batch.epoch)},
                      {wire::kSequenceHeader, std::to_string(batch.sequence)},
                      {wire::kSignatureHeader, HexEncode(signature)}},
          .body = batch.body,
          .peer_address = {}};
}

std::vector<SentBatch> MakeTraffic(const TrafficOptions& options, const GoOn& go_on) {
  const Zipf zipf(options.keys / options.classes);
  std::vector<SentBatch> batches(options.agents * options.batches_per_agent);
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> stopped{false};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint64_t agent = thread; agent < options.agents && !stopped; agent += kThreads) {
        MakeAgent(options, zipf, agent, batches);
        if (go_on && !go_on(++done)) stopped = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (stopped) batches.clear();
  return batches;
}

std::uint64_t BucketAddsOf(const SentBatch& batch) {
  wire::BatchDecoder decoder;
  FIELDCOST_CHECK(decoder.Decode(batch.body).has_value());
  wire::UntrustedRow row;
  std::uint64_t adds = 0;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    row.histogram.ForEachUsed(
        [&](unsigned, const stats::Bucket& bucket) { adds += bucket.count != 0 ? 1 : 0; });
  }
  return adds;
}

}  // namespace fieldcost::bench
