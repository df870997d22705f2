// Agents send their batches through a network that delays, cuts, resets, stalls and repeats, each
// until it gets a response. The published sums must then be, bit for bit, those of one copy of each
// batch.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/aggregator/service/service_fixture.h"
#include "tests/faults/network/fault_proxy.h"
#include "tests/faults/network/fault_run.h"
#include "tests/support/wait_until.h"

namespace fieldcost::aggregator {
namespace {

using faults::Below;
using faults::Fault;
using Kind = Fault::Kind;

constexpr unsigned kAgents = 6;
constexpr int kMaxTries = 500;
constexpr std::uint64_t kMaxBytesBeforeCut =
    6000;  // several requests, or the middle of a large one

struct Sums {
  stats::CostHistogram histogram;
  stats::ContributionScalars scalars;
};
using Key = std::pair<std::string, stats::Metric>;  // symbol and metric

class ProxyFaults : public ServiceTest {
 protected:
  ProxyFaults() {
    std::string config =
        Config("port = 0\nmax_connections_per_address = 0\nrequests_per_minute_per_address = 0");
    const std::string ingest = "[ingest]\n";  // no limit for agents that retry
    config.insert(config.find(ingest) + ingest.size(), "batches_per_agent_per_hour = 0\n");
    WriteConfig(config);
  }

  // Connections cycle through all faults, at random positions.
  std::unique_ptr<faults::FaultProxy> MakeProxy(std::uint64_t what) const {
    const auto port = static_cast<std::uint16_t>(std::stoul(url_.substr(url_.rfind(':') + 1)));
    const auto random = std::make_shared<std::mt19937_64>(faults::Randomness(what));
    return std::make_unique<faults::FaultProxy>(port, [random](std::uint64_t connection) {
      static constexpr Kind kTurns[] = {Kind::kReset,      Kind::kReset,   Kind::kTruncate,
                                        Kind::kByteByByte, Kind::kLatency, Kind::kReset,
                                        Kind::kTruncate,   Kind::kReplay,  Kind::kStall};
      return Fault{.kind = kTurns[connection % std::size(kTurns)],
                   .on_answers = Below(*random, 2) == 0,
                   .after_bytes = Below(*random, kMaxBytesBeforeCut),
                   .delay = std::chrono::milliseconds(1 + Below(*random, 5))};
    });
  }

  http::Client ClientOf(const faults::FaultProxy& proxy) const {
    return http::Client::Create({.url = "https://127.0.0.1:" + std::to_string(proxy.port()),
                                 .ca_file = certificates_.ca,
                                 .connect_timeout = std::chrono::milliseconds(1500),
                                 .request_timeout = std::chrono::milliseconds(1500)})
        .value();
  }

  // Sends until there is a response. On any error it tries again, occasionally with a new client.
  std::string SendUntilAnswered(const faults::FaultProxy& proxy, http::Client& client,
                                const http::Request& request, std::mt19937_64& random) {
    for (int tries = 0; tries < kMaxTries; ++tries) {
      ++sent_;
      const Result<http::Response> response = client.Send(request);
      if (Below(random, 3) == 0) client = ClientOf(proxy);
      if (!response) continue;
      EXPECT_EQ(response->status, 200) << response->body;
      return response->body;
    }
    ADD_FAILURE() << "no answer in " << kMaxTries << " tries";
    return "";
  }

  void RunAgent(const faults::FaultProxy& proxy, unsigned number, unsigned batches) {
    std::mt19937_64 random = faults::Randomness(1000 + number);
    const auto key = crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('a' + number)));
    const std::uint32_t week = WeekOf(SystemClock().Now());
    http::Client client = ClientOf(proxy);
    std::size_t contributed = 0;  // the number of rows contributed to so far
    for (unsigned sequence = 1; sequence <= batches; ++sequence) {
      const auto rows = static_cast<unsigned>(Below(random, 8) == 0 ? 150 : 1 + Below(random, 12));
      wire::BatchContent content = ingest::TestContent(rows, week);
      for (std::size_t i = 0; i < content.rows.size(); ++i) {
        content.rows[i].first_contribution = i >= contributed;
      }
      contributed = std::max(contributed, content.rows.size());
      const http::Request request = ingest::SignedRequest(key, sequence, content);
      std::string twin;  // response to a concurrent copy of the request
      std::thread other;
      if (Below(random, 4) == 0) {
        other = std::thread([&, twins_random = random]() mutable {
          http::Client twins_client = ClientOf(proxy);
          twin = SendUntilAnswered(proxy, twins_client, request, twins_random);
        });
      }
      const std::string answer = SendUntilAnswered(proxy, client, request, random);
      if (other.joinable()) {
        other.join();
        EXPECT_EQ(twin, answer);
      }
      if (Below(random, 4) == 0) {
        EXPECT_EQ(SendUntilAnswered(proxy, client, request, random), answer);
      }
      Remember(content);
      ++acknowledged_;
    }
  }

  void Remember(const wire::BatchContent& content) {
    const std::lock_guard lock(mutex_);
    for (const wire::BatchRow& row : content.rows) {
      Sums& sums = expected_[{row.api.symbol, row.metric}];
      sums.histogram.Merge(row.histogram);
      if (row.first_contribution) sums.scalars.Merge(stats::ScalarsOf(row.histogram));
    }
  }

  void ExpectExactSums() {
    server_->Signal(SIGUSR1);
    ASSERT_TRUE(server_->WaitForLine("published snapshot")) << "nothing was published";
    std::map<Key, Sums> published;
    for (const stats::StatRow& row : Download()) {
      const Key key{row.key.api.symbol, row.key.metric};
      EXPECT_FALSE(published.contains(key)) << key.first;
      published[key] = {row.histogram, row.scalars};
    }
    EXPECT_EQ(published.size(), expected_.size());
    for (const auto& [key, sums] : expected_) {
      EXPECT_EQ(published[key].histogram, sums.histogram) << key.first;
      EXPECT_EQ(published[key].scalars, sums.scalars) << key.first;
    }
    Stop();
    const testing::ProcessResult verified = testing::RunProcess(Command({"verify"}));
    EXPECT_EQ(verified.exit_status, 0) << verified.errors;
    EXPECT_THAT(verified.output, ::testing::HasSubstr(fmt::format(" batches={} ", acknowledged_)));
    EXPECT_THAT(verified.output, ::testing::HasSubstr(" ok=yes"));
  }

  std::atomic<unsigned> sent_ = 0;
  std::atomic<unsigned> acknowledged_ = 0;
  std::mutex mutex_;
  std::map<Key, Sums> expected_;
};

TEST_F(ProxyFaults, StoresAcknowledgedBatchesOnceDespiteNetworkFaults) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const unsigned batches = faults::LongForm() ? 400 : 60;
  {
    const auto proxy = MakeProxy(1);
    std::vector<std::thread> agents;
    for (unsigned number = 0; number < kAgents; ++number) {
      agents.emplace_back([&, number] { RunAgent(*proxy, number, batches); });
    }
    for (std::thread& agent : agents) agent.join();
    const auto& counters = proxy->counters();
    fmt::print(
        "{} batches in {} requests over {} connections: {} resets, {} truncations, "
        "{} stalls, {} replays\n",
        acknowledged_.load(), sent_.load(), counters.connections.load(), counters.resets.load(),
        counters.truncations.load(), counters.stalls.load(), counters.replays.load());
    EXPECT_GT(counters.resets, 0U);
    EXPECT_GT(counters.truncations, 0U);
    EXPECT_GT(counters.stalls, 0U);
    EXPECT_GT(counters.replays, 0U);
    EXPECT_GT(counters.delays, 0U);
    EXPECT_GT(counters.single_bytes, 0U);
  }
  EXPECT_EQ(acknowledged_, kAgents * batches);
  ExpectExactSums();
}

// TLS uses new keys for every connection, and the server accepts no early data: a replayed
// connection fails in its handshake.
TEST_F(ProxyFaults, ARecordedConnectionCannotBePlayedAgain) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto port = static_cast<std::uint16_t>(std::stoul(url_.substr(url_.rfind(':') + 1)));
  const wire::BatchContent content = ingest::TestContent(5, WeekOf(SystemClock().Now()));
  faults::FaultProxy proxy(port, [](std::uint64_t) { return Fault{.kind = Kind::kReplay}; });
  EXPECT_EQ(ClientOf(proxy).Send(ingest::SignedRequest(key_, 1, content))->status, 200);
  ASSERT_TRUE(testing::WaitUntil([&] { return proxy.counters().replays != 0; }));
  Remember(content);
  ++acknowledged_;
  ExpectExactSums();
}

}  // namespace
}  // namespace fieldcost::aggregator
