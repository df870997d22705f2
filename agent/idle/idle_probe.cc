#include "agent/idle/idle_probe.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <utility>

#include "agent/idle/monotonic.h"
#include "common/base/clock.h"

namespace fieldcost::idle_agent {

void BlockSignals() {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
}

bool LookRing::Push(const CpuLook& look) {
  const std::uint64_t pushed = pushed_.load(std::memory_order_relaxed);
  if (pushed - popped_.load(std::memory_order_acquire) == kMost) return false;
  looks_[pushed % kMost] = look;
  pushed_.store(pushed + 1, std::memory_order_release);
  return true;
}

std::optional<CpuLook> LookRing::Pop() {
  const std::uint64_t popped = popped_.load(std::memory_order_relaxed);
  if (popped == pushed_.load(std::memory_order_acquire)) return std::nullopt;
  const CpuLook look = looks_[popped % kMost];
  popped_.store(popped + 1, std::memory_order_release);
  return look;
}

struct IdleProbe::Cpu {
  std::uint32_t number = 0;
  LookRing looks;
  std::optional<std::uint64_t> told_activity;  // used by the thread only
  std::thread thread;
};

Result<std::unique_ptr<IdleProbe>> IdleProbe::Start(Options options) {
  std::unique_ptr<IdleProbe> probe(new IdleProbe(std::move(options)));
  probe->event_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!probe->event_.valid()) return ErrnoError("make", "an eventfd", errno);
  for (const std::uint32_t number : UsableCpus()) {
    FIELDCOST_TRY(probe->StartOn(number));
  }
  if (probe->cpus_.empty())
    return Fail(ErrorCode::kUnsupported, "observe idle CPUs: this process may use no CPU");
  return probe;
}

IdleProbe::IdleProbe(Options options) : options_(std::move(options)) {}
IdleProbe::~IdleProbe() { Stop(); }

Status IdleProbe::StartOn(std::uint32_t number) {
  auto cpu = std::make_unique<Cpu>();
  cpu->number = number;
  // nullopt: the CPU went offline in the meantime.
  std::promise<Result<std::optional<IdleClock::Source>>> started;
  auto start = started.get_future();
  cpu->thread = std::thread([this, &cpu = *cpu, started = std::move(started)]() mutable {
    BlockSignals();
    ::prctl(PR_SET_NAME, "fieldcost-idle");
    if (!PinTo(cpu.number)) return started.set_value(std::nullopt);
    auto clock = IdleClock::Open(cpu.number, {.tick_ns = options_.tick_ns});
    if (!clock) return started.set_value(clock.error());
    started.set_value(clock->source());
    Run(cpu, *clock);
  });
  const auto source = start.get();
  if (!source || !*source) {
    cpu->thread.join();
    return source ? Status() : Status(source.error());
  }
  source_ = **source;
  numbers_.push_back(number);
  cpus_.push_back(std::move(cpu));
  return {};
}

void IdleProbe::Run(Cpu& cpu, IdleClock& clock) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  const sched_param parameters{};
  ::sched_setscheduler(0, SCHED_IDLE, &parameters);
  const std::uint64_t tick_ns = options_.tick_ns;
  const auto signed_tick = static_cast<std::int64_t>(tick_ns);
  std::int64_t saved_ns = 0;  // idle time not reported yet: -1/2 to 1 1/2 ticks
  std::uint64_t last_ns = MonotonicNs();
  clock.Read(last_ns);
  while (!is_over_.load(std::memory_order_acquire)) {
    SleepUntil((last_ns / tick_ns + 1) * tick_ns);
    if (is_over_.load(std::memory_order_acquire)) return;
    const std::uint64_t now = MonotonicNs();
    const std::uint64_t idle_ns = clock.Read(now);
    CpuLook look{.begin_ns = std::exchange(last_ns, now), .end_ns = now};
    // The thread was migrated: its CPU went offline.
    if (::sched_getcpu() != static_cast<int>(cpu.number)) continue;
    saved_ns += static_cast<std::int64_t>(idle_ns);
    look.idle = saved_ns >= signed_tick / 2;
    if (look.idle) saved_ns = std::min(saved_ns - signed_tick, signed_tick);
    Tell(cpu, look);
  }
}

void IdleProbe::Tell(Cpu& cpu, const CpuLook& look) {
  if (!cpu.looks.Push(look)) dropped_.fetch_add(1, std::memory_order_relaxed);
  if (!look.idle) return;
  if (options_.activity) {
    const std::uint64_t activity = options_.activity(cpu.number);
    if (std::exchange(cpu.told_activity, activity) == activity) return;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void IdleProbe::Take(const Sink& sink) {
  std::uint64_t events = 0;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &events, sizeof events);
  for (const auto& cpu : cpus_) {
    while (const auto look = cpu->looks.Pop()) sink(cpu->number, *look);
  }
}

void IdleProbe::Stop() {
  is_over_.store(true, std::memory_order_release);
  cpu_set_t any;
  CPU_ZERO(&any);
  for (const std::uint32_t number : numbers_) CPU_SET(number, &any);
  const sched_param parameters{};
  for (const auto& cpu : cpus_) {
    if (!cpu->thread.joinable()) continue;
    // On a busy CPU the threads might otherwise take long to end.
    ::pthread_setschedparam(cpu->thread.native_handle(), SCHED_OTHER, &parameters);
    ::pthread_setaffinity_np(cpu->thread.native_handle(), sizeof any, &any);
    cpu->thread.join();
  }
}

std::vector<std::uint32_t> UsableCpus() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  std::vector<std::uint32_t> numbers;
  if (::sched_getaffinity(0, sizeof usable, &usable) != 0) return numbers;
  for (std::uint32_t i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &usable)) numbers.push_back(i);
  }
  return numbers;
}

bool PinTo(std::uint32_t cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0;
}

}  // namespace fieldcost::idle_agent
