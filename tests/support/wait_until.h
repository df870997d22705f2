#pragma once

#include <chrono>
#include <thread>

namespace fieldcost::testing {

// Upper limit for any wait in a test, on the slowest machine. Not a measure of speed.
inline constexpr std::chrono::seconds kMostPatience{90};

// Waits for an action of another thread or process. Returns false if it does not happen within
// kMostPatience.
template <typename Condition>
bool WaitUntil(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + kMostPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace fieldcost::testing
