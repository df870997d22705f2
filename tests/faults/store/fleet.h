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

// Agents as the store sees them, and the responses they received: the reference for checking a
// store after a fault. Agents send, repeat, withdraw and enrol. An operator revokes, publishes,
// makes checkpoints, verifies, and expires the older of the two weeks in the batches. All of this
// happens concurrently in real threads.
class Fleet {
 public:
  // `probation_batches` as in StoreOptions: rows of agents that sent fewer are not in the sums.
  explicit Fleet(unsigned agents, unsigned probation_batches = 0);
  Fleet(const Fleet& other);  // a copy of the current state, safe while the other is in use

  struct Work {
    std::uint64_t seed = 0;
    unsigned actions = 12;  // per agent
    bool operator_too = true;
    bool expire = false;  // by the operator, at some point
  };
  // Works until done, or until the store fails or refuses. Returns an error if the store broke a
  // promise.
  Status Run(store::Store& store, const Work& work);

  // Agents repeat all unanswered requests and some answered ones. Then every row must have exactly
  // the bits of what they sent. Returns an error that describes any difference.
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

  // Each returns an error if the store breaks a promise, and sets `refused` if the store did not
  // perform it.
  Status Send(store::Store& store, Agent& agent, std::uint64_t sequence, bool& refused);
  Status Withdraw(store::Store& store, Agent& agent, std::uint64_t sequence, bool& refused);
  Status Enrol(store::Store& store, Agent& agent, std::uint64_t epoch, bool& refused);
  Status Act(store::Store& store, Agent& agent, Random& random, bool& refused);
  Status Operate(store::Store& store, bool expire, Random& random, bool& refused);
  Status Expire(store::Store& store, bool& refused);
  Status Publish(store::Store& store, std::uint64_t version, bool& refused);
  Status Resend(store::Store& store, Agent& agent);
  Status CheckRevoked(store::Store& store) const;

  std::vector<Agent> agents_;
  unsigned probation_batches_ = 0;
  std::map<unsigned, Told> revoked_;
  Told expired_ = Told::kNothing;
  mutable std::mutex mutex_;  // guards the recorded responses, not the number of agents
};

}  // namespace fieldcost::faults
