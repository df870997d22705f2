#pragma once

#include <chrono>

#include "aggregator/store/store.h"
#include "aggregator/upkeep/task_states.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// Reads the whole store continuously, a little at a time, so that damage on the disk is found while
// a backup from before it still exists. Its progress survives a restart. Any thread may call
// state().
class Scrub {
 public:
  // A round takes `period`, or less if the store is small. REQUIRES: `store` and `clock` outlive
  // this.
  Scrub(store::Store& store, const Clock& clock, std::chrono::seconds period);

  // Reads as much as is due per `interval`. kIo: a file cannot be read, or the store has failed.
  Status Step(std::chrono::seconds interval);
  ScrubState state() const;

 private:
  Status EndRound(std::chrono::seconds duration);

  store::Store& store_;
  const Clock& clock_;
  const std::chrono::seconds period_;
  bool round_is_good_ = true;  // as far as this process knows
  mutable Mutex mutex_;
  ScrubState state_ FIELDCOST_GUARDED_BY(mutex_);
};

// Makes the calling thread run only when processor and disk are otherwise idle.
void WorkWhenIdle();

}  // namespace fieldcost::aggregator
