#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "aggregator/store/lock_order.h"
#include "aggregator/store/store_limits.h"
#include "common/base/mutex.h"

namespace fieldcost::store {

// Allow one batch of an agent at a time, and kLedgerStripes agents at a time. Thread-safe.
class AgentLocks {
 public:
  // Returns once every thread that held a lock at the time of the call has released it.
  void AwaitHolders() FIELDCOST_EXCLUDES(lock_order::kAgent) {
    for (Mutex& stripe : stripes_) const MutexLock lock(stripe);
  }

 private:
  friend class AgentLock;
  Mutex& StripeOf(std::string_view agent_id) {
    return stripes_[static_cast<std::uint8_t>(agent_id[0]) % kLedgerStripes];
  }

  std::array<Mutex, kLedgerStripes> stripes_;
};

// Holds the lock of one agent during its lifetime.
class FIELDCOST_SCOPED_LOCK AgentLock {
 public:
  AgentLock(AgentLocks& locks, std::string_view agent_id)
      FIELDCOST_ACQUIRE(lock_order::kAgent) FIELDCOST_NO_THREAD_SAFETY_ANALYSIS
      : stripe_(locks.StripeOf(agent_id)) {
    stripe_.Lock();
  }
  ~AgentLock() FIELDCOST_RELEASE() FIELDCOST_NO_THREAD_SAFETY_ANALYSIS { stripe_.Unlock(); }
  AgentLock(const AgentLock&) = delete;
  AgentLock& operator=(const AgentLock&) = delete;

 private:
  Mutex& stripe_;
};

}  // namespace fieldcost::store
