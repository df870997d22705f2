#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/idle/idle_writer.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// The processes whose threads are monitored.
struct Target {
  enum class Kind {
    kNextExec,  // of the process `pid`, from its next exec on, and of all that descends from it
    kRunning,   // of the process `pid`, which runs, and of all that it starts from now on
    kAll,       // of all processes
  };
  Kind kind = Kind::kNextExec;
  pid_t pid = 0;
};

// Finds out when CPUs are idle, which monitored thread left them so, and which went on, and tells a
// writer. One for each mode. Not thread-safe.
class Collector {
 public:
  virtual ~Collector() = default;

  // Waits, at most so long or until a signal, and tells what came. False: nothing of the target is
  // left.
  virtual Result<bool> Look(std::chrono::milliseconds limit) = 0;
  // Tells all that is left; nothing is collected from now on, and nothing that was changed in the
  // system stays changed.
  virtual Status Finish() = 0;
  // "lost records" and the like, for people.
  virtual std::map<std::string, std::uint64_t> Counts() const = 0;
};

}  // namespace fieldcost::idle_agent
