#include "aggregator/bench/ingest_rate.h"

#include <sched.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "aggregator/bench/synthetic_batches.h"
#include "aggregator/ingest/ingest.h"
#include "common/base/check.h"
#include "common/base/mutex.h"
#include "common/base/text.h"

namespace fieldcost::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr char kHost[] = "bench.invalid";
constexpr char kRoot[] = "none";

// Keeps the calling thread, and threads that it starts, on one core during its lifetime.
class OneCore {
 public:
  static Result<std::unique_ptr<OneCore>> Enter() {
    auto core = std::unique_ptr<OneCore>(new OneCore());
    if (::sched_getaffinity(0, sizeof core->before_, &core->before_) != 0) {
      return CoreError(errno);
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    // The last one: interrupts are often handled by the first.
    for (int cpu = CPU_SETSIZE - 1; CPU_COUNT(&one) == 0 && cpu >= 0; --cpu) {
      if (CPU_ISSET(cpu, &core->before_)) CPU_SET(cpu, &one);
    }
    if (::sched_setaffinity(0, sizeof one, &one) != 0) return CoreError(errno);
    core->entered_ = true;
    return core;
  }
  ~OneCore() {
    if (entered_) ::sched_setaffinity(0, sizeof before_, &before_);
  }
  OneCore(const OneCore&) = delete;
  OneCore& operator=(const OneCore&) = delete;

 private:
  OneCore() { CPU_ZERO(&before_); }
  static Error CoreError(int error) {
    return Fail(ErrorCode::kIo, "restrict the measurement to one core: {}",
                std::system_category().message(error));
  }

  cpu_set_t before_;
  bool entered_ = false;
};

double CpuSeconds() { return static_cast<double>(ClockNs(CLOCK_PROCESS_CPUTIME_ID)) * 1e-9; }

struct Service {
  std::unique_ptr<store::Store> store;
  std::optional<ingest::Ingest> ingest;
};

Result<std::unique_ptr<Service>> StartService(const std::filesystem::path& directory,
                                              const Clock& clock) {
  auto service = std::make_unique<Service>();
  FIELDCOST_ASSIGN(service->store, store::Store::Open({.data_dir = directory}));
  FIELDCOST_ASSIGN(auto pseudonyms, ingest::Pseudonyms::LoadOrCreate(directory / "pseudonyms"));
  FIELDCOST_ASSIGN(auto receipts, ingest::Receipts::LoadOrCreate(directory / "receipts"));
  FIELDCOST_ASSIGN(auto admission,
                   ingest::Admission::Load(ingest::EnrolmentMode::kOpen, {}, *service->store));
  service->ingest.emplace(*service->store, clock, std::move(pseudonyms), std::move(receipts),
                          std::move(admission),
                          ingest::IngestOptions{.names = {kHost}, .roots = {kRoot}, .modules = {}});
  return service;
}

// Makes each agent wait for the response to its previous batch, as real ones do: only then are the
// contributions known on which the next one relies. Thread-safe.
class AgentOrder {
 public:
  explicit AgentOrder(std::uint64_t agents) : done_(agents) {}

  // REQUIRES: each earlier batch of the agent is done, or a thread that does not wait for a later
  // one will pass it to Done().
  void AwaitTurn(const SentBatch& batch) {
    std::atomic<std::uint64_t>& done = done_[batch.agent];
    for (std::uint64_t seen = done; seen + 1 < batch.sequence; seen = done) done.wait(seen);
  }
  // After a failure, later batches of the agent do not wait any more.
  void Done(const SentBatch& batch, bool failed) {
    done_[batch.agent] = failed ? std::numeric_limits<std::uint64_t>::max() - 1 : batch.sequence;
    done_[batch.agent].notify_all();
  }

 private:
  std::vector<std::atomic<std::uint64_t>> done_;
};

struct PreparedBatch {
  const SentBatch* batch = nullptr;
  http::Request request;
};

// Sends batches from several threads.
class Part {
 public:
  // `rate`: batches per second; 0: each thread sends the next batch after a response.
  Part(ingest::Ingest& ingest, AgentOrder& order, std::span<const PreparedBatch> batches,
       double rate, const Continue& on_sent, std::uint64_t sent_before)
      : ingest_(ingest),
        order_(order),
        batches_(batches),
        rate_(rate),
        on_sent_(on_sent),
        sent_before_(sent_before),
        start_(SteadyClock::now()) {}

  // Sends the first of the batches, all of them if kMaxPart is enough; returns their
  // acknowledgement times in milliseconds.
  Result<std::vector<double>> Run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kIngestThreads; ++i) threads.emplace_back([this] { SendAll(); });
    for (std::thread& thread : threads) thread.join();
    const MutexLock lock(mutex_);
    if (!status_) return std::move(status_).error();
    return std::move(times_ms_);
  }

 private:
  void SendAll() {
    std::vector<double> times_ms;
    Status status;
    while (status && !stop_ && SteadyClock::now() - start_ < kMaxPart) {
      const std::size_t index = next_++;
      if (index >= batches_.size()) break;
      const auto due = DueTime(index);
      if (rate_ != 0 && due - start_ >= kMaxPart) break;  // so are all later ones
      std::this_thread::sleep_until(due);
      const PreparedBatch& next = batches_[index];
      order_.AwaitTurn(*next.batch);
      status = Send(next.request);
      times_ms.push_back(
          std::chrono::duration<double, std::milli>(SteadyClock::now() - due).count());
      if (status && on_sent_ && !on_sent_(sent_before_ + ++sent_)) {
        status = Fail(ErrorCode::kUnavailable, "interrupted");
      }
      order_.Done(*next.batch, !status);
    }
    const MutexLock lock(mutex_);
    if (!status) stop_ = true;
    if (!status && status_) status_ = std::move(status);
    times_ms_.insert(times_ms_.end(), times_ms.begin(), times_ms.end());
  }

  SteadyClock::time_point DueTime(std::size_t index) const {
    if (rate_ == 0) return SteadyClock::now();
    return start_ + std::chrono::duration_cast<SteadyClock::duration>(
                        std::chrono::duration<double>(static_cast<double>(index) / rate_));
  }

  Status Send(const http::Request& request) {
    const http::Response response = ingest_.Handle(request);
    if (response.status != 200) {
      return Fail(ErrorCode::kInternal, "a synthetic batch was answered {}: {}", response.status,
                  EscapeControl(response.body));
    }
    FIELDCOST_ASSIGN(const wire::BatchAnswer answer, wire::DecodeAnswer(response.body));
    if (answer.rejected_rows == 0) return {};
    return Fail(ErrorCode::kInternal, "{} rows of a synthetic batch were refused: {}",
                answer.rejected_rows,
                answer.rejects.empty() ? "" : EscapeControl(answer.rejects[0].reason));
  }

  ingest::Ingest& ingest_;
  AgentOrder& order_;
  const std::span<const PreparedBatch> batches_;
  const double rate_;
  const Continue& on_sent_;
  const std::uint64_t sent_before_;
  const SteadyClock::time_point start_;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<bool> stop_{false};
  Mutex mutex_;
  std::vector<double> times_ms_ FIELDCOST_GUARDED_BY(mutex_);
  Status status_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace

Result<IngestRate> MeasureIngest(const std::filesystem::path& directory, const IngestLoad& load,
                                 const Clock& clock, const Continue& on_made,
                                 const Continue& on_sent) {
  FIELDCOST_CHECK(load.agents * load.batches_per_agent >= 2);
  const std::vector<SentBatch> batches = MakeTraffic({.keys = load.keys,
                                                      .agents = load.agents,
                                                      .batches_per_agent = load.batches_per_agent,
                                                      .week = WeekOf(clock.Now())},
                                                     on_made);
  if (batches.empty()) return Fail(ErrorCode::kUnavailable, "interrupted");
  std::vector<PreparedBatch> prepared;
  const std::string service_id = wire::ServiceId(kHost, kRoot);
  for (const SentBatch& batch : batches) {
    prepared.push_back({.batch = &batch, .request = RequestOf(batch, service_id)});
  }
  const std::span<const PreparedBatch> all = prepared;
  AgentOrder order(load.agents);

  FIELDCOST_ASSIGN(const auto core, OneCore::Enter());
  FIELDCOST_ASSIGN(const auto service, StartService(directory, clock));
  const double cpu_before = CpuSeconds();
  const auto start = SteadyClock::now();
  Part fast(*service->ingest, order, all.first(all.size() / 2), 0, on_sent, 0);
  FIELDCOST_ASSIGN(const std::vector<double> sent, fast.Run());
  FIELDCOST_TRY(service->store->Checkpoint());
  IngestRate rate{.batches = sent.size(),
                  .seconds = std::chrono::duration<double>(SteadyClock::now() - start).count(),
                  .cpu_seconds = CpuSeconds() - cpu_before,
                  .ack = {}};
  for (const PreparedBatch& batch : all.first(sent.size())) {
    rate.bucket_adds += BucketAddsOf(*batch.batch);
  }
  rate.offered_per_second = rate.batches_per_second() / 2;
  Part slow(*service->ingest, order, all.subspan(sent.size(), all.size() / 2),
            rate.offered_per_second, on_sent, sent.size());
  FIELDCOST_ASSIGN(std::vector<double> times_ms, slow.Run());
  rate.acknowledged = times_ms.size();
  rate.ack = QuantilesOf(std::move(times_ms));
  return rate;
}

}  // namespace fieldcost::bench
