#pragma once

#include <chrono>
#include <mutex>

#include "aggregator/admin/metrics.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Reads the whole store again and again, a little at a time, so that damage of the disk is found
// while there is a backup from before. How far it has come survives a restart. state() may be
// called by any thread.
class Scrub {
 public:
  // A round takes `period`, or less if the store is small. REQUIRES: `store` and `clock` outlive
  // this.
  Scrub(store::Store& store, const Clock& clock, std::chrono::seconds period);

  // Reads what is due in a step of `interval`. kIo: a file cannot be read, or the store has failed.
  Status Step(std::chrono::seconds interval);
  admin::ScrubState state() const;

 private:
  Status EndRound(std::chrono::seconds duration);

  store::Store& store_;
  const Clock& clock_;
  const std::chrono::seconds period_;
  bool round_is_good_ = true;  // as far as this process knows
  mutable std::mutex mutex_;   // guards state_
  admin::ScrubState state_;
};

// Makes the calling thread one that works when nobody else wants processor or disk.
void WorkWhenIdle();

}  // namespace fieldcost::aggregator
