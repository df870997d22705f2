#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "agent/idle/idle_writer.h"
#include "agent/perf/module_list.h"
#include "agent/perf/process_maps.h"
#include "agent/perf/wait_stack.h"
#include "agent/unwind/unwinder.h"
#include "common/base/result.h"

namespace fieldcost::idle_agent {

// Adds the stacks of waiting threads, read from outside (perf::ReadWaitStack), to a recording.
// Not thread-safe.
class WaitStacks {
 public:
  // REQUIRES: `writer` outlives this.
  explicit WaitStacks(IdleWriter& writer) : writer_(writer), unwinder_(tables_) {}

  // Adds the thread's current stack; nullopt if it does not wait or its memory may not be read.
  Result<std::optional<StackId>> Read(pid_t pid, pid_t tid);

  // Adds a stack that was copied while its thread waited.
  Result<StackId> Add(pid_t pid, const perf::WaitCopy& copy);

  // Placeholders for the stack of a thread that has ended, was preempted, had not run before, or
  // whose stack is unknown.
  Result<StackId> Ended() {
    return writer_.AddStack({}, unwind::StackEnd::kOutermost, idle::Why::kEnded, {});
  }
  Result<StackId> Preempted() {
    return writer_.AddStack({}, unwind::StackEnd::kCut, idle::Why::kPreempted, {});
  }
  Result<StackId> New() { return writer_.AddSpecial(idle::kNewThread); }
  Result<StackId> Lost() { return writer_.AddSpecial(FrameName(idle::Why::kLost)); }

  perf::ProcessMaps& maps() { return maps_; }

 private:
  // Returns whether the innermost and the outermost frame are in known mappings.
  bool IsMapped(unwind::ModuleMap& map) const;

  IdleWriter& writer_;
  perf::ProcessMaps maps_;
  perf::ModuleList modules_;
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  unwind::Stack stack_;
  std::vector<perf::SampledFrame> frames_;
};

}  // namespace fieldcost::idle_agent
