#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "common/base/file.h"
#include "common/http/client.h"
#include "common/wire/wire_limits.h"
#include "tests/bench/aggregator_bench.h"

namespace fieldcost::bench {
namespace {

using Clock = std::chrono::steady_clock;

class Sender {
 public:
  Sender(std::span<const SentBatch> batches, const SendOptions& options)
      : batches_(batches), options_(options), times_(batches.size()) {}

  Status Run() {
    FIELDCOST_TRY(SignAll());
    std::vector<http::Client> clients;
    for (unsigned i = 0; i < options_.connections; ++i) {
      FIELDCOST_ASSIGN(auto client, NewClient());
      clients.push_back(std::move(client));
      // Connects first, because only batches are measured.
      if (!options_.fresh) FIELDCOST_TRY(clients.back().Send({.target = "/livez"}));
    }
    start_ = Clock::now();
    std::vector<std::thread> threads;
    for (http::Client& client : clients) threads.emplace_back([&] { SendAll(client); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (!failure_) return failure_;
    const double median = Percentile(times_, 50);
    fmt::print(
        "{{\"batches\":{},\"seconds\":{:.4f},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},"
        "\"p999_ms\":{:.3f},\"cpu_seconds\":{:.3f}}}\n",
        batches_.size(), seconds, median, Percentile(times_, 99), Percentile(times_, 99.9),
        ProcessSeconds());
    return {};
  }

 private:
  Result<http::Client> NewClient() const {
    return http::Client::Create({.url = options_.url, .ca_file = options_.ca_file});
  }

  // Done before the measurement starts.
  Status SignAll() {
    FIELDCOST_ASSIGN(const std::string root, ReadFile(options_.root_file, wire::kMaxMetadataBytes));
    FIELDCOST_ASSIGN(const http::Client client, NewClient());
    const std::string service = wire::ServiceId(client.server_name(), wire::RootFingerprint(root));
    for (const SentBatch& batch : batches_) requests_.push_back(RequestOf(batch, service));
    return {};
  }

  void SendAll(http::Client& client) {
    for (;;) {
      const std::size_t index = next_++;
      if (index >= batches_.size() || stop_) return;
      auto due = Clock::now();
      if (options_.batches_a_second > 0) {
        // Measures latency from the time at which a batch was due, so that a slow response also
        // counts for the batches that wait for it.
        due = start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                           static_cast<double>(index) / options_.batches_a_second));
        std::this_thread::sleep_until(due);
      }
      if (options_.fresh) {
        auto fresh = NewClient();
        if (!fresh) return Fails(fresh.error());
        client = std::move(*fresh);
      }
      const auto response = client.Send(requests_[index]);
      if (!response) return Fails(response.error());
      if (response->status != 200) {
        return Fails(Fail(ErrorCode::kInternal, "status {}: {}", response->status, response->body));
      }
      if (response->body.find("\"rejected_rows\":0") == std::string::npos &&
          response->body.find("\"rejects\":[]") == std::string::npos) {
        return Fails(Fail(ErrorCode::kInternal, "rows were refused: {}", response->body));
      }
      times_[index] = std::chrono::duration<double, std::milli>(Clock::now() - due).count();
    }
  }

  void Fails(const Error& error) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    if (failure_) failure_ = error;
  }

  const std::span<const SentBatch> batches_;
  const SendOptions& options_;
  std::vector<http::Request> requests_;
  std::vector<double> times_;  // ms, by batch
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  Clock::time_point start_;
  std::mutex mutex_;
  Status failure_;
};

}  // namespace

Status RunSend(std::span<const SentBatch> batches, const SendOptions& options) {
  return Sender(batches, options).Run();
}

}  // namespace fieldcost::bench
