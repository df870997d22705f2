#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/result.h"

namespace fieldcost::faults {

struct ChildResult {
  bool good = false;
  std::string trouble;  // what the work returned, or how the child ended; then its stderr
};

// Runs `work` in a child process, so that a store that has failed (and is never closed), an abort
// or a hang is the child's alone. Killed after `limit`. REQUIRES: no other thread is running.
ChildResult RunInChild(const std::function<Status()>& work,
                       std::chrono::seconds limit = std::chrono::seconds(60));

// The seed to start from: FIELDCOST_FAULT_SEED, or a random one, which is printed.
std::uint64_t FirstSeed();
// Whether the long form is asked for: FIELDCOST_FAULT_LONG=1.
bool LongForm();

}  // namespace fieldcost::faults
