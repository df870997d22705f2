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
#include "agent/idle/collector.h"
#include "agent/idle/idle_events.h"
#include "agent/sampler/module_list.h"
#include "agent/sampler/perf_events.h"
#include "agent/sampler/process_maps.h"
#include "common/base/file.h"
#include "common/unwind/unwinder.h"

namespace fieldcost::idle_agent {

// Mode `bpf`: a program in the kernel takes a thread's stack when it leaves its CPU, and tells of
// each time in which a CPU was idle: exact, without ticks, and nothing but the CPU itself has to do
// with it.
class BpfCollector : public Collector {
 public:
  // kPermissionDenied and kUnsupported say what is missing. REQUIRES: `writer` outlives this; one
  // thread.
  static Result<std::unique_ptr<BpfCollector>> Create(const Target& target, IdleWriter& writer);
  ~BpfCollector() override;

  Result<bool> Look(std::chrono::milliseconds limit) override;
  Status Finish() override;
  std::map<std::string, std::uint64_t> Counts() const override { return counts_; }

 private:
  // Numbers of a thread's stacks that may still be asked for, oldest first.
  struct Kept {
    std::vector<std::uint64_t> left_cpu;
    std::vector<std::uint64_t> woke;
  };

  BpfCollector(Target target, IdleWriter& writer);
  void TakeRecord(const sampler::PerfRecord& record);
  // What the program told, in its order; beside it what else happened to processes.
  Status Drain();
  Status TakeEvent(std::span<const std::uint8_t> untrusted_event);
  Status TakeStack(const fc_stack& stack, std::span<const std::uint8_t> bytes);
  Status TakeIdle(const fc_idle& untrusted_idle);
  Status TakeFrom(std::uint32_t cpu, const fc_from& untrusted_from);
  void TakeMapsUntil(std::uint64_t time);
  // A thread has ended: its stacks are forgotten once many others have.
  void Forget(std::uint32_t tid);
  void Unwind(const fc_stack& stack, std::span<const std::uint8_t> bytes);
  // Each CPU has something to do for a moment: what it tells of begins, and ends, there.
  static void VisitCpus();

  Target target_;
  IdleWriter& writer_;
  UniqueFd process_;                           // a pidfd; none: it has ended, or all are monitored
  std::unique_ptr<sampler::PerfEvents> perf_;  // what is mapped, by whom
  std::set<pid_t> left_;                       // threads of the target, without kAll
  std::unique_ptr<BpfProgram> program_;
  Status taken_;  // of what the program told
  sampler::ProcessMaps maps_;
  sampler::ModuleList modules_;
  unwind::TableCache tables_;
  unwind::Unwinder unwinder_;
  unwind::Stack stack_;
  std::vector<sampler::SampledFrame> frames_;
  std::unordered_map<std::uint64_t, StackId> known_;  // by number
  std::unordered_map<std::uint32_t, Kept> kept_;      // by thread
  std::deque<std::uint64_t> ended_;                   // of threads that have ended, oldest first
  std::map<std::string, std::uint64_t> counts_;
};

}  // namespace fieldcost::idle_agent
