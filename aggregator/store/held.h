#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/gate.h"
#include "common/base/result.h"

namespace fieldcost::store {

// What is kept of a batch of an agent on probation; LAYOUT.md has the bytes.
struct HeldBatch {
  std::uint32_t accepted_rows = 0;
  // Weeks in which it contributes, and to how many row keys.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> contributions;
  std::string_view record;  // what the inbox would hold of it

  static std::string Encode(const AcceptedBatch& batch);
  // The record refers to the bytes and is not examined.
  static Result<HeldBatch> Decode(std::string_view untrusted_bytes);
};

// The room that a held batch takes: its bytes, what the ledger keeps of its contributions, and
// kHeldBatchCost for all else.
Result<std::uint64_t> HeldRoom(std::string_view key, std::string_view untrusted_value);

// How much each agent holds (agents are named by their ledger head key, so agent and epoch).
// Thread-safe.
class HeldIndex {
 public:
  struct Limits {
    std::uint64_t all_bytes = 0;
    std::uint64_t agent_bytes = 0;
    std::uint64_t agent_batches = 0;
  };
  enum class Added { kYes, kNoRoom, kOverShare };

  // Adds a batch if it is within the limits. An agent that was dishonest once stays so while
  // anything of it is held.
  Added Try(const std::string& agent, std::uint64_t bytes, bool dishonest, const Limits& limits);
  void Add(const std::string& agent, std::uint64_t bytes, bool dishonest);
  void Remove(const std::string& agent, std::uint64_t batches, std::uint64_t bytes);

  // The agents that must be dropped so that `agent` may hold `bytes` more: the dishonest before the
  // honest, those with most before those with less, but none that comes after `agent` in this
  // order. Empty if that does not make enough room, or there is enough. Depends only on what is
  // held.
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
  void Change(const std::string& name, const std::function<void(Agent&)>& change);

  mutable std::mutex mutex_;
  std::map<std::string, Agent, std::less<>> agents_;
  std::set<Rank> ranks_;  // of the names in agents_
  std::uint64_t batches_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t dishonest_bytes_ = 0;
};

// Held batches of an agent that are dropped by a write.
struct HeldDrop {
  std::string agent;  // head key
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
};

// While it exists, nothing that is held is dropped because of another agent; once it is alone, no
// other thread changes what is held.
class HeldAccess {
 public:
  HeldAccess(std::mutex& evict_mutex, Gate& gate)
      : evict_lock_(evict_mutex, std::defer_lock), gate_(gate) {
    gate_.Enter();
  }
  ~HeldAccess() {
    if (evict_lock_.owns_lock()) {
      gate_.Open();
    } else {
      gate_.Leave();
    }
  }
  HeldAccess(const HeldAccess&) = delete;
  HeldAccess& operator=(const HeldAccess&) = delete;
  void BeAlone() {
    gate_.Leave();
    evict_lock_.lock();
    gate_.Close();
  }

 private:
  std::unique_lock<std::mutex> evict_lock_;
  Gate& gate_;
};

}  // namespace fieldcost::store
