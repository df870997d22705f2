// Hostile agents among honest ones, against the real process: how far they shift the published
// figures, which must be within the bounds of aggregator/publish/BOUNDS.md. Each of their keys does
// everything it is allowed to: contributions as large and as small as accepted, the same ones again
// in other weeks, with other hardware classes and in another quarter, unlimited additions, and
// functions that do not exist. The short form has 40 honest agents, the long form also 4,000.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <thread>

#include "common/stats/quantiles.h"
#include "tests/faults/network/fault_run.h"
#include "tests/faults/network/hostile_fixture.h"
#include "tests/faults/network/poison.h"

namespace fieldcost::aggregator {
namespace {

using faults::HonestRow;
using faults::Range;

constexpr std::uint64_t kThreshold = 5;
constexpr unsigned kSenders = 8;

constexpr char kRaised[] = "raised";      // hostile agents claim that it costs seconds
constexpr char kLowered[] = "lowered";    // that it costs nothing
constexpr char kLone[] = "lone";          // named by one volunteer, and by them
constexpr char kInvented[] = "invented";  // named only by them

constexpr double kQuantiles[] = {0.5, 0.9};

struct Attack {
  const char* name;
  std::uint64_t keys;
};

class PoisonFaults : public HostileAgentsTest {
 protected:
  PoisonFaults() : HostileAgentsTest(kThreshold) {}

  static crypto::PrivateKey KeyOf(char kind, std::uint64_t number) {
    return crypto::PrivateKey::FromSeed(fmt::format("{}{:0>31}", kind, number));
  }

  wire::BatchRow RowOf(const std::string& symbol, bool is_first = true) const {
    wire::BatchRow row = ingest::TestRow(0, week_);
    row.api.symbol = symbol;
    row.first_contribution = is_first;
    row.histogram = {};
    return row;
  }

  static wire::BatchContent Content(const std::string& hardware) {
    wire::BatchContent content = ingest::TestContent(0, 0);
    content.hardware.cpu_family = hardware;
    return content;
  }

  // Returns a histogram with `calls` calls of the same value.
  static stats::CostHistogram Calls(std::uint64_t value, std::uint64_t calls) {
    stats::CostHistogram one;
    one.Add(value);
    stats::CostHistogram histogram;
    one.ForEachUsed([&](unsigned slot, const stats::Bucket& bucket) {
      histogram.SetBucket(slot, {.count = calls,
                                 .sum = bucket.sum * calls,
                                 .sum_of_squares = bucket.sum_of_squares * calls});
    });
    return histogram;
  }

  // Sends all requests and asserts how many rows of each are accepted, or that all are refused.
  void Send(const std::vector<http::Request>& requests, std::uint32_t accepted_rows,
            int status = 200) {
    std::vector<std::thread> senders;
    for (unsigned sender = 0; sender < kSenders; ++sender) {
      senders.emplace_back([&, sender] {
        http::Client client =
            http::Client::Create({.url = url_, .ca_file = certificates_.ca}).value();
        for (std::size_t i = sender; i < requests.size(); i += kSenders) {
          const auto response = client.Send(requests[i]);
          ASSERT_TRUE(response) << response.error().message;
          ASSERT_EQ(response->status, status) << response->body;
          if (status != 200) continue;
          const auto answer = wire::DecodeAnswer(response->body);
          ASSERT_TRUE(answer);
          EXPECT_EQ(answer->accepted_rows, accepted_rows) << response->body;
        }
      });
    }
    for (std::thread& sender : senders) sender.join();
  }

  // Machines differ in speed and in how often they use the function, and have a few slow calls.
  void SendHonest(std::uint64_t agents) {
    std::mt19937_64 random = faults::Randomness(agents);
    std::vector<http::Request> requests;
    for (std::uint64_t number = 0; number < agents; ++number) {
      wire::BatchRow row = RowOf(kRaised);
      const std::uint64_t typical = 300 + faults::Below(random, 1'500);
      const std::uint64_t calls = std::uint64_t{1} << (4 + faults::Below(random, 6));
      for (std::uint64_t call = 0; call < calls; ++call) {
        const std::uint64_t slow = faults::Below(random, 20) == 0 ? 16 : 1;
        row.histogram.Add(slow * (typical + faults::Below(random, typical)));
      }
      honest_.Add(row.histogram);
      wire::BatchContent content = Content("honest");
      content.rows = {RowOf(kLowered), row};
      content.rows[0].histogram = row.histogram;
      requests.push_back(ingest::SignedRequest(KeyOf('h', number), 1, content));
    }
    Send(requests, 2);
    wire::BatchContent content = Content("honest");
    content.rows = {RowOf(kLone)};
    content.rows[0].histogram = Calls(1'000, 7);
    Send({ingest::SignedRequest(KeyOf('h', 0), 2, content)}, 1);
  }

  void SendHostile(std::uint64_t first, std::uint64_t end) {
    const wire::Epoch epoch = ingest::EpochOfWeek(week_);
    std::vector<http::Request> contributions;
    std::vector<http::Request> additions;
    std::vector<http::Request> refused;
    std::vector<http::Request> of_another_quarter;
    for (std::uint64_t number = first; number < end; ++number) {
      const crypto::PrivateKey key = KeyOf('x', number);
      wire::BatchContent content = Content("hostile-1");
      content.rows = {RowOf(kInvented), RowOf(kLone), RowOf(kLowered), RowOf(kRaised)};
      content.rows[0].histogram = Calls(4'000'000'000, std::uint64_t{1} << 30);
      content.rows[1].histogram = Calls(1, 1);
      content.rows[2].histogram = Calls(1, std::uint64_t{1} << 39);
      content.rows[3].histogram = Calls(4'000'000'000, std::uint64_t{1} << 30);
      // Each row counts in only one of these weeks.
      const std::vector<wire::BatchRow> rows = content.rows;
      for (std::uint32_t week = week_ - 5; week <= week_ + 1; ++week) {
        if (week == week_) continue;
        for (wire::BatchRow row : rows) {
          row.week = week;
          content.rows.push_back(std::move(row));
        }
      }
      contributions.push_back(ingest::SignedRequest(key, 1, content));
      content.hardware.cpu_family = "hostile-2";
      refused.push_back(ingest::SignedRequest(key, 2, content));
      wire::BatchContent more = Content("hostile-1");
      more.rows = {RowOf(kLowered, false), RowOf(kRaised, false)};
      more.rows[0].histogram = content.rows[2].histogram;
      more.rows[1].histogram = content.rows[3].histogram;
      additions.push_back(ingest::SignedRequest(key, 3, more));
      ingest::SetTestEpoch(wire::Epoch(epoch.value() - 1));
      content.hardware.cpu_family = "hostile-3";
      of_another_quarter.push_back(ingest::SignedRequest(key, 1, content));
      ingest::SetTestEpoch(epoch);
    }
    Send(contributions, 4);
    Send(refused, 0);
    Send(of_another_quarter, 0, 400);
    Send(additions, 2);
  }

  // Publishes; returns the rows over all classes, by symbol.
  std::map<std::string, stats::StatRow> Publish() {
    server_->Signal(SIGUSR1);
    EXPECT_TRUE(server_->WaitForLine("published snapshot"));
    std::map<std::string, stats::StatRow> rows;
    for (stats::StatRow& row : Download()) {
      if (row.key.hardware == stats::HardwareClass{}) rows[row.key.api.symbol] = std::move(row);
    }
    return rows;
  }

  void ExpectWithinBounds(const stats::StatRow& row, std::uint64_t hostile) {
    SCOPED_TRACE(row.key.api.symbol);
    EXPECT_EQ(row.scalars.contributions, honest_.contributions() + hostile) << "each key once";
    EXPECT_EQ(row.weights.Contributions(), honest_.contributions() + hostile);
    for (const double p : kQuantiles) {
      const double published =
          stats::EstimateWeightedQuantile(row.histogram, row.weights, p).estimate;
      const Range range = honest_.Quantile(p, hostile);
      EXPECT_TRUE(range.Holds(published))
          << p << ": " << published << " is not in " << range.low << " to " << range.high;
    }
    EXPECT_EQ(row.bounded.contributions, honest_.contributions() + hostile);
    const auto calls = static_cast<double>(row.bounded.calls);
    const Range calls_range = honest_.BoundedCalls(hostile);
    EXPECT_TRUE(calls_range.Holds(calls))
        << calls << " is not in " << calls_range.low << " to " << calls_range.high;
    const auto sum = static_cast<double>(row.bounded.sum);
    const Range sum_range = honest_.BoundedSum(hostile);
    EXPECT_TRUE(sum_range.Holds(sum))
        << sum << " is not in " << sum_range.low << " to " << sum_range.high;
  }

  // Prints a row of the table in HOSTILE_AGENTS.md.
  void Print(const char* attack, std::uint64_t hostile, const stats::StatRow& row) const {
    fmt::print("| {} | {} ({}) | {} |", honest_.contributions(), hostile, attack,
               row.key.api.symbol);
    for (const double p : kQuantiles) {
      const Range range = honest_.Quantile(p, hostile);
      fmt::print(" {:.3g} ({:.3g} to {:.3g}) |",
                 stats::EstimateWeightedQuantile(row.histogram, row.weights, p).estimate, range.low,
                 range.high);
    }
    const double honest = honest_.sum();
    const Range range = honest_.BoundedSum(hostile);
    fmt::print(" {:.3g} ({:.3g} to {:.3g}) | {:.3g} |\n",
               static_cast<double>(row.bounded.sum) / honest, range.low / honest,
               range.high / honest, static_cast<double>(row.histogram.Totals().sum) / honest);
  }

  void Run(std::uint64_t honest, const std::vector<Attack>& attacks) {
    ingest::SetTestEpoch(ingest::EpochOfWeek(week_));
    ASSERT_NO_FATAL_FAILURE(Start());
    ASSERT_NO_FATAL_FAILURE(SendHonest(honest));
    fmt::print("| honest | hostile | function | p50, ns | p90, ns | bounded sum | sum |\n");
    std::uint64_t hostile = 0;
    for (const Attack& attack : attacks) {
      SCOPED_TRACE(attack.name);
      ASSERT_GE(attack.keys, hostile);
      ASSERT_NO_FATAL_FAILURE(SendHostile(hostile, attack.keys));
      hostile = attack.keys;
      const auto rows = Publish();
      for (const char* const attacked : {kRaised, kLowered}) {
        ASSERT_TRUE(rows.contains(attacked));
        ExpectWithinBounds(rows.at(attacked), hostile);
        Print(attack.name, hostile, rows.at(attacked));
      }
      EXPECT_EQ(rows.contains(kInvented), hostile >= kThreshold);
      EXPECT_EQ(rows.contains(kLone), 1 + hostile >= kThreshold)
          << "one more key is one more agent";
    }
    Stop();
  }

  const std::uint32_t week_ = WeekOf(SystemClock().Now());
  HonestRow honest_;
};

TEST_F(PoisonFaults, FortyHonestAgents) {
  Run(40, {{"none", 0}, {"one", 1}, {"5 %", 2}, {"k - 1", kThreshold - 1}, {"20 %", 10}});
}

TEST_F(PoisonFaults, FourThousandHonestAgents) {
  if (!faults::LongForm()) GTEST_SKIP() << "only in the long form";
  Run(4'000, {{"none", 0}, {"one", 1}, {"k - 1", kThreshold - 1}, {"5 %", 210}, {"20 %", 1'000}});
}

}  // namespace
}  // namespace fieldcost::aggregator
