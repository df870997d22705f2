#include "tests/faults/service/fleet.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <thread>

#include "aggregator/store/store.h"
#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/http/client.h"
#include "common/stats/agent_weights.h"
#include "tests/aggregator/ingest/sender.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kFunctions = 60;  // the functions that batches may name
constexpr unsigned kMostRows = 12;
constexpr std::size_t kSentAgain = 30;  // of the last batches; below the ledger's window
constexpr unsigned kManyRequests = 1'000;

wire::BatchRow RowOf(unsigned function, std::uint32_t week, Random& random) {
  wire::BatchRow row = ingest::TestRow(function, week);
  row.histogram = {};
  const std::uint64_t values = 1 + random() % 30;
  for (std::uint64_t i = 0; i < values; ++i) row.histogram.Add(1 + random() % 100'000);
  return row;
}

}  // namespace

// One agent's session with the server, between a start and its end.
class Fleet::Session {
 public:
  enum class Outcome { kAnswered, kUnavailable, kBroken };

  Session(Fleet& fleet, Agent& agent, const Server& server) : fleet_(fleet), agent_(agent) {
    auto client = http::Client::Create({.url = server.url,
                                        .ca_file = server.ca,
                                        .connect_timeout = std::chrono::milliseconds(20'000),
                                        .request_timeout = std::chrono::milliseconds(20'000)});
    FIELDCOST_CHECK(client.has_value());
    client_.emplace(std::move(*client));
  }

  Outcome Send(std::size_t sequence) {
    Batch& batch = agent_.batches[sequence - 1];
    std::string body;
    const Outcome outcome = Ask(ingest::SignedRequest(agent_.key, sequence, batch.body), body);
    if (outcome != Outcome::kAnswered) return outcome;
    if (!batch.answer.empty() && batch.answer != body) {
      return Broken("another answer than before: " + batch.answer + " and now " + body);
    }
    const auto answer = wire::DecodeAnswer(body);
    if (!answer || !answer->rejects.empty()) return Broken("rows were refused: " + body);
    batch.answer = body;
    return Outcome::kAnswered;
  }

  Outcome Withdraw(std::size_t sequence) {
    Batch& batch = agent_.batches[sequence - 1];
    const auto first = wire::DecodeAnswer(batch.answer);
    FIELDCOST_CHECK(first.has_value());
    batch.withdrawal_asked = true;
    agent_.open_withdrawal = sequence;
    std::string body;
    const Outcome outcome =
        Ask(ingest::WithdrawalRequest(agent_.key, sequence, batch.body, first->receipt), body);
    if (outcome != Outcome::kAnswered) return outcome;
    // Only the first withdrawal changes this: others may have contributed the rows since.
    if (!batch.withdrawn) {
      for (const unsigned function : batch.contributed) agent_.contributed.erase(function);
    }
    batch.withdrawn = true;
    agent_.open_withdrawal = 0;
    return Outcome::kAnswered;
  }

  // Repeats an unanswered request if there is one; otherwise sends something new or repeats an
  // older request.
  Outcome Next() {
    std::vector<Batch>& batches = agent_.batches;
    if (agent_.open_withdrawal != 0) return Withdraw(agent_.open_withdrawal);
    if (!batches.empty() && batches.back().answer.empty()) return Send(batches.size());
    if (!batches.empty() && agent_.random() % 6 == 0) {
      return Send(batches.size() - agent_.random() % std::min<std::size_t>(batches.size(), 5));
    }
    if (!batches.empty() && agent_.random() % 6 == 0 && !batches.back().withdrawal_asked) {
      return Withdraw(batches.size());
    }
    AddBatch(agent_);
    return Send(batches.size());
  }

  const std::string& trouble() const { return trouble_; }

 private:
  Outcome Ask(const http::Request& request, std::string& body) {
    const Result<http::Response> response = client_->Send(request);
    if (!response) return Refused(response.error().message);
    if (response->status == 503) {
      ++fleet_.unavailable_;
      return Refused(response->body);
    }
    if (response->status != 200) {
      return Broken(
          fmt::format("status {} for {}: {}", response->status, request.target, response->body));
    }
    body = response->body;
    return Outcome::kAnswered;
  }

  Outcome Refused(const std::string& why) {
    const std::lock_guard lock(fleet_.mutex_);
    fleet_.last_refusal_ = why;
    return Outcome::kUnavailable;
  }

  Outcome Broken(std::string what) {
    trouble_ = fmt::format("agent {}: {}", agent_.number, what);
    return Outcome::kBroken;
  }

  Fleet& fleet_;
  Agent& agent_;
  std::optional<http::Client> client_;
  std::string trouble_;
};

Fleet::Fleet(unsigned agents, std::uint64_t seed) {
  for (unsigned i = 0; i < agents; ++i) {
    Random random(seed * 1'000 + i);
    std::string key_seed(32, '\0');
    for (char& byte : key_seed) byte = static_cast<char>(random());
    agents_.push_back(
        {.number = i, .key = crypto::PrivateKey::FromSeed(key_seed), .random = random});
  }
}

void Fleet::AddBatch(Agent& agent) {
  wire::BatchContent content = ingest::TestContent(0, WeekOf(SystemClock().Now()));
  const std::uint32_t week = WeekOf(SystemClock().Now());
  Batch batch;
  std::set<unsigned> functions;
  for (std::uint64_t left = 1 + agent.random() % kMostRows; left > 0; --left) {
    functions.insert(static_cast<unsigned>(agent.random() % kFunctions));
  }
  for (const unsigned function : functions) {
    wire::BatchRow row = RowOf(function, week, agent.random);
    row.first_contribution = agent.contributed.insert(function).second;
    if (row.first_contribution) batch.contributed.push_back(function);
    const stats::RowKey key{row.api, row.metric, content.hardware, row.week};
    RowSums& sums = batch.sums[key];
    sums.key = key;
    sums.histogram.Merge(row.histogram);
    if (row.first_contribution) {
      sums.scalars.Merge(stats::ScalarsOf(row.histogram));
      sums.weights.Merge(stats::WeightsOf(row.histogram));
      sums.sizes.Merge(stats::SizesOf(row.histogram));
    }
    content.rows.push_back(std::move(row));
  }
  auto body = wire::EncodeBatch(content);
  FIELDCOST_CHECK(body.has_value());
  batch.body = std::move(*body);
  agent.batches.push_back(std::move(batch));
}

std::string Fleet::Work(const Server& server, unsigned requests, const std::atomic<bool>& stop,
                        const std::function<void()>& on_answer) {
  std::mutex mutex;
  std::string trouble;
  std::vector<std::thread> threads;
  for (Agent& agent : agents_) {
    threads.emplace_back([&] {
      Session session(*this, agent, server);
      auto outcome = Session::Outcome::kAnswered;
      for (unsigned i = 0; i < requests && !stop && outcome == Session::Outcome::kAnswered; ++i) {
        outcome = session.Next();
        if (outcome == Session::Outcome::kAnswered) on_answer();
      }
      const std::lock_guard lock(mutex);
      if (!session.trouble().empty()) trouble = session.trouble();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return trouble;
}

std::string Fleet::Finish(const Server& server) {
  for (Agent& agent : agents_) {
    Session session(*this, agent, server);
    for (unsigned i = 0; i < kManyRequests; ++i) {
      const bool open = agent.open_withdrawal != 0 ||
                        (!agent.batches.empty() && agent.batches.back().answer.empty());
      if (!open) break;
      if (session.Next() != Session::Outcome::kAnswered) {
        return "no answer from a good server: " + session.trouble();
      }
    }
  }
  return {};
}

std::string Fleet::SendAgain(const Server& server) {
  for (Agent& agent : agents_) {
    Session session(*this, agent, server);
    const std::size_t sent = agent.batches.size();
    for (std::size_t i = sent > kSentAgain ? sent - kSentAgain : 0; i < sent; ++i) {
      if (session.Send(i + 1) != Session::Outcome::kAnswered) {
        return "a batch sent again is not answered as before: " + session.trouble();
      }
      if (!agent.batches[i].withdrawn) continue;
      if (session.Withdraw(i + 1) != Session::Outcome::kAnswered) {
        return "a withdrawal asked again is not answered: " + session.trouble();
      }
    }
  }
  return {};
}

std::string Fleet::last_refusal() const {
  const std::lock_guard lock(mutex_);
  return last_refusal_;
}

Sums Fleet::Expected() const {
  Sums sums;
  for (const Agent& agent : agents_) {
    for (const Batch& batch : agent.batches) {
      if (batch.withdrawn) continue;
      for (const auto& [key, row] : batch.sums) {
        RowSums& sum = sums[key];
        sum.key = key;
        sum.histogram.Merge(row.histogram);
        sum.scalars.Merge(row.scalars);
        sum.weights.Merge(row.weights);
        sum.sizes.Merge(row.sizes);
      }
    }
  }
  return sums;
}

std::uint64_t Fleet::batches() const {
  std::uint64_t count = 0;
  for (const Agent& agent : agents_) {
    for (const Batch& batch : agent.batches) count += batch.withdrawn ? 0 : 1;
  }
  return count;
}

std::uint64_t Fleet::withdrawn() const {
  std::uint64_t count = 0;
  for (const Agent& agent : agents_) {
    for (const Batch& batch : agent.batches) count += batch.withdrawn ? 1 : 0;
  }
  return count;
}

Sums StoredRows(const std::filesystem::path& data_dir, std::uint64_t expected_batches,
                std::string& trouble) {
  Sums rows;
  const auto store = store::Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0});
  if (!store) {
    trouble = store.error().message;
    return rows;
  }
  const auto report = (*store)->Verify();
  if (!report || !report->ok()) {
    trouble = report ? report->first_problem : report.error().message;
  } else if (report->expected.batches != expected_batches) {
    trouble = fmt::format("{} batches are stored, {} were sent", report->expected.batches,
                          expected_batches);
  }
  const auto snapshot = (*store)->TakeSnapshot();
  FIELDCOST_CHECK(snapshot.has_value());
  const Status status =
      snapshot->ForEach([&](const stats::RowKey& key, const store::CompactRow& row) -> Status {
        rows[key] = {{key, row.ToHistogram(), row.scalars, row.ToWeights()}, row.sizes};
        return {};
      });
  if (!status) trouble = status.error().message;
  return rows;
}

}  // namespace fieldcost::faults
