#include "agent/idle/bpf_collector.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "agent/idle/bpf_program.h"
#include "agent/idle/x86_64/idle_machine.h"
#include "agent/perf/process_threads.h"
#include "agent/unwind/memory_reader.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

// Interval between reads. Long, since a running reader ends idle periods; short enough for the ring
// (8 MiB).
constexpr auto kLook = std::chrono::milliseconds(20);
constexpr std::size_t kMapRingBytes = 512 * 1024;
constexpr std::uint32_t kDead = 0x80;  // TASK_DEAD
// Number of stacks kept per thread: a CPU that it left may still refer to the previous one.
constexpr std::size_t kKept = 4;
constexpr std::size_t kKeptOfWakers = 64;
constexpr std::size_t kMostEnded = 65'536;  // maximum number of ended threads' stacks

// Returns false if the event has fewer bytes.
template <typename Event>
bool Read(std::span<const std::uint8_t> untrusted_event, std::size_t bytes, Event& event) {
  if (untrusted_event.size() < bytes) return false;
  std::memcpy(&event, untrusted_event.data(), bytes);
  return true;
}

idle::Why WhyOf(const fc_stack& stack) {
  if (stack.state == 0) return idle::Why::kPreempted;
  if ((stack.state & kDead) != 0) return idle::Why::kEnded;
  return idle::WhyOfSystemCall(stack.call);
}

fc_settings SettingsOf(const Target& target) {
  const bool all = target.kind == Target::Kind::kAll;
  return {.pid_to_mark = all ? 0 : static_cast<std::uint32_t>(target.pid),
          .not_pid = static_cast<std::uint32_t>(::getpid()),
          .all = all ? 1U : 0U,
          .reserved = 0};
}

}  // namespace

BpfCollector::BpfCollector(Target target, IdleWriter& writer)
    : target_(target), writer_(writer), unwinder_(tables_) {}

BpfCollector::~BpfCollector() = default;

Result<std::unique_ptr<BpfCollector>> BpfCollector::Create(const Target& target,
                                                           IdleWriter& writer) {
  std::unique_ptr<BpfCollector> made(new BpfCollector(target, writer));
  if (target.kind != Target::Kind::kAll) {
    made->process_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, target.pid, 0)));
    if (!made->process_.valid())
      return ErrnoError("inspect process", std::to_string(target.pid), errno);
    made->maps_.Of(target.pid);
  }
  for (const pid_t tid : perf::ThreadsOf(target.pid)) made->left_.insert(tid);
  const auto take = [self = made.get()](std::span<const std::uint8_t> untrusted_event) {
    if (self->taken_) self->taken_ = self->TakeEvent(untrusted_event);
  };
  FIELDCOST_ASSIGN(made->program_, BpfProgram::Load(SettingsOf(target), take));
  FIELDCOST_ASSIGN(made->perf_,
                   perf::PerfEvents::Create({.ring_bytes = kMapRingBytes, .switches = false}));
  FIELDCOST_TRY(made->perf_->AddAll());
  VisitCpus();
  return made;
}

void BpfCollector::VisitCpus() {
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof before, &before) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &before)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  ::sched_setaffinity(0, sizeof before, &before);
}

Result<bool> BpfCollector::Look(std::chrono::milliseconds limit) {
  pollfd waiting{.fd = process_.get(), .events = POLLIN, .revents = 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(std::min(limit, kLook).count()));
  if (ready < 0 && errno != EINTR) return ErrnoError("wait for", "idle CPUs", errno);
  if (ready > 0) process_.Reset();
  FIELDCOST_TRY(Drain());
  if (target_.kind == Target::Kind::kAll || process_.valid()) return true;
  if (target_.kind == Target::Kind::kRunning) return false;
  // The events that report their exits may have been lost.
  std::erase_if(left_, [](pid_t tid) { return ::kill(tid, 0) != 0 && errno == ESRCH; });
  return !left_.empty();
}

Status BpfCollector::Finish() {
  VisitCpus();
  program_->Detach();
  FIELDCOST_TRY(Drain());
  if (const BpfProgram::Cost cost = program_->CostOfSwitches(); cost.runs != 0) {
    counts_["runs in the kernel"] = cost.runs;
    counts_["time in the kernel, ns"] = cost.ns;
  }
  FIELDCOST_ASSIGN(const std::vector<fc_cpu> cpus, program_->Cpus());
  const std::uint64_t now = MonotonicNs();
  std::uint64_t idle_ns = 0;
  for (std::uint32_t i = 0; i < cpus.size(); ++i) {
    FIELDCOST_TRY(writer_.Take({.cpu = i,
                                .begin_ns = now - std::min<std::uint64_t>(cpus[i].lost_ns, now),
                                .end_ns = now,
                                .to = {},
                                .why = idle::Why::kLost}));
    counts_["lost events"] += cpus[i].lost_events;
    counts_["switches"] += cpus[i].switches;
    idle_ns += cpus[i].idle_ns;
  }
  counts_["idle time, ns"] += idle_ns - std::min(idle_ns, writer_.before_run_ns());
  return {};
}

Status BpfCollector::Drain() {
  FIELDCOST_TRY(program_->Consume());
  FIELDCOST_TRY(taken_);
  TakeMapsUntil(MonotonicNs());
  return {};
}

void BpfCollector::TakeMapsUntil(std::uint64_t time) {
  perf_->Drain(
      time, [this](const perf::PerfRecord& record, std::size_t /*ring*/) { TakeRecord(record); });
}

// Follows the mappings of known processes; children of a known process become known, too.
void BpfCollector::TakeRecord(const perf::PerfRecord& record) {
  if (const auto* const map = std::get_if<perf::MapRecord>(&record.content)) {
    if (maps_.Knows(map->pid)) maps_.Take(*map);
  } else if (const auto* const fork = std::get_if<perf::ForkRecord>(&record.content)) {
    maps_.Take(*fork);
    if (maps_.Knows(fork->parent_pid) && target_.kind != Target::Kind::kAll)
      left_.insert(fork->tid);
  } else if (const auto* const exec = std::get_if<perf::ExecRecord>(&record.content)) {
    if (maps_.Knows(exec->pid)) maps_.Take(*exec);
  } else if (const auto* const exit = std::get_if<perf::ExitRecord>(&record.content)) {
    maps_.Take(*exit);
    left_.erase(exit->tid);
    Forget(static_cast<std::uint32_t>(exit->tid));
  } else if (const auto* const lost = std::get_if<perf::LostRecord>(&record.content)) {
    counts_["lost records"] += lost->count;
  }
}

Status BpfCollector::TakeEvent(std::span<const std::uint8_t> untrusted_event) {
  std::uint32_t kind = 0;
  if (!Read(untrusted_event, sizeof kind, kind)) return {};
  if (kind == FC_STACK) {
    constexpr std::size_t kHead = offsetof(fc_stack, stack);
    fc_stack stack{};
    if (!Read(untrusted_event, kHead, stack)) return {};
    const auto bytes = untrusted_event.subspan(kHead);
    return TakeStack(stack, bytes.first(std::min<std::size_t>(stack.bytes, bytes.size())));
  }
  if (kind == FC_IDLE) {
    fc_idle idle{};
    return Read(untrusted_event, sizeof idle, idle) ? TakeIdle(idle) : Status();
  }
  if (kind == FC_ON) {
    fc_on on{};
    return Read(untrusted_event, sizeof on, on) ? TakeFrom(on.cpu, on.from) : Status();
  }
  return {};
}

void BpfCollector::Unwind(const fc_stack& stack, std::span<const std::uint8_t> bytes) {
  const auto pid = static_cast<pid_t>(stack.pid);
  TakeMapsUntil(stack.time);
  frames_.clear();
  stack_ = {.frames = {}, .end = unwind::StackEnd::kOutermost};
  if (bytes.empty()) {
    const bool has_ended = (stack.state & kDead) != 0;
    stack_.end = has_ended ? unwind::StackEnd::kOutermost : unwind::StackEnd::kCut;
    return;
  }
  // Code that was mapped while the map was being read may have caused no event.
  if (maps_.Of(pid).Find(stack.ip) == nullptr) maps_.Forget(pid);
  unwind::ModuleMap& map = maps_.Of(pid);
  unwind::ProcessMemory rest(pid);
  unwind::StackMemory memory(stack.sp, bytes, &rest);
  unwinder_.Unwind(map, RegistersOf(stack), memory, stack_);
  modules_.SetFrames(map, stack_, frames_);
}

Status BpfCollector::TakeStack(const fc_stack& stack, std::span<const std::uint8_t> bytes) {
  Unwind(stack, bytes);
  const bool is_waker = stack.is_running != 0;
  ++counts_[is_waker ? "stacks of wakers" : "stacks"];
  if (stack_.end != unwind::StackEnd::kOutermost) ++counts_["cut stacks"];
  const auto id = is_waker ? writer_.AddRunning(frames_, stack_.end, modules_.all())
                           : writer_.AddStack(frames_, stack_.end, WhyOf(stack), modules_.all());
  FIELDCOST_TRY(id);
  known_.insert_or_assign(stack.number, *id);
  Kept& kept = kept_[stack.tid];
  std::vector<std::uint64_t>& numbers = is_waker ? kept.woke : kept.left_cpu;
  numbers.push_back(stack.number);
  if (numbers.size() > (is_waker ? kKeptOfWakers : kKept)) {
    known_.erase(numbers.front());
    numbers.erase(numbers.begin());
  }
  if ((stack.state & kDead) != 0) Forget(stack.tid);
  return {};
}

void BpfCollector::Forget(std::uint32_t tid) {
  const auto kept = kept_.extract(tid);
  if (kept.empty()) return;
  for (const auto& numbers : {kept.mapped().left_cpu, kept.mapped().woke})
    ended_.insert(ended_.end(), numbers.begin(), numbers.end());
  for (; ended_.size() > kMostEnded; ended_.pop_front()) known_.erase(ended_.front());
}

Status BpfCollector::TakeIdle(const fc_idle& untrusted_idle) {
  if (untrusted_idle.end < untrusted_idle.begin || untrusted_idle.cpu >= FC_MOST_CPUS) return {};
  Idle idle{.cpu = untrusted_idle.cpu,
            .begin_ns = untrusted_idle.begin,
            .end_ns = untrusted_idle.end,
            .to = {},
            .why = idle::Why::kLost};
  if (untrusted_idle.to == FC_NOBODY) idle.why = idle::Why::kNotMonitored;
  if (untrusted_idle.to == FC_MOVED) idle.why = idle::Why::kMovedAway;
  if (const auto to = known_.find(untrusted_idle.to); to != known_.end()) idle.to = to->second;
  FIELDCOST_TRY(writer_.Take(idle));
  return TakeFrom(idle.cpu, untrusted_idle.from);
}

Status BpfCollector::TakeFrom(std::uint32_t cpu, const fc_from& untrusted_from) {
  if (untrusted_from.stack == FC_NOBODY) return {};
  const auto known = known_.find(untrusted_from.stack);
  if (known == known_.end() && untrusted_from.stack != FC_NEW) ++counts_["lost stacks"];
  const char* const special =
      untrusted_from.stack == FC_NEW ? idle::kNewThread : FrameName(idle::Why::kLost);
  FIELDCOST_ASSIGN(const StackId from, known != known_.end() ? Result<StackId>(known->second)
                                                             : writer_.AddSpecial(special));
  Waker waker;
  if (untrusted_from.waker_kind == FC_WAKER_INTERRUPT) waker.special = idle::kInterrupt;
  if (untrusted_from.waker_kind == FC_WAKER_KERNEL) waker.special = idle::kKernelThread;
  if (untrusted_from.waker_kind == FC_WAKER_OTHER) waker.special = idle::kOtherProcess;
  if (untrusted_from.waker_kind == FC_WAKER_STACK) {
    const auto woke = known_.find(untrusted_from.waker);
    if (woke != known_.end()) waker.stack = woke->second;
  }
  return writer_.GoesOn(cpu, from, waker);
}

}  // namespace fieldcost::idle_agent
