// Hostile agents name versions of a function that do not exist, so that nothing else fits into its
// fragment. With the real process, honest rows must remain, and the log must name the keys that
// filled the fragment. The short form has 40 honest agents, the long form also 4,000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "aggregator/ingest/ingest_limits.h"
#include "tests/faults/network/fault_run.h"
#include "tests/faults/network/hostile_fixture.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::uint64_t kThreshold = 5;
constexpr unsigned kSenders = 8;
constexpr unsigned kLibraries = 8;
constexpr unsigned kFunctions = 50;        // of each library, as called by honest agents
constexpr std::uint64_t kMostGroups = 64;  // of hostile keys: at most half a million rows
constexpr unsigned kInvented = ingest::kMaxContributionsPerWeekOfHistory;

class CrowdingFaults : public HostileAgentsTest {
 protected:
  CrowdingFaults() : HostileAgentsTest(kThreshold) {}

  wire::BatchRow RowOf(unsigned library, unsigned function, std::string version) const {
    wire::BatchRow row = ingest::TestRow(0, week_);
    row.api = {.soname = fmt::format("lib{}.so.1", library),
               .package_version = std::move(version),
               .symbol = fmt::format("function_{}", function)};
    row.histogram = {};
    row.histogram.Add(1'000 + function);
    return row;
  }

  // The batch of each honest agent: all functions, in one version.
  wire::BatchContent HonestContent() const {
    wire::BatchContent content = ingest::TestContent(0, week_);
    for (unsigned library = 0; library < kLibraries; ++library) {
      for (unsigned function = 0; function < kFunctions; ++function) {
        content.rows.push_back(RowOf(library, function, "1.2-3"));
      }
    }
    return content;
  }

  // As many versions of one function as a new key may name, sent by as many keys as are needed to
  // publish them.
  wire::BatchContent HostileContent(std::uint64_t number) const {
    wire::BatchContent content = ingest::TestContent(0, week_);
    const std::uint64_t group = number / kThreshold % kMostGroups;
    for (unsigned version = 0; version < kInvented; ++version) {
      content.rows.push_back(RowOf(3, 7, fmt::format("0.{}.{}", group, version)));
    }
    return content;
  }

  // Sends one batch per number and asserts that all rows are accepted.
  template <typename ContentOf>
  void Send(char kind, std::uint64_t first, std::uint64_t end, const ContentOf& content_of) {
    std::vector<std::thread> senders;
    for (unsigned sender = 0; sender < kSenders; ++sender) {
      senders.emplace_back([&, sender] {
        http::Client client =
            http::Client::Create({.url = url_, .ca_file = certificates_.ca}).value();
        for (std::uint64_t number = first + sender; number < end; number += kSenders) {
          const auto key = crypto::PrivateKey::FromSeed(fmt::format("{}{:0>31}", kind, number));
          const wire::BatchContent content = content_of(number);
          const auto response = client.Send(ingest::SignedRequest(key, 1, content));
          ASSERT_TRUE(response) << response.error().message;
          ASSERT_EQ(response->status, 200) << response->body;
          ASSERT_EQ(wire::DecodeAnswer(response->body)->accepted_rows, content.rows.size());
        }
      });
    }
    for (std::thread& sender : senders) sender.join();
  }

  // Returns how many honest rows are published; `line` is set to the log line of the publication.
  std::size_t PublishedHonest(std::string& line) {
    server_->Signal(SIGUSR1);
    EXPECT_TRUE(server_->WaitForLine("published snapshot", &line));
    std::set<stats::ApiKey> published;
    for (const stats::StatRow& row : Download()) published.insert(row.key.api);
    const wire::BatchContent honest = HonestContent();
    return static_cast<std::size_t>(std::ranges::count_if(
        honest.rows, [&](const wire::BatchRow& row) { return published.contains(row.api); }));
  }

  void Run(std::uint64_t honest, const std::vector<std::uint64_t>& attacks) {
    ingest::SetTestEpoch(ingest::EpochOfWeek(week_));
    ASSERT_NO_FATAL_FAILURE(Start());
    const wire::BatchContent content = HonestContent();
    ASSERT_NO_FATAL_FAILURE(Send('h', 0, honest, [&](std::uint64_t) { return content; }));
    std::uint64_t hostile = 0;
    for (const std::uint64_t keys : attacks) {
      SCOPED_TRACE(keys);
      ASSERT_NO_FATAL_FAILURE(Send(
          'x', hostile, keys, [this](std::uint64_t number) { return HostileContent(number); }));
      hostile = keys;
      std::string line;
      const std::size_t kept = PublishedHonest(line);
      EXPECT_GE(100 * kept, 99 * content.rows.size()) << kept << " are published";
      fmt::print("{} honest agents, {} hostile: {} of {} honest rows; {}\n", honest, hostile, kept,
                 content.rows.size(), line);
    }
  }

  const std::uint32_t week_ = WeekOf(SystemClock().Now());
};

TEST_F(CrowdingFaults, FortyHonestAgents) {
  Run(40, {2, 10});
  ASSERT_FALSE(HasFatalFailure());
  // Enough keys to fill a fragment: the log must name each of them, and no honest agent.
  constexpr std::uint64_t kFilling = 15;
  Send('x', 10, kFilling, [this](std::uint64_t number) { return HostileContent(number); });
  std::string line;
  EXPECT_GE(100 * PublishedHonest(line), 99 * kLibraries * kFunctions);
  EXPECT_THAT(line, ::testing::Not(::testing::HasSubstr("crowded_out=0"))) << line;
  server_->Signal(SIGTERM);
  const std::string output = server_->Wait().output;
  const std::string event = "kind=crowding";
  std::uint64_t named = 0;
  for (auto at = output.find(event); at != std::string::npos; at = output.find(event, at + 1)) {
    ++named;
  }
  EXPECT_EQ(named, kFilling) << output;
}

TEST_F(CrowdingFaults, FourThousandHonestAgents) {
  if (!faults::LongForm()) GTEST_SKIP() << "only in the long form";
  Run(4'000, {210, 1'000});
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
