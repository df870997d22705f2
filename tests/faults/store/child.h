#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/base/result.h"

namespace fieldcost::faults {

struct ChildResult {
  bool good = false;
  std::string trouble;  // the work's error, or how the child ended; then its stderr
};

// Runs `work` in a child process, so that a failed store (which is never closed), an abort or a
// hang affects only the child. Kills it after `limit`. REQUIRES: no other thread is running
// (checked, because the tests of a program may run one after another in one process).
ChildResult RunInChild(const std::function<Status()>& work,
                       std::chrono::seconds limit = std::chrono::seconds(60));

// In a child: runs `work` in a thread. Returns false if one of the engine's known assertion
// failures would have ended the process (../README.md); threads of `work` are then left suspended,
// and nothing they do counts any more. Any other abort ends the child.
bool RunUnlessEngineAborts(const std::function<void()>& work);

}  // namespace fieldcost::faults
