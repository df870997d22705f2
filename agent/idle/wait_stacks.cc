#include "agent/idle/wait_stacks.h"

#include "agent/unwind/memory_reader.h"
#include "agent/unwind/registers.h"

namespace fieldcost::idle_agent {

bool WaitStacks::IsMapped(unwind::ModuleMap& map) const {
  return stack_.frames.empty() || (map.Find(stack_.frames.front().lookup_address()) != nullptr &&
                                   map.Find(stack_.frames.back().lookup_address()) != nullptr);
}

Result<std::optional<StackId>> WaitStacks::Read(pid_t pid, pid_t tid) {
  auto place = perf::ReadWaitStack(pid, tid, maps_.Of(pid), unwinder_, stack_);
  if (place && !IsMapped(maps_.Of(pid))) {
    // Either the code was mapped after the map was read, or the process has called exec.
    maps_.Forget(pid);
    place = perf::ReadWaitStack(pid, tid, maps_.Of(pid), unwinder_, stack_);
  }
  if (!place) return std::nullopt;
  modules_.SetFrames(maps_.Of(pid), stack_, frames_);
  FIELDCOST_ASSIGN(const StackId id,
                   writer_.AddStack(frames_, stack_.end, idle::WhyOfSystemCall(place->system_call),
                                    modules_.all()));
  return id;
}

Result<StackId> WaitStacks::Add(pid_t pid, const perf::WaitCopy& copy) {
  unwind::ModuleMap& map = maps_.Of(pid);
  perf::UnwindCopy(copy, map, unwinder_, stack_);
  modules_.SetFrames(map, stack_, frames_);
  return writer_.AddStack(frames_, stack_.end, idle::WhyOfSystemCall(copy.place.system_call),
                          modules_.all());
}

}  // namespace fieldcost::idle_agent
