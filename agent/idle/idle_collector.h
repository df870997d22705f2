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
    kNextExec,  // the process `pid`, from its next exec on, and its descendants
    kRunning,   // the running process `pid`, and everything that it starts from now on
    kAll,       // all processes
  };
  Kind kind = Kind::kNextExec;
  pid_t pid = 0;
};

// Detects when CPUs are idle, which monitored thread left them idle, and which one resumed, and
// passes this to a writer. One class per mode. Not thread-safe.
class Collector {
 public:
  virtual ~Collector() = default;

  // Waits up to `limit` or until a signal, then reports what happened. Returns false once the
  // target has ended completely.
  virtual Result<bool> Look(std::chrono::milliseconds limit) = 0;
  // Reports everything that remains. Stops collecting, and reverts all changes to the system.
  virtual Status Finish() = 0;
  // Returns counts such as "lost records", for display.
  virtual std::map<std::string, std::uint64_t> Counts() const = 0;
};

}  // namespace fieldcost::idle_agent
