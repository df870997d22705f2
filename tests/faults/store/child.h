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
// or a hang is the child's alone. Killed after `limit`. REQUIRES: no other thread is running,
// checked: the tests of one program may follow each other in one process.
ChildResult RunInChild(const std::function<Status()>& work,
                       std::chrono::seconds limit = std::chrono::seconds(60));

// In a child: runs `work` in a thread. False if the engine's one known failure of an assertion
// would have ended the process (../README.md): threads of `work` are left where they are, and
// nothing they do counts any more. Any other abort ends the child.
bool RunUnlessEngineAborts(const std::function<void()>& work);

}  // namespace fieldcost::faults
