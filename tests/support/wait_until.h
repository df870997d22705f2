#pragma once

#include <chrono>
#include <thread>

namespace fieldcost::testing {

// How long anything may take that a test waits for, on the slowest machine. Not a measure of speed.
inline constexpr std::chrono::seconds kMostPatience{60};

// Waits for what another thread or process is about to do; false if it does not within
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
