#include "aggregator/upkeep/scrub.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/log.h"
#include "common/base/units.h"

namespace fieldcost::aggregator {
namespace {

// Names of numbers in the store: the file after which to continue (0: no round has begun), and the
// start of the round.
constexpr char kPlace[] = "scrub_place";
constexpr char kBegan[] = "scrub_began";

// A store of this size is read in one step.
constexpr std::uint64_t kMinStepBytes = 16 * kMiB;

// From linux/ioprio.h, which not every system provides.
constexpr int kWhoIsProcess = 1;
constexpr int kIdleClass = 3 << 13;

}  // namespace

Scrub::Scrub(store::Store& store, const Clock& clock, std::chrono::seconds period)
    : store_(store), clock_(clock), period_(period) {}

Status Scrub::Step(std::chrono::seconds interval) {
  // If these numbers cannot be read, the round starts over.
  std::uint64_t place = store_.GetNumber(kPlace).value_or(0);
  std::uint64_t began = store_.GetNumber(kBegan).value_or(0);
  const auto now = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::seconds>(clock_.Now().time_since_epoch()).count());
  if (place == 0) {
    // A clock that was ahead earlier must not stop the scrub.
    const auto period = static_cast<std::uint64_t>(period_.count());
    if (began != 0 && now >= began && now - began < period) return {};
    FIELDCOST_TRY(store_.PutNumber(kBegan, now));
    began = now;
    round_is_good_ = true;
  }
  std::uint64_t left = kMinStepBytes;
  for (bool first = true; left != 0; first = false) {
    FIELDCOST_ASSIGN(const store::CheckedFile checked, store_.CheckNextFile(place));
    if (first) {
      const auto steps = std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(period_ / std::max(interval, std::chrono::seconds(1))));
      left = std::max(left, checked.all_bytes / steps);
    }
    round_is_good_ = round_is_good_ && checked.good;
    if (checked.number == 0) {
      FIELDCOST_TRY(store_.PutNumber(kPlace, 0));
      return EndRound(std::chrono::seconds(now - std::min(began, now)));
    }
    place = checked.number;
    left -= std::min(left, checked.bytes);
    const MutexLock lock(mutex_);
    state_.bytes += checked.bytes;
  }
  return store_.PutNumber(kPlace, place);
}

Status Scrub::EndRound(std::chrono::seconds duration) {
  const bool good = round_is_good_;
  const MutexLock lock(mutex_);
  state_.rounds.last_duration = duration;
  ++(good ? state_.rounds.successes : state_.rounds.failures);
  if (good) state_.rounds.last_success = clock_.Now();
  LogEvent(good ? LogLevel::kInfo : LogLevel::kError,
           good ? "all files of the store are intact"
                : "files of the store are damaged; restore a backup from before",
           {{"bytes_read", state_.bytes}});
  return {};
}

ScrubState Scrub::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

void WorkWhenIdle() {
  const sched_param none{};
  // If that is not permitted, the thread keeps its priority.
  static_cast<void>(::sched_setscheduler(0, SCHED_IDLE, &none));
  static_cast<void>(::syscall(SYS_ioprio_set, kWhoIsProcess, 0, kIdleClass));
}

}  // namespace fieldcost::aggregator
