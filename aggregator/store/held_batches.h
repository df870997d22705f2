#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/store/acceptance.h"
#include "aggregator/store/database.h"
#include "aggregator/store/delivery_ledger.h"
#include "aggregator/store/expiry_bounds.h"
#include "aggregator/store/gate.h"
#include "aggregator/store/held.h"
#include "aggregator/store/lock_order.h"
#include "aggregator/store/probation.h"
#include "aggregator/store/store_options.h"
#include "aggregator/store/store_parts.h"
#include "aggregator/store/store_reports.h"
#include "aggregator/store/stored_sums.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::store {

// An agent's held batches that a write drops.
struct HeldDrop {
  std::string agent;  // head key
  std::uint64_t batches = 0;
  std::uint64_t bytes = 0;
};

// The batches of agents on probation, held until their agents are released, and the records of
// these probations; LEDGER.md has the rules. Agents are identified by their ledger head
// keys, hence by agent and epoch.
//
// A thread changes the held batches of one agent under that agent's lock, and has Access meanwhile.
// An eviction drops batches of other agents, without their locks, and therefore has access alone.
// The index counts each batch from the decision to hold it until its removal is durable.
//
// Thread-safe. Functions with a WriteSet add changes that the caller writes.
class HeldBatches {
 public:
  // The arguments must outlive this object.
  HeldBatches(Database& database, const StoreOptions& options, const DeliveryLedger& ledger,
              const ExpiryBounds& bounds, StoredSums& sums)
      : database_(database), options_(options), ledger_(ledger), bounds_(bounds), sums_(sums) {}

  // Counts the held batches. REQUIRES: no other thread uses this object.
  Status Load();

  // Prevents evictions by other agents' batches during its lifetime.
  class Access;

  // Decides whether the batch is held and which batches it releases, and adds both to `changes`. A
  // held batch is counted immediately; released ones are counted until RemoveReleased(). If there
  // is no room, changes nothing.
  Result<ProbationStep> Step(const AcceptedBatch& batch, const std::string& head_key,
                             Database::WriteSet& changes)
      FIELDCOST_REQUIRES(lock_order::kAgent, lock_order::kHeld);
  // Like Step(), for a batch that needs an eviction: gets access alone and adds the removal of
  // other agents' held batches to `changes`.
  Result<ProbationStep> StepEvicting(Access& access, const AcceptedBatch& batch,
                                     const std::string& head_key, Database::WriteSet& changes,
                                     std::vector<HeldDrop>& evicted)
      FIELDCOST_REQUIRES(lock_order::kAgent, lock_order::kHeld);
  // The release of these batches is durable.
  void RemoveReleased(const std::string& head_key, std::uint64_t batches, std::uint64_t bytes)
      FIELDCOST_REQUIRES(lock_order::kAgent, lock_order::kHeld) {
    index_.Remove(head_key, batches, bytes);
  }
  void CountEvicted(std::uint64_t batches) { evicted_batches_ += batches; }

  // Removes the batch, durably on return, if it is held. Otherwise returns false and changes
  // nothing.
  Result<bool> Withdraw(const std::string& head_key, std::uint64_t sequence,
                        std::uint32_t row_count, Database::WriteSet& changes)
      FIELDCOST_REQUIRES(lock_order::kAgent)
          FIELDCOST_EXCLUDES(lock_order::kHeld, lock_order::kCommit);
  // Drops the agent's held batches of epochs before `end`, in one write with `changes`, except for
  // expired ones, which Expire() removes. Returns how many batches were dropped.
  Result<std::uint64_t> Drop(std::string_view agent_id, std::uint64_t end,
                             Database::WriteSet& changes) FIELDCOST_REQUIRES(lock_order::kAgent)
      FIELDCOST_EXCLUDES(lock_order::kHeld, lock_order::kCommit);
  // Durably removes all entries of agents' epochs before `first_epoch` from a table, in steps, and
  // adds their number to `removed`: held batches, or ledger entries, while no eviction changes
  // them.
  Status Expire(Table table, std::uint64_t first_epoch, std::uint64_t& removed)
      FIELDCOST_REQUIRES(lock_order::kExpiry) FIELDCOST_EXCLUDES(lock_order::kHeld);

  void AddTo(StoreGauges& gauges) const;

 private:
  // Whether any agent may be on probation.
  bool IsUsed() const { return options_.probation_batches != 0 || index_.batches() != 0; }
  Result<std::optional<Probation>> ReadProbation(const std::string& head_key) const;
  // Adds the release of all held batches of the agent to `changes` and `step`.
  Status Release(const std::string& head_key, Database::WriteSet& changes,
                 ProbationStep& step) const;
  // Holds the batch if there is room. Otherwise sets `step.no_room`, or returns why not.
  Status Hold(const AcceptedBatch& batch, const std::string& head_key, Probation& probation,
              Database::WriteSet& changes, ProbationStep& step);
  // Adds the removal of all held batches of the agent to `changes`, as if its owner had withdrawn
  // them. Does nothing if there are none.
  Result<HeldDrop> PutDrop(const std::string& head_key, Database::WriteSet& changes) const
      FIELDCOST_REQUIRES(lock_order::kAgent, lock_order::kHeld);
  // The inbox record for a currently held batch, without rows of expired weeks.
  Result<std::string> RecordOf(std::string_view held_record) const;

  Database& database_;
  const StoreOptions& options_;
  const DeliveryLedger& ledger_;
  const ExpiryBounds& bounds_;
  StoredSums& sums_;

  Mutex evict_mutex_;  // one eviction at a time; locked before gate_ is closed
  Gate gate_;          // excludes changes of one agent's held batches during an eviction
  HeldIndex index_;
  std::atomic<std::uint64_t> evicted_batches_{0};
};

// Shared access is being inside the gate; sole access is having closed it, with the lock of
// evictions. Annotations cannot express the change from one to the other, so both have one level.
class FIELDCOST_SCOPED_LOCK HeldBatches::Access {
 public:
  explicit Access(HeldBatches& held)
      FIELDCOST_ACQUIRE(lock_order::kHeld) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS : held_(held) {
    held_.gate_.Enter();
  }
  ~Access() FIELDCOST_RELEASE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    if (is_alone_) {
      held_.gate_.Open();
      held_.evict_mutex_.Unlock();
    } else {
      held_.gate_.Leave();
    }
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;
  // Waits until no other thread has access. Other threads may have changed the held batches
  // meanwhile. REQUIRES: not called before.
  void BeAlone() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS {
    held_.gate_.Leave();
    held_.evict_mutex_.Lock();
    held_.gate_.Close();
    is_alone_ = true;
  }

 private:
  HeldBatches& held_;
  bool is_alone_ = false;
};

}  // namespace fieldcost::store
