// A batch of an agent on probation, at head key sequence:u64 (ledger.cc; stats/varint.h has
// varints).
//
//   held := version:u8 = 1 varint accepted_rows, varint weeks,
//           (varint week, varint contributions)[weeks] record
//   record := batch (batch_record.cc) | rows
#include "aggregator/store/held.h"

#include <limits>

#include "aggregator/store/store_limits.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_row_codec.h"

namespace fieldcost::store {
namespace {

constexpr char kHeldVersion = 1;

Error NotAHeldBatch() { return Fail(ErrorCode::kCorrupt, "a held batch is malformed"); }

}  // namespace

std::string HeldBatch::Encode(const AcceptedBatch& batch) {
  std::string bytes(1, kHeldVersion);
  AppendVarint(batch.rows->row_count(), bytes);
  AppendVarint(batch.contributions.size(), bytes);
  for (const WeekContributions& part : batch.contributions) {
    AppendVarint(part.week, bytes);
    AppendVarint(part.hashes.size(), bytes);
  }
  AppendLoggedBatch(batch, bytes);
  return bytes;
}

Result<HeldBatch> HeldBatch::Decode(std::string_view untrusted_bytes) {
  HeldBatch batch;
  std::string_view rest = untrusted_bytes;
  std::uint64_t rows = 0;
  std::uint64_t weeks = 0;
  if (!rest.starts_with(kHeldVersion)) return NotAHeldBatch();
  rest.remove_prefix(1);
  if (!TakeVarint(rest, wire::kMaxBatchRows, rows) ||
      !TakeVarint(rest, wire::kMaxBatchRows, weeks)) {
    return NotAHeldBatch();
  }
  batch.accepted_rows = static_cast<std::uint32_t>(rows);
  for (std::uint64_t i = 0; i < weeks; ++i) {
    std::uint64_t week = 0;
    std::uint64_t count = 0;
    if (!TakeVarint(rest, std::numeric_limits<std::uint32_t>::max(), week) ||
        !TakeVarint(rest, wire::kMaxBatchRows, count)) {
      return NotAHeldBatch();
    }
    batch.contributions.emplace_back(static_cast<std::uint32_t>(week), count);
  }
  if (rest.empty()) return NotAHeldBatch();
  batch.record = rest;
  return batch;
}

Result<std::uint64_t> HeldRoom(std::string_view key, std::string_view untrusted_value) {
  std::uint64_t room = key.size() + untrusted_value.size() + kHeldBatchCost;
  FIELDCOST_ASSIGN(const HeldBatch batch, HeldBatch::Decode(untrusted_value));
  for (const auto& [week, count] : batch.contributions) room += kContributionCost * count;
  return room;
}

void HeldIndex::Change(const std::string& name, const std::function<void(Agent&)>& change) {
  const auto place = agents_.try_emplace(name).first;
  Agent& agent = place->second;
  ranks_.erase(RankOf(place->first, agent));
  const Agent before = agent;
  change(agent);
  batches_ += agent.batches - before.batches;
  bytes_ += agent.bytes - before.bytes;
  dishonest_bytes_ += (agent.dishonest ? agent.bytes : 0) - (before.dishonest ? before.bytes : 0);
  if (agent.batches == 0) {
    agents_.erase(place);
  } else {
    ranks_.insert(RankOf(place->first, agent));
  }
}

HeldIndex::Added HeldIndex::Try(const std::string& agent, std::uint64_t bytes, bool dishonest,
                                const Limits& limits) {
  const MutexLock lock(mutex_);
  const auto place = agents_.find(agent);
  const Agent now = place == agents_.end() ? Agent() : place->second;
  if (now.batches >= limits.agent_batches || now.bytes + bytes > limits.agent_bytes) {
    return Added::kOverShare;
  }
  if (bytes_ + bytes > limits.all_bytes) return Added::kNoRoom;
  Change(agent, [&](Agent& changed) {
    ++changed.batches;
    changed.bytes += bytes;
    changed.dishonest = changed.dishonest || dishonest;
  });
  return Added::kYes;
}

void HeldIndex::Add(const std::string& agent, std::uint64_t bytes, bool dishonest) {
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  static_cast<void>(Try(agent, bytes, dishonest, {kAny, kAny, kAny}));
}

void HeldIndex::Remove(const std::string& agent, std::uint64_t batches, std::uint64_t bytes) {
  if (batches == 0) return;
  const MutexLock lock(mutex_);
  Change(agent, [&](Agent& changed) {
    changed.batches -= batches;
    changed.bytes -= bytes;
  });
}

std::vector<std::string> HeldIndex::WhoMakesRoom(const std::string& agent, std::uint64_t bytes,
                                                 bool dishonest, std::uint64_t all_bytes) const {
  const MutexLock lock(mutex_);
  Agent newcomer{.batches = 1, .bytes = bytes, .dishonest = dishonest};
  if (const auto place = agents_.find(agent); place != agents_.end()) {
    newcomer.bytes += place->second.bytes;
    newcomer.dishonest = newcomer.dishonest || place->second.dishonest;
  }
  std::vector<std::string> victims;
  std::uint64_t freed = 0;
  for (auto rank = ranks_.rbegin(); rank != ranks_.rend() && bytes_ - freed + bytes > all_bytes;
       ++rank) {
    const auto& [victim_dishonest, victim_bytes, name] = *rank;
    const bool goes_first =
        victim_dishonest != newcomer.dishonest ? victim_dishonest : victim_bytes > newcomer.bytes;
    if (!goes_first || name == agent) break;
    freed += victim_bytes;
    victims.emplace_back(name);
  }
  if (bytes_ - freed + bytes > all_bytes) victims.clear();
  return victims;
}

std::uint64_t HeldIndex::batches() const {
  const MutexLock lock(mutex_);
  return batches_;
}
std::uint64_t HeldIndex::bytes() const {
  const MutexLock lock(mutex_);
  return bytes_;
}
std::uint64_t HeldIndex::honest_bytes() const {
  const MutexLock lock(mutex_);
  return bytes_ - dishonest_bytes_;
}

}  // namespace fieldcost::store
