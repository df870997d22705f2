#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// The stored form of a batch of an agent on probation; LAYOUT.md has the bytes.
struct HeldBatch {
  std::uint32_t accepted_rows = 0;
  // The weeks in which it contributes, with the number of row keys.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> contributions;
  std::string_view record;  // the batch's inbox record

  static std::string Encode(const AcceptedBatch& batch);
  // `record` refers to the bytes and is not examined.
  static Result<HeldBatch> Decode(std::string_view untrusted_bytes);
};

// The room that a held batch takes: its bytes, the ledger's entries for its contributions, and
// kHeldBatchCost for everything else.
Result<std::uint64_t> HeldRoom(std::string_view key, std::string_view untrusted_value);

// The size of each agent's held batches. Agents are identified by their ledger head keys, hence by
// agent and epoch. Thread-safe.
class HeldIndex {
 public:
  struct Limits {
    std::uint64_t all_bytes = 0;
    std::uint64_t agent_bytes = 0;
    std::uint64_t agent_batches = 0;
  };
  enum class Added { kYes, kNoRoom, kOverShare };

  // Adds a batch if that does not exceed the limits. Once dishonest, an agent remains so while any
  // of its batches is held.
  Added Try(const std::string& agent, std::uint64_t bytes, bool dishonest, const Limits& limits);
  void Add(const std::string& agent, std::uint64_t bytes, bool dishonest);
  void Remove(const std::string& agent, std::uint64_t batches, std::uint64_t bytes);

  // Returns the agents to drop so that `agent` may hold `bytes` more: dishonest before honest ones,
  // larger before smaller ones, but none that follows `agent` in this order. Empty if that would
  // not make enough room, or if there already is enough. Depends only on what is held.
  std::vector<std::string> WhoMakesRoom(const std::string& agent, std::uint64_t bytes,
                                        bool dishonest, std::uint64_t all_bytes) const;

  std::uint64_t batches() const;
  std::uint64_t bytes() const;
  std::uint64_t honest_bytes() const;  // of agents that were never dishonest

 private:
  struct Agent {
    std::uint64_t batches = 0;
    std::uint64_t bytes = 0;
    bool dishonest = false;
  };
  // Agents that are dropped first sort last.
  using Rank = std::tuple<bool, std::uint64_t, std::string_view>;
  static Rank RankOf(std::string_view name, const Agent& agent) {
    return {agent.dishonest, agent.bytes, name};
  }
  void Change(const std::string& name, const std::function<void(Agent&)>& change)
      FIELDCOST_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Agent, std::less<>> agents_ FIELDCOST_GUARDED_BY(mutex_);
  std::set<Rank> ranks_ FIELDCOST_GUARDED_BY(mutex_);  // of the names in agents_
  std::uint64_t batches_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::uint64_t bytes_ FIELDCOST_GUARDED_BY(mutex_) = 0;
  std::uint64_t dishonest_bytes_ FIELDCOST_GUARDED_BY(mutex_) = 0;
};

}  // namespace fieldcost::store
