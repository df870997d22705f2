#include "tests/aggregator/store/probation_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace fieldcost::store {
namespace {

constexpr std::uint32_t kContributedWeek = 2900;

// The contribution hash that the test's batches use.
std::uint64_t HashOf(const ProbationModel::Batch& batch) { return batch.second * 7919; }

bool Contributes(const TestBatch& batch) {
  bool found = false;
  const Status read =
      ForEachAcceptedRow(batch.rows.bytes(), [&](std::string_view bytes, const CompactRow&) {
        stats::RowKey key;
        found = found || (DecodeRowKey(bytes, key) && key.week == kContributedWeek);
      });
  return read && found;
}

// Returns the space that a held batch takes according to LEDGER.md.
std::uint64_t RoomOf(const ProbationModel::Batch& of) {
  TestBatch batch;
  MakeTestBatch(of.first, of.second, batch, nullptr);
  std::string value("\x02\x00\x00", 3);  // version, rows, weeks: one byte each
  if (batch.body.empty()) {
    value += batch.rows.bytes();
  } else {
    value += BatchRecordHead(batch.refused) + batch.body;
  }
  const std::uint64_t contributes = Contributes(batch) ? 1 : 0;
  return kAgentIdBytes + 16 + value.size() + 1024 + contributes * (8 + 3);  // 3: week and count
}

void MakeBatch(const ProbationModel::Batch& of, TestBatch& batch, Sums* sums) {
  MakeTestBatch(of.first, of.second, batch, sums);
}

}  // namespace

StoreOptions ProbationModel::Options(const std::filesystem::path& data_dir) {
  return {.data_dir = data_dir,
          .checkpoint_seconds = 0,
          .probation_batches = kBatches,
          .held_bytes = kHeldBytes,
          .held_bytes_per_agent = kHeldBytesPerAgent};
}

ProbationModel::Operation ProbationModel::Next() {
  Operation operation{.agent = static_cast<unsigned>(random_() % kAgents)};
  const std::uint64_t dice = random_() % 40;
  const std::uint64_t past = random_() % (last_[operation.agent] + 2);
  operation.honest = random_() % 3 != 0;
  if (dice < 24) {
    operation.sequence = last_[operation.agent] + 1;
  } else if (dice < 27) {
    operation.sequence = std::max<std::uint64_t>(past, 1);  // usually a replay
  } else if (dice < 36) {
    operation.kind = Kind::kWithdraw;
    operation.sequence = std::max<std::uint64_t>(past, 1);
  } else if (dice < 39) {
    operation.kind = Kind::kCheckpoint;
  } else {
    operation.kind = Kind::kRevoke;
  }
  return operation;
}

std::optional<std::set<ProbationModel::Batch>> ProbationModel::MakeRoom(const Batch& batch,
                                                                        bool dishonest) const {
  std::map<unsigned, std::uint64_t> taken;
  std::uint64_t all = RoomOf(batch);
  for (const Batch& held : held_) {
    taken[held.first] += RoomOf(held);
    all += RoomOf(held);
  }
  const std::uint64_t mine = taken[batch.first] + RoomOf(batch);
  if (mine > kHeldBytesPerAgent) return std::nullopt;
  std::set<Batch> gone;
  const bool is_dishonest = dishonest || dishonest_.contains(batch.first);
  while (all > kHeldBytes) {
    std::optional<unsigned> first;
    for (const auto& [agent, bytes] : taken) {
      if (agent == batch.first || bytes == 0) continue;
      const bool worse = dishonest_.contains(agent);
      if (worse != is_dishonest ? !worse : bytes <= mine) continue;
      const bool is_first = !first || (worse != dishonest_.contains(*first) ? worse
                                       : bytes != taken[*first]             ? bytes > taken[*first]
                                                                            : agent > *first);
      if (is_first) first = agent;
    }
    if (!first) return std::nullopt;
    all -= taken[*first];
    taken[*first] = 0;
    for (const Batch& held : held_) {
      if (held.first == *first) gone.insert(held);
    }
  }
  return gone;
}

void ProbationModel::MoveHeldTo(std::set<Batch>& to, unsigned agent) {
  std::erase_if(held_, [&](const Batch& held) {
    if (held.first != agent) return false;
    to.insert(held);
    return true;
  });
}

void ProbationModel::ApplyDelivery(const Operation& operation) {
  const unsigned agent = operation.agent;
  const Batch batch{agent, operation.sequence};
  if (IsDelivered(batch)) return;
  if (IsTurnedAway(agent)) {
    ++refused_;
    return;
  }
  if (!released_.contains(agent)) {
    if (honest_[agent] + (operation.honest ? 1 : 0) < kBatches) {
      const auto gone = MakeRoom(batch, !operation.honest);
      if (!gone) {
        ++refused_;
        return;
      }
      for (const Batch& evicted : *gone) held_.erase(evicted);
      gone_.insert(gone->begin(), gone->end());
      evicted_ += gone->size();
      held_.insert(batch);
    }
    honest_[agent] += operation.honest ? 1 : 0;
    if (!operation.honest) dishonest_.insert(agent);
  }
  last_[agent] = std::max(last_[agent], operation.sequence);
  if (!released_.contains(agent)) {
    if (honest_[agent] < kBatches) return;
    released_.insert(agent);
    MoveHeldTo(live_, agent);
  }
  live_.insert(batch);
}

void ProbationModel::Apply(const Operation& operation) {
  const unsigned agent = operation.agent;
  const Batch batch{agent, operation.sequence};
  switch (operation.kind) {
    case Kind::kDeliver:
      ApplyDelivery(operation);
      return;
    case Kind::kWithdraw:
      last_[agent] = std::max(last_[agent], operation.sequence);
      held_.erase(batch);
      live_.erase(batch);
      gone_.insert(batch);
      return;
    case Kind::kRevoke:
      revoked_.insert(agent);
      MoveHeldTo(gone_, agent);
      return;
    case Kind::kCheckpoint:
      return;
  }
}

std::string ProbationModel::Do(const Operation& operation, Store& store, bool again) const {
  const Batch of{operation.agent, operation.sequence};
  TestBatch batch;
  if (operation.sequence != 0) MakeBatch(of, batch, nullptr);
  switch (operation.kind) {
    case Kind::kDeliver:
      return Deliver(operation, store, again, batch);
    case Kind::kWithdraw:
      return Withdraw(of, store, again, batch);
    case Kind::kRevoke:
      return store.Revoke(TestAgent(operation.agent)) ? "" : "revoking failed";
    case Kind::kCheckpoint:
      return store.Checkpoint() ? "" : "checkpoint failed";
  }
  return "no such operation";
}

std::string ProbationModel::Withdraw(const Batch& of, Store& store, bool again,
                                     const TestBatch& batch) const {
  const auto result = store.Withdraw(batch.Undo());
  if (!result) return "withdrawal: " + result.error().message;
  WithdrawalKind expected = WithdrawalKind::kNeverDelivered;
  if (held_.contains(of) || live_.contains(of)) expected = WithdrawalKind::kWithdrawn;
  if (gone_.contains(of)) expected = WithdrawalKind::kRepeated;
  if (result->kind == expected) return "";
  return again && result->kind == WithdrawalKind::kRepeated ? "" : "another kind of withdrawal";
}

std::string ProbationModel::Deliver(const Operation& operation, Store& store, bool again,
                                    const TestBatch& batch) const {
  const Batch of{operation.agent, operation.sequence};
  AcceptedBatch view = batch.View();
  view.honest = operation.honest;
  view.dishonest = !operation.honest;
  view.held_answer = [&] { return "held: " + batch.answer; };
  std::vector<WeekContributions> contributions;
  if (Contributes(batch)) contributions = {{.week = kContributedWeek, .hashes = {HashOf(of)}}};
  view.contributions = contributions;
  const auto result = store.Accept(view);
  const bool is_new = !IsDelivered(of);
  if (is_new && IsTurnedAway(operation.agent)) {
    if (result) return "a revoked agent's batch is taken";
    return result.error().code == ErrorCode::kPermissionDenied ? "" : result.error().message;
  }
  if (is_new && !released_.contains(operation.agent) &&
      (honest_.contains(operation.agent) ? honest_.at(operation.agent) : 0) +
              (operation.honest ? 1 : 0) <
          kBatches &&
      !MakeRoom(of, !operation.honest)) {
    if (result) return "there is room where there is none";
    return result.error().code == ErrorCode::kUnavailable ? "" : result.error().message;
  }
  if (!result) return result.error().message;
  if (result->replay != !is_new && !(again && result->replay)) return "replay or not is wrong";
  if (result->replay) return "";
  ProbationModel after = *this;
  after.Apply(operation);
  const bool held = after.held_.contains(of);
  if (result->held != held) return "held or not is wrong";
  if (result->answer != (held ? "held: " : "") + batch.answer) return "another answer";
  if (result->evicted_batches != after.evicted_ - evicted_) return "others have gone";
  const std::size_t released =
      held || held_.size() < after.held_.size() ? 0 : held_.size() - after.held_.size();
  return result->released_batches == released ? "" : "another number of released batches";
}

std::string ProbationModel::Compare(Store& store) const {
  Sums sums;
  TestBatch batch;
  for (const Batch& live : live_) MakeBatch(live, batch, &sums);
  if (AllRows(store) != sums) return "the sums differ";
  const auto report = store.Verify();
  if (!report || !report->ok()) return report ? report->first_problem : report.error().message;
  if (report->expected.batches != live_.size()) return "the number of batches differs";
  const StoreGauges gauges = store.Gauges();
  if (gauges.held_batches != held_.size()) return "the number of held batches differs";
  std::uint64_t held_bytes = 0;
  for (const Batch& held : held_) held_bytes += RoomOf(held);
  if (gauges.held_bytes != held_bytes) return "the size of the held batches differs";
  for (unsigned agent = 0; agent < kAgents; ++agent) {
    std::vector<std::uint64_t> expected;
    for (const auto* batches : {&held_, &live_}) {
      for (const Batch& one : *batches) {
        if (one.first != agent) continue;
        MakeBatch(one, batch, nullptr);
        if (Contributes(batch)) expected.push_back(HashOf(one));
      }
    }
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint64_t> found;
    if (!store.GetContributions(TestAgent(agent), wire::Epoch(1), found)) {
      return "the contributions are unreadable";
    }
    if (found != expected) return fmt::format("the contributions of agent {} differ", agent);
  }
  return "";
}

}  // namespace fieldcost::store
