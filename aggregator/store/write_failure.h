#pragma once

#include <atomic>
#include <functional>

#include "common/base/error.h"

namespace fieldcost::store {

// Whether a write of the store has failed. From then on it accepts nothing, since the contents of
// the disk are unknown. Permanent. Thread-safe.
class WriteFailure {
 public:
  bool has_happened() const { return happened_; }
  // Puts the store into its failed state and wakes the threads that wait; returns the error for
  // the caller.
  Error Record(const Error& cause);

  // `wake` is called by each Record(). REQUIRES: no other thread uses this object yet.
  void WakeBy(std::function<void()> wake);

 private:
  std::atomic<bool> happened_{false};
  std::function<void()> wake_;
};

}  // namespace fieldcost::store
