#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "tests/aggregator/store/batches.h"
#include "tests/faults/store/disk_model.h"

namespace fieldcost::faults {

// Agents as the store sees them, and what they were told: the reference that a store is compared
// with after a fault. They send, send again, withdraw and enrol; an operator revokes, makes
// checkpoints, looks and expires the older of the two weeks that the batches have rows of.
// Everything is done by real threads at the same time.
class Fleet {
 public:
  // `probation_batches` as in StoreOptions: the rows of those who sent fewer are not in the sums.
  explicit Fleet(unsigned agents, unsigned probation_batches = 0);
  Fleet(const Fleet& other);  // as of now, also while the other works

  struct Work {
    std::uint64_t seed = 0;
    unsigned actions = 12;  // of each agent
    bool operator_too = true;
    bool expire = false;  // the operator, some time
  };
  // Works until done, or until the store fails or refuses. An error: the store broke a promise.
  Status Run(store::Store& store, const Work& work);

  // What the agents were not told yet they ask again, and some of what they were told. Then every
  // row has to have exactly the bits of what they sent. An error says what is wrong.
  Status Check(store::Store& store);

  std::uint64_t acknowledged() const;  // batches and withdrawals

 private:
  enum class Told { kNothing, kAsked, kAnswered };
  struct Batch {
    Told sent = Told::kAsked;
    Told withdrawn = Told::kNothing;
  };
  struct Agent {
    unsigned number = 0;
    std::vector<Batch> batches;  // [i] has sequence i + 1
    std::map<std::uint64_t, Told> enrolments;
    bool Open() const { return !batches.empty() && batches.back().sent == Told::kAsked; }
  };

  // Each returns an error if a promise is broken; `refused` if the store did not do it.
  Status Send(store::Store& store, Agent& agent, std::uint64_t sequence, bool& refused);
  Status Withdraw(store::Store& store, Agent& agent, std::uint64_t sequence, bool& refused);
  Status Enrol(store::Store& store, Agent& agent, std::uint64_t epoch, bool& refused);
  Status Act(store::Store& store, Agent& agent, Random& random, bool& refused);
  Status Operate(store::Store& store, bool expire, Random& random, bool& refused);
  Status Expire(store::Store& store, bool& refused);
  Status Resend(store::Store& store, Agent& agent);
  Status CheckRevoked(store::Store& store) const;

  std::vector<Agent> agents_;
  unsigned probation_batches_ = 0;
  std::map<unsigned, Told> revoked_;
  Told expired_ = Told::kNothing;
  mutable std::mutex mutex_;  // guards what was told, not the number of agents
};

}  // namespace fieldcost::faults
