#pragma once

#include <chrono>
#include <mutex>
#include <utility>

#include "aggregator/admin/metrics.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"

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
    const std::lock_guard turn(turn_);
    return work();
  }

  admin::PublicationState state() const;
  const publish::Publisher& publisher() const { return publisher_; }

 private:
  std::mutex turn_;
  publish::Publisher publisher_;
  store::Store& store_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  admin::PublicationState state_;
};

enum class TaskOutcome { kDone, kFailed };

// Records a run of a task that began at `start` and ends now.
void NoteTaskRun(TaskOutcome outcome, std::chrono::steady_clock::time_point start,
                 const Clock& clock, admin::TaskState& task);

}  // namespace fieldcost::aggregator
