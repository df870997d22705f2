#include "tests/faults/store/fleet.h"

#include <algorithm>
#include <atomic>
#include <latch>
#include <optional>
#include <thread>

#include "tests/aggregator/store/publish_all.h"

namespace fieldcost::faults {
namespace {

using store::MakeTestBatch;
using store::Store;
using store::TestBatch;

constexpr std::uint64_t kAskedAgain = 40;  // of the last batches; below the ledger's window
constexpr unsigned kFirstRevoked = 100;    // agents that never send
constexpr unsigned kOperations = 10;
constexpr std::uint32_t kWeekLeft = 2901;  // batches have rows of this and the previous week

Error Broken(const std::string& what) { return Fail(ErrorCode::kCorrupt, "{}", what); }

std::string NameOf(unsigned agent, std::uint64_t sequence) {
  return "batch " + std::to_string(sequence) + " of agent " + std::to_string(agent);
}

}  // namespace

Fleet::Fleet(unsigned agents, unsigned probation_batches)
    : agents_(agents), probation_batches_(probation_batches) {
  for (unsigned i = 0; i < agents; ++i) agents_[i].number = i;
}

Fleet::Fleet(const Fleet& other) {
  const std::lock_guard lock(other.mutex_);
  agents_ = other.agents_;
  probation_batches_ = other.probation_batches_;
  revoked_ = other.revoked_;
  expired_ = other.expired_;
}

Status Fleet::Send(Store& store, Agent& agent, std::uint64_t sequence, bool& refused) {
  std::unique_lock lock(mutex_);
  if (sequence > agent.batches.size()) agent.batches.emplace_back();
  lock.unlock();
  Batch& state = agent.batches[sequence - 1];
  TestBatch batch;
  MakeTestBatch(agent.number, sequence, batch, nullptr);
  const auto result = store.Accept(batch.View());
  const std::string name = NameOf(agent.number, sequence);
  if (!result) {
    refused = true;
    if (result.error().code == ErrorCode::kIo) return {};
    return Broken(name + " is refused: " + result.error().message);
  }
  if (state.sent == Told::kAnswered && !result->replay) return Broken(name + " was forgotten");
  if (result->answer != batch.answer) return Broken(name + " got another answer");
  lock.lock();
  state.sent = Told::kAnswered;
  return {};
}

Status Fleet::Withdraw(Store& store, Agent& agent, std::uint64_t sequence, bool& refused) {
  Batch& state = agent.batches[sequence - 1];
  std::unique_lock lock(mutex_);
  if (state.withdrawn == Told::kNothing) state.withdrawn = Told::kAsked;
  lock.unlock();
  TestBatch batch;
  MakeTestBatch(agent.number, sequence, batch, nullptr);
  // Even sequences are withdrawn by the operator using the kept batch; odd ones, and held batches
  // in any case, by the agent itself.
  auto result = sequence % 2 == 0 ? store.WithdrawKept(batch.agent_id, batch.epoch, batch.sequence)
                                  : store.Withdraw(batch.Undo());
  if (result && result->kind == store::WithdrawalKind::kRepeated && result->withdrawn_rows == 0) {
    result = store.Withdraw(batch.Undo());
  }
  const std::string name = "the withdrawal of " + NameOf(agent.number, sequence);
  if (!result) {
    refused = true;
    if (result.error().code == ErrorCode::kIo) return {};
    return Broken(name + " is refused: " + result.error().message);
  }
  if (result->kind == store::WithdrawalKind::kNeverDelivered) {
    return Broken(NameOf(agent.number, sequence) + " was forgotten, according to its withdrawal");
  }
  if (state.withdrawn == Told::kAnswered && result->kind != store::WithdrawalKind::kRepeated) {
    return Broken(name + " was forgotten");
  }
  lock.lock();
  // The kept copy of a batch that was released without its expired rows lacks those rows.
  const std::uint32_t rows = batch.rows.row_count();
  if (expired_ == Told::kNothing ? result->withdrawn_rows != rows : result->withdrawn_rows > rows) {
    return Broken(name + " took other rows");
  }
  state.withdrawn = Told::kAnswered;
  return {};
}

Status Fleet::Enrol(Store& store, Agent& agent, std::uint64_t epoch, bool& refused) {
  std::unique_lock lock(mutex_);
  Told& told = agent.enrolments[epoch];
  if (told == Told::kNothing) told = Told::kAsked;
  lock.unlock();
  if (!store.Enrol(store::TestAgent(agent.number), wire::Epoch(epoch))) {
    refused = true;
    return {};
  }
  lock.lock();
  told = Told::kAnswered;
  return {};
}

Status Fleet::Act(Store& store, Agent& agent, Random& random, bool& refused) {
  const std::uint64_t sent = agent.batches.size();
  if (agent.Open()) return Send(store, agent, sent, refused);
  if (sent != 0 && random() % 8 == 0) {
    return Send(store, agent, sent - random() % std::min<std::uint64_t>(sent, 8), refused);
  }
  if (sent != 0 && random() % 4 == 0) {
    return Withdraw(store, agent, sent - random() % std::min<std::uint64_t>(sent, 8), refused);
  }
  if (random() % 8 == 0) return Enrol(store, agent, 1 + random() % 20, refused);
  return Send(store, agent, sent + 1, refused);
}

Status Fleet::Expire(Store& store, bool& refused) {
  std::unique_lock lock(mutex_);
  if (expired_ == Told::kNothing) expired_ = Told::kAsked;
  lock.unlock();
  const auto report = store.Expire(kWeekLeft, wire::Epoch(0));
  refused = !report;
  if (!report) return {};
  lock.lock();
  if (expired_ == Told::kAnswered && report->rows != 0) return Broken("expired rows came back");
  expired_ = Told::kAnswered;
  return {};
}

Status Fleet::Publish(Store& store, std::uint64_t version, bool& refused) {
  const Status status = store::PublishAll(store, version);
  refused = !status;
  if (refused && status.error().code == ErrorCode::kCorrupt) {
    return Broken("a publication: " + status.error().message);
  }
  return {};
}

Status Fleet::Operate(Store& store, bool expire, Random& random, bool& refused) {
  if (expire && random() % 6 == 0) return Expire(store, refused);
  switch (random() % 5) {
    case 4:
      return Publish(store, random(), refused);
    case 0: {
      refused = !store.Checkpoint();
      return {};
    }
    case 1: {
      const unsigned agent = kFirstRevoked + static_cast<unsigned>(random() % 20);
      std::unique_lock lock(mutex_);
      Told& told = revoked_[agent];
      if (told == Told::kNothing) told = Told::kAsked;
      lock.unlock();
      refused = !store.Revoke(store::TestAgent(agent));
      lock.lock();
      if (!refused) told = Told::kAnswered;
      return {};
    }
    case 2: {
      const auto report = store.Verify();
      refused = !report;
      if (report && !report->ok()) return Broken("while running: " + report->first_problem);
      return {};
    }
    default: {
      refused = !store.Get(store::TestKey(static_cast<unsigned>(random() % 40)));
      return {};
    }
  }
}

Status Fleet::Run(Store& store, const Work& work) {
  std::mutex mutex;
  Status first_broken;
  std::latch start(static_cast<std::ptrdiff_t>(agents_.size() + (work.operator_too ? 1 : 0)));
  const auto loop = [&](unsigned number, unsigned actions, const auto& act) {
    Random random(work.seed * 1'000 + number);
    start.arrive_and_wait();
    bool refused = false;
    for (unsigned i = 0; i < actions && !refused; ++i) {
      Status status = act(random, refused);
      if (status) continue;
      const std::lock_guard lock(mutex);
      if (first_broken) first_broken = std::move(status);
      return;
    }
  };
  std::vector<std::thread> threads;
  for (Agent& agent : agents_) {
    threads.emplace_back([&] {
      loop(agent.number, work.actions,
           [&](Random& random, bool& refused) { return Act(store, agent, random, refused); });
    });
  }
  if (work.operator_too) {
    threads.emplace_back([&] {
      loop(static_cast<unsigned>(agents_.size()), kOperations, [&](Random& random, bool& refused) {
        return Operate(store, work.expire, random, refused);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return first_broken;
}

Status Fleet::Resend(Store& store, Agent& agent) {
  bool refused = false;
  const std::uint64_t sent = agent.batches.size();
  const std::uint64_t first = sent > kAskedAgain ? sent - kAskedAgain : 0;
  for (std::uint64_t i = first; i < sent; ++i) {
    FIELDCOST_TRY(Send(store, agent, i + 1, refused));
    if (agent.batches[i].withdrawn != Told::kNothing) {
      FIELDCOST_TRY(Withdraw(store, agent, i + 1, refused));
    }
  }
  for (const auto& [epoch, told] : agent.enrolments) {
    const auto enrolled = store.IsEnrolled(store::TestAgent(agent.number), wire::Epoch(epoch));
    if (!enrolled || (!*enrolled && told == Told::kAnswered)) {
      return Broken("an enrolment was forgotten");
    }
  }
  return refused ? Broken("refused on a disk without faults") : Status();
}

Status Fleet::CheckRevoked(Store& store) const {
  FIELDCOST_ASSIGN(const auto revoked, store.RevokedAgents());
  for (const auto& [agent, told] : revoked_) {
    const bool known =
        std::find(revoked.begin(), revoked.end(), store::TestAgent(agent)) != revoked.end();
    if (!known && told == Told::kAnswered) return Broken("a revocation was forgotten");
  }
  return {};
}

Status Fleet::Check(Store& store) {
  FIELDCOST_ASSIGN(const auto before, store.Verify());
  if (!before.ok()) return Broken("as it was found: " + before.first_problem);
  FIELDCOST_TRY(CheckRevoked(store));
  const bool expired = expired_ != Told::kNothing;
  if (expired) {
    if (expired_ == Told::kAnswered && store.first_week() < kWeekLeft) {
      return Broken("an expiry was forgotten");
    }
    bool refused = false;
    FIELDCOST_TRY(Expire(store, refused));
    if (refused) return Broken("expiry is refused on a disk without faults");
  }
  store::Sums sums;
  TestBatch batch;
  std::uint64_t batches = 0;
  for (Agent& agent : agents_) {
    FIELDCOST_TRY(Resend(store, agent));
    if (agent.batches.size() < probation_batches_) continue;
    for (std::uint64_t i = 0; i < agent.batches.size(); ++i) {
      if (agent.batches[i].withdrawn != Told::kNothing) continue;
      MakeTestBatch(agent.number, i + 1, batch, &sums);
      ++batches;
    }
  }
  store::Sums rows = store::AllRows(store);
  // Rows accepted after the expiry are present, because ingest is what refuses them. Verify()
  // checks their sums.
  for (store::Sums* const some : {&sums, &rows}) {
    std::erase_if(*some, [&](const auto& row) { return expired && row.first.week < kWeekLeft; });
  }
  if (rows != sums) return Broken("the rows are not the sum of what was sent");
  bool refused = false;
  FIELDCOST_TRY(Publish(store, 0, refused));
  if (refused) return Broken("a publication is refused on a disk without faults");
  FIELDCOST_ASSIGN(const auto after, store.Verify());
  if (!after.ok()) return Broken(after.first_problem);
  if (after.marked_withdrawals != 0) return Broken("a publication has left marks");
  if (after.expected.batches != batches) {
    return Broken("the store counts " + std::to_string(after.expected.batches) +
                  " batches, there were " + std::to_string(batches));
  }
  return {};
}

std::uint64_t Fleet::acknowledged() const {
  std::uint64_t count = 0;
  for (const Agent& agent : agents_) {
    for (const Batch& batch : agent.batches) {
      count += batch.sent == Told::kAnswered ? 1 : 0;
      count += batch.withdrawn == Told::kAnswered ? 1 : 0;
    }
  }
  return count;
}

}  // namespace fieldcost::faults
