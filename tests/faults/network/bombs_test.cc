// Agents sign and send bodies that are small to send but expensive to decode, on many connections
// at once, to the real process: each is refused, nothing is stored, and memory use stays bounded.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "common/base/file.h"
#include "tests/aggregator/service/service_fixture.h"
#include "tests/faults/network/bombs.h"
#include "tests/faults/network/fault_run.h"

namespace fieldcost::aggregator {
namespace {

constexpr unsigned kSenders = 16;  // the number of ingest threads

// The memory that decoding may take, over all threads. A body has at most 256 KiB and decodes to at
// most 1 MiB. The worst case is half a million empty strings: 8 + 48 bytes each, and as much again
// for pointers while their array grows, before they are counted.
constexpr std::size_t kMaxGrowthKib = std::size_t{kSenders} * 48 * 1024;

class BombFaults : public ServiceTest {
 protected:
  BombFaults() {
    WriteConfig(
        Config("port = 0\nmax_connections_per_address = 0\n"
               "requests_per_minute_per_address = 0"));
  }

  // Returns VmHWM, the peak memory of the process.
  std::size_t PeakMemoryKib() const {
    const auto status = ReadFile(fmt::format("/proc/{}/status", server_->pid()), 64 * 1024);
    EXPECT_TRUE(status);
    const std::size_t at = status->find("VmHWM:");
    EXPECT_NE(at, status->npos);
    return std::stoul(status->substr(at + 6));
  }

  http::Client NewClient() const {
    return http::Client::Create({.url = url_, .ca_file = certificates_.ca}).value();
  }
};

TEST_F(BombFaults, EachIsRefusedWithItsStatusAndMemoryStaysBounded) {
  ASSERT_NO_FATAL_FAILURE(Start());
  wire::BatchContent honest = ingest::TestContent(20, WeekOf(SystemClock().Now()));
  const http::Response first = MustSend(ingest::SignedRequest(key_, 1, honest));
  ASSERT_EQ(first.status, 200) << first.body;
  const std::size_t before = PeakMemoryKib();

  const std::vector<faults::Bomb> bombs = faults::MakeBombs();
  const unsigned rounds = faults::LongForm() ? 10 : 1;
  std::atomic<std::size_t> refused = 0;
  std::vector<std::thread> senders;
  for (unsigned number = 0; number < kSenders; ++number) {
    senders.emplace_back([&, number] {
      const auto key =
          crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('A' + number)));
      http::Client client = NewClient();
      for (std::size_t i = 0; i < rounds * bombs.size(); ++i) {
        const faults::Bomb& bomb = bombs[i % bombs.size()];
        const auto response = client.Send(ingest::SignedRequest(key, 1 + i, bomb.body));
        ASSERT_TRUE(response) << bomb.name << ": " << response.error().message;
        EXPECT_EQ(response->status, bomb.status) << bomb.name << ": " << response->body;
        ++refused;
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(refused, kSenders * rounds * bombs.size());

  const std::size_t after = PeakMemoryKib();
  fmt::print("{} bombs, {} times each: peak memory {} KiB before, {} KiB after, {} KiB allowed\n",
             bombs.size(), kSenders * rounds, before, after, before + kMaxGrowthKib);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these need memory themselves
  EXPECT_LE(after, before + kMaxGrowthKib);
#endif
  for (wire::BatchRow& row : honest.rows) row.first_contribution = false;
  const http::Response last = MustSend(ingest::SignedRequest(key_, 2, honest));
  EXPECT_EQ(last.status, 200) << last.body;
  EXPECT_THAT(last.body, ::testing::HasSubstr("\"accepted_rows\":20"));
  Stop();
  const testing::ProcessResult verified = testing::RunProcess(Command({"verify"}));
  EXPECT_EQ(verified.exit_status, 0) << verified.errors;
  EXPECT_THAT(verified.output, ::testing::HasSubstr(" batches=2 "));
}

TEST_F(BombFaults, UnsignedOnesAreNotEvenOpened) {
  ASSERT_NO_FATAL_FAILURE(Start());
  for (const faults::Bomb& bomb : faults::MakeBombs()) {
    http::Request request = ingest::SignedRequest(key_, 1, bomb.body);
    ingest::SetHeader(request, wire::kSignatureHeader, std::string(128, '0'));
    EXPECT_EQ(MustSend(request).status, 401) << bomb.name;
  }
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
