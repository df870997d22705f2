#include "aggregator/service/publication.h"

#include <malloc.h>

#include "common/base/log.h"

namespace fieldcost::aggregator {

using SteadyClock = std::chrono::steady_clock;

void NoteTaskRun(TaskOutcome outcome, SteadyClock::time_point start, const Clock& clock,
                 TaskState& task) {
  if (outcome == TaskOutcome::kFailed) {
    ++task.failures;
    return;
  }
  ++task.successes;
  task.last_success = clock.Now();
  task.last_duration =
      std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - start);
}

Result<publish::PublishReport> Publication::Publish() {
  const MutexLock turn(turn_);
  const auto start = SteadyClock::now();
  auto report = publisher_.Publish(store_);
  // This much memory is not needed again before the next publication.
  ::malloc_trim(0);
  const MutexLock lock(mutex_);
  NoteTaskRun(report ? TaskOutcome::kDone : TaskOutcome::kFailed, start, clock_, state_.task);
  if (!report) {
    LogEvent(LogLevel::kError, "publication failed; the last one stays in force",
             {{"error", report.error().message}});
    return report;
  }
  state_.version = report->version;
  state_.rows = report->rows;
  state_.withheld = report->withheld;
  state_.crowded_out = report->crowded_out;
  state_.fragments = report->fragments;
  LogEvent(LogLevel::kInfo, "published snapshot",
           {{"version", report->version},
            {"rows", report->rows},
            {"withheld", report->withheld},
            {"fragments", report->fragments},
            {"new_fragments", report->new_fragments},
            {"unsound", report->unsound},
            {"crowded_out", report->crowded_out},
            {"seconds", std::chrono::duration<double>(state_.task.last_duration).count()}});
  return report;
}

admin::PublicationState Publication::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

}  // namespace fieldcost::aggregator
