#pragma once

#include <chrono>
#include <utility>

#include "aggregator/admin/metrics.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/base/mutex.h"

namespace fieldcost::aggregator {

// Publishes, logs the outcome, and records it for the operator. Thread-safe.
class Publication {
 public:
  // REQUIRES: `store` and `clock` outlive this.
  Publication(publish::Publisher publisher, store::Store& store, const Clock& clock)
      : publisher_(std::move(publisher)), store_(store), clock_(clock) {}

  // Waits for its turn. On an error the last publication stays in force.
  Result<publish::PublishReport> Publish();

  // Runs `work` while no publication is running.
  template <typename Work>
  auto BetweenPublications(const Work& work) {
    const MutexLock turn(turn_);
    return work();
  }

  admin::PublicationState state() const;
  const publish::Publisher& publisher() const { return publisher_; }

 private:
  Mutex turn_;  // one publication at a time
  publish::Publisher publisher_;
  store::Store& store_;
  const Clock& clock_;
  mutable Mutex mutex_;
  admin::PublicationState state_ FIELDCOST_GUARDED_BY(mutex_);
};

enum class TaskOutcome { kDone, kFailed };

// Records a run of a task that began at `start` and ends now.
void NoteTaskRun(TaskOutcome outcome, std::chrono::steady_clock::time_point start,
                 const Clock& clock, TaskState& task);

}  // namespace fieldcost::aggregator
