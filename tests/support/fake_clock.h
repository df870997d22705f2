#pragma once

#include <atomic>

#include "common/base/clock.h"

namespace fieldcost::testing {

// A clock that changes only when set. Thread-safe.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime start) : now_(start.time_since_epoch().count()) {}
  WallTime Now() const override { return WallTime(WallTime::duration(now_.load())); }
  void Advance(WallTime::duration by) { now_ += by.count(); }

 private:
  std::atomic<WallTime::rep> now_;
};

}  // namespace fieldcost::testing
