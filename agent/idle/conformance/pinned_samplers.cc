#include "agent/idle/conformance/pinned_samplers.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <utility>

#include "agent/idle/idle_thread_state.h"
#include "agent/idle/monotonic.h"
#include "agent/perf/process_threads.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {
namespace {

constexpr std::size_t kCopyBytes = 16 * 1024;

UniqueFd MakeEvent() { return UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void Signal(int event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event, &one, sizeof one);
}

bool TakeSignal(int event) {
  std::uint64_t count = 0;
  return ::read(event, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

// A timer that expires at each multiple of the tick.
UniqueFd MakeTimer(std::uint64_t tick_ns) {
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec times{.it_interval = TimespecOf(tick_ns),
                         .it_value = TimespecOf((MonotonicNs() / tick_ns + 1) * tick_ns)};
  if (timer.valid() && ::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &times, nullptr) != 0)
    timer.Reset();
  return timer;
}

Status GoBeforeOthers() {
  const sched_param parameters{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
  // Child processes do not inherit the priority.
  if (::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0) return {};
  return Fail(ErrorCode::kPermissionDenied,
              "{} (mode literal needs CAP_SYS_NICE, or RLIMIT_RTPRIO above 0)",
              ErrnoError("get a real-time priority for", "a sampler", errno).message);
}

}  // namespace

struct PinnedSamplers::Cpu {
  std::uint32_t number = 0;
  LookRing looks;
  std::atomic<Phase> phase{Phase::kNone};
  std::atomic<bool> is_deferred{false};
  pid_t pid = 0;  // owned by the caller until kAnswered, then by the thread
  Sample sample;  // owned by the thread until kTaken, then by the caller
  UniqueFd wake;
  std::thread thread;
  // Owned by the thread.
  UniqueFd timer;
  std::optional<IdleClock> clock;
  std::int64_t saved_ns = 0;
  std::uint64_t last_ns = 0;
};

PinnedSamplers::PinnedSamplers(Options options, MaskJournal& journal)
    : options_(std::move(options)), journal_(journal), event_(MakeEvent()) {}
PinnedSamplers::~PinnedSamplers() { Stop(); }

Result<std::unique_ptr<PinnedSamplers>> PinnedSamplers::Start(Options options,
                                                              MaskJournal& journal) {
  std::unique_ptr<PinnedSamplers> made(new PinnedSamplers(std::move(options), journal));
  if (!made->event_.valid()) return ErrnoError("make", "an eventfd", errno);
  for (const std::uint32_t number : UsableCpus()) {
    FIELDCOST_TRY(made->StartOn(number));
  }
  if (made->cpus_.empty())
    return Fail(ErrorCode::kUnsupported, "observe idle CPUs: this process may use no CPU");
  return made;
}

Status PinnedSamplers::StartOn(std::uint32_t number) {
  auto cpu = std::make_unique<Cpu>();
  cpu->number = number;
  cpu->wake = MakeEvent();
  std::promise<Status> started;
  auto start = started.get_future();
  cpu->thread = std::thread([this, &cpu = *cpu, started = std::move(started)]() mutable {
    BlockSignals();
    ::prctl(PR_SET_NAME, "fieldcost-idle");
    if (!PinTo(cpu.number))
      return started.set_value(ErrnoError("pin to CPU", std::to_string(cpu.number), errno));
    if (Status status = GoBeforeOthers(); !status) return started.set_value(status);
    // A timer fires on the CPU on which it was armed.
    cpu.timer = MakeTimer(options_.tick_ns);
    auto clock = IdleClock::Open(cpu.number, {.tick_ns = options_.tick_ns});
    if (!clock || clock->source() == IdleClock::Source::kPromptness) {
      return started.set_value(
          Fail(ErrorCode::kUnsupported,
               "determine how long CPU {} is idle: the kernel does not report it", cpu.number));
    }
    if (!cpu.timer.valid() || !cpu.wake.valid())
      return started.set_value(ErrnoError("make", "a timer", errno));
    cpu.clock.emplace(*std::move(clock));
    started.set_value({});
    Run(cpu);
  });
  const Status status = start.get();
  if (!status) {
    cpu->thread.join();
    return status;
  }
  cpus_.push_back(std::move(cpu));
  return {};
}

void PinnedSamplers::Run(Cpu& cpu) {
  cpu.last_ns = MonotonicNs();
  cpu.clock->Read(cpu.last_ns);
  pollfd waiting[] = {{.fd = cpu.timer.get(), .events = POLLIN, .revents = 0},
                      {.fd = cpu.wake.get(), .events = POLLIN, .revents = 0}};
  while (!is_over_.load(std::memory_order_acquire)) {
    if (::poll(waiting, 2, -1) < 0) continue;
    if (waiting[0].revents != 0 && TakeSignal(cpu.timer.get())) Tick(cpu);
    if (waiting[1].revents != 0 && TakeSignal(cpu.wake.get())) TakeSample(cpu);
  }
}

void PinnedSamplers::Tick(Cpu& cpu) {
  const auto tick_ns = static_cast<std::int64_t>(options_.tick_ns);
  const std::uint64_t now = MonotonicNs();
  cpu.saved_ns += static_cast<std::int64_t>(cpu.clock->Read(now));
  CpuLook look{.begin_ns = std::exchange(cpu.last_ns, now), .end_ns = now};
  look.idle = cpu.saved_ns >= tick_ns / 2;
  if (look.idle) cpu.saved_ns = std::min(cpu.saved_ns - tick_ns, tick_ns);
  if (!cpu.looks.Push(look)) dropped_.fetch_add(1, std::memory_order_relaxed);
  if (look.idle) Ask(cpu);
}

void PinnedSamplers::Ask(Cpu& cpu) {
  Phase none = Phase::kNone;
  if (cpu.phase.compare_exchange_strong(none, Phase::kAsked, std::memory_order_acq_rel)) {
    Notify();
    return;
  }
  cpu.is_deferred.store(true, std::memory_order_release);
  deferred_.fetch_add(1, std::memory_order_relaxed);
}

void PinnedSamplers::TakeSample(Cpu& cpu) {
  if (cpu.phase.load(std::memory_order_acquire) != Phase::kAnswered) return;
  Sample& sample = cpu.sample;
  ChangedMask changed{.pid = cpu.pid, .tid = sample.tid, .cpu = cpu.number};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_ZERO(&changed.before);
  CPU_SET(cpu.number, &one);
  // A running thread would have to leave its CPU at once, so it is left alone.
  const bool waits = perf::IsWaiting(cpu.pid, sample.tid);
  const auto start = waits ? StartOf(cpu.pid, sample.tid) : std::nullopt;
  const bool is_there =
      start && ::sched_getaffinity(sample.tid, sizeof changed.before, &changed.before) == 0;
  // A thread that may run only on this CPU stays there anyway.
  const bool is_free = is_there && !CPU_EQUAL(&changed.before, &one);
  changed.start = start.value_or(0);
  const bool is_kept = is_free && journal_.Begin(cpu.number, changed) &&
                       ::sched_setaffinity(sample.tid, sizeof one, &one) == 0;
  if (is_kept && options_.while_pinned) options_.while_pinned();
  sample.copy.reset();
  if (is_there && is_free == is_kept)
    sample.copy = perf::CopyWaitStack(cpu.pid, sample.tid, kCopyBytes);
  if (is_kept) Restore(changed);
  if (is_free) journal_.End(cpu.number);
  sample.time_ns = MonotonicNs();
  cpu.phase.store(Phase::kTaken, std::memory_order_release);
  Notify();
}

void PinnedSamplers::Notify() { Signal(event_.get()); }

void PinnedSamplers::Release(Cpu& cpu) {
  cpu.phase.store(Phase::kNone, std::memory_order_release);
  if (cpu.is_deferred.exchange(false, std::memory_order_acq_rel)) Ask(cpu);
}

void PinnedSamplers::Take(const IdleProbe::Sink& sink) {
  TakeSignal(event_.get());
  for (const auto& cpu : cpus_) {
    while (const auto look = cpu->looks.Pop()) sink(cpu->number, *look);
  }
}

std::vector<std::uint32_t> PinnedSamplers::Asking() {
  std::vector<std::uint32_t> numbers;
  for (const auto& cpu : cpus_) {
    if (cpu->phase.load(std::memory_order_acquire) == Phase::kAsked) numbers.push_back(cpu->number);
  }
  return numbers;
}

PinnedSamplers::Cpu* PinnedSamplers::Find(std::uint32_t number) {
  const auto found = std::ranges::find(cpus_, number, [](const auto& cpu) { return cpu->number; });
  return found == cpus_.end() ? nullptr : found->get();
}

void PinnedSamplers::Answer(std::uint32_t cpu, pid_t pid, pid_t tid) {
  Cpu* const found = Find(cpu);
  if (found == nullptr || found->phase.load(std::memory_order_acquire) != Phase::kAsked) return;
  found->pid = pid;
  found->sample = {.cpu = cpu, .tid = tid, .copy = {}};
  found->phase.store(Phase::kAnswered, std::memory_order_release);
  Signal(found->wake.get());
}

void PinnedSamplers::AnswerNobody(std::uint32_t cpu) {
  Cpu* const found = Find(cpu);
  if (found == nullptr || found->phase.load(std::memory_order_acquire) != Phase::kAsked) return;
  found->is_deferred.store(false, std::memory_order_release);
  Release(*found);
}

std::vector<PinnedSamplers::Sample> PinnedSamplers::Samples() {
  std::vector<Sample> samples;
  for (const auto& cpu : cpus_) {
    if (cpu->phase.load(std::memory_order_acquire) != Phase::kTaken) continue;
    samples.push_back(std::move(cpu->sample));
    Release(*cpu);
  }
  return samples;
}

void PinnedSamplers::Stop() {
  is_over_.store(true, std::memory_order_release);
  for (const auto& cpu : cpus_) {
    if (!cpu->thread.joinable()) continue;
    Signal(cpu->wake.get());
    cpu->thread.join();
  }
}

}  // namespace fieldcost::idle_agent
