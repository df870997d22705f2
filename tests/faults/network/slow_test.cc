// 2,000 connections that are as slow as possible, against the real process, while honest agents
// send. They come from 250 addresses, so that the limits per address do not stop them.
//
// The short form asserts that every honest request succeeds and that the server closes the slow
// connections, although each sends a byte per second. The long form also waits for the longer
// deadline of bodies, and asserts that the honest requests' p99 stays below twice its quiet value;
// on two cores shared with other programs, this is too noisy for every run.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "tests/aggregator/service/service_fixture.h"
#include "tests/faults/network/fault_run.h"
#include "tests/faults/network/tls_connection.h"

namespace fieldcost::aggregator {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr unsigned kSlowConnections = 2000;
constexpr unsigned kAddresses = 250;
constexpr unsigned kHonestAgents = 2;
constexpr rlim_t kDescriptors = kSlowConnections + 500;
constexpr unsigned kDripsPerSecond = 50;  // each moves every 50th connection by one byte
constexpr unsigned kMaxDrips = 90;        // per connection; the longest deadline is 30 s
constexpr std::uint64_t kBatchesOfOneKey = 250;

enum class Slowness { kHandshake, kHead, kBody, kReader };

// A connection that sends or reads one byte at a time.
class SlowConnection {
 public:
  SlowConnection(std::uint16_t port, unsigned number)
      : slowness_(static_cast<Slowness>(number % 4)) {
    const unsigned address = number % kAddresses;
    const std::string source = fmt::format("127.0.{}.{}", 1 + address / 100, 1 + address % 100);
    if (slowness_ == Slowness::kHandshake) {
      plain_.emplace(port, source);
      return;
    }
    tls_.emplace(port, source);
    if (slowness_ == Slowness::kHead) tls_->Send("GET / HTTP/1.1\r\nHost: a\r\nX: ");
    if (slowness_ == Slowness::kBody) {
      tls_->Send("POST /v1/batches HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
    }
    if (slowness_ == Slowness::kReader) {
      std::string requests;
      for (int i = 0; i < 20; ++i) requests += "GET /v1/root/x HTTP/1.1\r\nHost: a\r\n\r\n";
      tls_->Send(requests);
    }
  }

  Slowness slowness() const { return slowness_; }
  bool closed() const { return closed_; }

  // Sends or reads one more byte.
  void Drip() {
    if (slowness_ == Slowness::kReader) {
      closed_ = HasEnded() || !Read();
      return;
    }
    // The first bytes of a TLS record that never ends, or of an endless header or body.
    constexpr std::string_view kHello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
    const bool open =
        plain_ ? PlainDrip(kHello[std::min(sent_, kHello.size() - 1)]) : tls_->Send("x");
    ++sent_;
    closed_ = !open || HasEnded();
  }

 private:
  bool PlainDrip(char byte) const {
    return ::send(plain_->fd(), &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
  }
  bool HasEnded() const {
    pollfd polled{plain_ ? plain_->fd() : tls_->fd(), POLLRDHUP, 0};
    return ::poll(&polled, 1, 0) == 1;
  }
  bool Read() {
    pollfd polled{tls_->fd(), POLLIN, 0};
    return ::poll(&polled, 1, 0) == 0 || !tls_->ReadSome(1).empty();
  }

  const Slowness slowness_;
  std::optional<http::RawConnection> plain_;
  std::optional<faults::TlsConnection> tls_;
  std::size_t sent_ = 0;
  bool closed_ = false;
};

// All slow connections, and the thread that drips bytes until the server has closed those that
// count.
class SlowCrowd {
 public:
  SlowCrowd(std::uint16_t port, unsigned size, bool wait_for_bodies)
      : wait_for_bodies_(wait_for_bodies) {
    for (unsigned i = 0; i < size; ++i) {
      connections_.push_back(std::make_unique<SlowConnection>(port, i));
    }
    thread_ = std::thread([this] { Run(); });
  }
  ~SlowCrowd() {
    if (thread_.joinable()) thread_.join();
  }
  bool done() const { return done_; }
  // Waits for the end; returns how many connections the server has not closed.
  std::size_t WaitForEnd() {
    thread_.join();
    return Open();
  }

 private:
  bool Counts(const SlowConnection& connection) const {
    return wait_for_bodies_ || connection.slowness() != Slowness::kBody;
  }
  std::size_t Open() const {
    return static_cast<std::size_t>(std::count_if(
        connections_.begin(), connections_.end(),
        [this](const auto& connection) { return !connection->closed() && Counts(*connection); }));
  }
  void Run() {
    for (unsigned drip = 0; drip < kMaxDrips * kDripsPerSecond && Open() != 0; ++drip) {
      for (std::size_t i = drip % kDripsPerSecond; i < connections_.size(); i += kDripsPerSecond) {
        if (!connections_[i]->closed()) connections_[i]->Drip();
      }
      WaitForTheNextDrip();
    }
    done_ = true;
  }

  // Uses a timer that does not drift with the time spent dripping, because the exact slowness
  // matters.
  void WaitForTheNextDrip() {
    std::uint64_t ticks = 0;
    EXPECT_EQ(::read(clock_.get(), &ticks, sizeof ticks), static_cast<ssize_t>(sizeof ticks));
  }
  static UniqueFd DripClock() {
    UniqueFd clock(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
    const itimerspec period{
        .it_interval = {.tv_sec = 0, .tv_nsec = 1'000'000'000 / kDripsPerSecond},
        .it_value = {.tv_sec = 0, .tv_nsec = 1'000'000'000 / kDripsPerSecond}};
    EXPECT_EQ(::timerfd_settime(clock.get(), 0, &period, nullptr), 0);
    return clock;
  }

  const bool wait_for_bodies_;
  std::vector<std::unique_ptr<SlowConnection>> connections_;
  std::atomic<bool> done_ = false;
  const UniqueFd clock_ = DripClock();
  std::thread thread_;
};

class SlowFaults : public ServiceTest {
 protected:
  SlowFaults() {
    WriteConfig(Config("port = 0\nmax_connections = 4096\nrequests_per_minute_per_address = 0"));
    rlimit limit{};
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    enough_descriptors_ = limit.rlim_max >= kDescriptors;
    before_ = limit;
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~SlowFaults() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

  std::uint16_t Port() const {
    return static_cast<std::uint16_t>(std::stoul(url_.substr(url_.rfind(':') + 1)));
  }

  // Two agents send batches in sequence while `go_on` returns true. Returns the durations of all
  // requests, ascending.
  template <typename GoOn>
  std::vector<double> Work(GoOn go_on) {
    std::vector<std::vector<double>> times(kHonestAgents);
    std::vector<std::thread> agents;
    for (unsigned number = 0; number < kHonestAgents; ++number) {
      agents.emplace_back([&, number] {
        wire::BatchContent content = ingest::TestContent(20, WeekOf(SystemClock().Now()));
        http::Client client =
            http::Client::Create({.url = url_, .ca_file = certificates_.ca}).value();
        for (std::uint64_t sent = 0; go_on(sent); ++sent) {
          for (wire::BatchRow& row : content.rows) {
            row.first_contribution = sent % kBatchesOfOneKey == 0;
          }
          const http::Request request = ingest::SignedRequest(
              KeyOf(number, sent / kBatchesOfOneKey), 1 + sent % kBatchesOfOneKey, content);
          const auto start = SteadyClock::now();
          const Result<http::Response> response = client.Send(request);
          times[number].push_back(
              std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count());
          ASSERT_TRUE(response) << response.error().message;
          ASSERT_EQ(response->status, 200) << response->body;
          ASSERT_THAT(response->body, ::testing::HasSubstr("\"accepted_rows\":20"));
        }
      });
    }
    for (std::thread& agent : agents) agent.join();
    ++phase_;
    std::vector<double> all;
    for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  // One key per part of each phase, because a single agent may not send that often.
  crypto::PrivateKey KeyOf(unsigned agent, std::uint64_t part) const {
    std::string seed(32, static_cast<char>('A' + agent));
    seed[0] = static_cast<char>('A' + phase_);
    seed[1] = static_cast<char>('A' + part);
    return crypto::PrivateKey::FromSeed(seed);
  }

  static double P99(const std::vector<double>& sorted) { return sorted[sorted.size() * 99 / 100]; }

  bool enough_descriptors_ = false;
  rlimit before_{};
  unsigned phase_ = 0;
};

TEST_F(SlowFaults, HonestAgentsWorkOnWhileTwoThousandSlowConnectionsAreClosedOneByOne) {
  if (!enough_descriptors_) GTEST_SKIP() << "the hard limit of open files is too low";
  ASSERT_NO_FATAL_FAILURE(Start());
  const std::size_t samples = faults::LongForm() ? 4000 : 400;
  // Without the slow connections, before ...
  std::vector<double> quiet = Work([&](std::size_t done) { return done < samples; });
  std::optional<SlowCrowd> crowd;
  crowd.emplace(Port(), kSlowConnections, faults::LongForm());
  const std::vector<double> crowded = Work([&](std::size_t done) { return done < samples; });
  EXPECT_FALSE(crowd->done()) << "the slow connections were gone before the honest agents";
  EXPECT_EQ(crowd->WaitForEnd(), 0U) << "slow connections are still open";
  crowd.reset();  // including slow bodies, for which the server would wait at its shutdown
  // ... and after.
  const std::vector<double> after = Work([&](std::size_t done) { return done < samples; });
  quiet.insert(quiet.end(), after.begin(), after.end());
  std::sort(quiet.begin(), quiet.end());
  const double ratio = P99(crowded) / P99(quiet);
  fmt::print(
      "honest requests: p50 {:.2f} ms quiet, {:.2f} ms among {} slow connections; p99 {:.2f} "
      "ms, {:.2f} ms: ratio {:.2f} ({} and {} requests)\n",
      quiet[quiet.size() / 2], crowded[crowded.size() / 2], kSlowConnections, P99(quiet),
      P99(crowded), ratio, quiet.size(), crowded.size());
  if (faults::LongForm()) {
    EXPECT_LT(ratio, 2.0);
  }
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
