#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/idle/bpf_program.h"
#include "agent/idle/idle_collector.h"
#include "agent/idle/idle_events.h"
#include "agent/perf/module_list.h"
#include "agent/perf/perf_events.h"
#include "agent/perf/process_maps.h"
#include "agent/unwind/unwinder.h"
#include "common/base/file.h"

namespace fieldcost::idle_agent {

// Mode `bpf`: a program in the kernel copies a thread's stack when the thread leaves its CPU, and
// reports each period in which a CPU was idle. Exact, without ticks, and without involving other
// CPUs.
class BpfCollector : public Collector {
 public:
  // Returns kPermissionDenied or kUnsupported, with a message that states what is missing.
  // REQUIRES: `writer` outlives this; one thread uses it.
  static Result<std::unique_ptr<BpfCollector>> Create(const Target& target, IdleWriter& writer);
  ~BpfCollector() override;

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override { return counts_; }

 private:
  // Numbers of a thread's stacks that events may still refer to, oldest first.
  struct Kept {
    std::vector<std::uint64_t> left_cpu;
    std::vector<std::uint64_t> woke;
  };

  BpfCollector(Target target, IdleWriter& writer);
  void TakeRecord(const perf::PerfRecord& record);
  // Takes the kernel program's events in order, then perf's remaining process events.
  Status Drain();
  Status TakeEvent(std::span<const std::uint8_t> untrusted_event);
  Status TakeStack(const fc_stack& stack, std::span<const std::uint8_t> bytes);
  Status TakeIdle(const fc_idle& untrusted_idle);
  Status TakeFrom(std::uint32_t cpu, const fc_from& untrusted_from);
  void TakeMapsUntil(std::uint64_t time);
  // Called when a thread has ended: drops its stacks once many more threads have ended.
  void Forget(std::uint32_t tid);
  void Unwind(const fc_stack& stack, std::span<const std::uint8_t> bytes);
  // Runs briefly on each CPU, so that its current idle period ends, or a new one begins.
  static void VisitCpus();

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;                        // a pidfd; invalid: the process has ended, or kAll
  std::unique_ptr<perf::PerfEvents> perf_;  // mappings of processes
  std::set<pid_t> left_;                    // live threads of the target; not with kAll
  std::unique_ptr<BpfProgram> program_;
  Status taken_;  // the first error of TakeEvent()
  perf::ProcessMaps maps_;
  perf::ModuleList modules_;
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  unwind::Stack stack_;
  std::vector<perf::SampledFrame> frames_;
  std::unordered_map<std::uint64_t, StackId> known_;  // by number
  std::unordered_map<std::uint32_t, Kept> kept_;      // by thread
  std::deque<std::uint64_t> ended_;                   // stacks of ended threads, oldest first
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent
