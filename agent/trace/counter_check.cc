#include "agent/trace/counter_check.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "agent/trace/x86_64/trace_machine.h"
#include "common/base/file.h"

namespace fieldcost::trace {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr int kTries = 3;  // a page may be reclaimed while it is tried

struct Plausible {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  const char* of = "";
};

Plausible PlausibleOf(perf::Counter counter) {
  switch (counter) {
    case perf::Counter::kCycles:
      return {kTriedRounds / 4, kTriedRounds * 100, "10,000,000 rounds of a loop"};
    case perf::Counter::kInstructions:
      return {kTriedRounds, kTriedRounds * 4, "10,000,000 rounds of a loop"};
    case perf::Counter::kCacheMisses:
      return {kTriedLines / 10, kTriedLines * 100, "20,011 cache lines from memory"};
    case perf::Counter::kBranchMisses:
      return {kTriedBranches / 10, kTriedBranches * 2, "200,000 unpredictable branches"};
    case perf::Counter::kFaults:
      break;
  }
  return {kTriedPages, kTriedPages, "256 new pages"};
}

void MissLines() {
  std::vector<std::uint8_t> memory(kTriedLines * kLineBytes, 1);
  for (std::size_t i = 0; i < kTriedLines; ++i) FlushLine(&memory[i * kLineBytes]);
  AwaitFlushes();
  constexpr std::size_t kStep = 7'919;  // both are prime: each line once, in unpredictable order
  for (std::size_t i = 0; i < kTriedLines; ++i) {
    [[maybe_unused]] const std::uint8_t read =
        *const_cast<volatile std::uint8_t*>(&memory[i * kStep % kTriedLines * kLineBytes]);
  }
}

void MissBranches() {
  std::uint64_t random = 0x9e3779b97f4a7c15;
  for (std::uint64_t i = 0; i < kTriedBranches; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    // The compiler cannot turn a branch around volatile code into a conditional move.
    if ((random & 1) != 0) DoNothing();
  }
}

void TouchPages() {
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = kTriedPages * page_bytes;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  ::madvise(memory, bytes, MADV_NOHUGEPAGE);
  auto* const pages = static_cast<volatile std::uint8_t*>(memory);
  for (std::size_t i = 0; i < kTriedPages; ++i) pages[i * page_bytes] = 1;
  ::munmap(memory, bytes);
}

void WorkFor(perf::Counter counter) {
  switch (counter) {
    case perf::Counter::kCycles:
    case perf::Counter::kInstructions:
      return RunLoop(kTriedRounds);
    case perf::Counter::kCacheMisses:
      return MissLines();
    case perf::Counter::kBranchMisses:
      return MissBranches();
    case perf::Counter::kFaults:
      return TouchPages();
  }
}

Error OpenError(int error_number) {
  if (error_number == ENOENT || error_number == ENODEV || error_number == ENXIO ||
      error_number == EOPNOTSUPP) {
    return Fail(ErrorCode::kUnsupported, "the kernel has no such counter here");
  }
  if (error_number == EACCES || error_number == EPERM) {
    return Fail(ErrorCode::kPermissionDenied,
                "the kernel does not permit it (kernel.perf_event_paranoid must be 2 or less)");
  }
  return Fail(ErrorCode::kUnsupported, "{}", std::generic_category().message(error_number));
}

// Opens an event that only counts, if all CPUs can sample it.
Result<UniqueFd> Open(perf::Counter counter, std::uint64_t period_ns) {
  perf_event_attr event = EventOf(counter);
  event.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  UniqueFd counting(perf::OpenPerfEvent(event, 0, -1));
  if (!counting.valid()) return OpenError(errno);
  constexpr std::uint32_t kLittleStack = 8;
  const perf_event_attr sampled =
      perf::Sampled(EventOf(counter), {.period = perf::PeriodOf(counter, period_ns),
                                       .stack_bytes = kLittleStack,
                                       .from_next_exec = true});
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const UniqueFd sampling(perf::OpenPerfEvent(sampled, 0, cpu));
    const bool is_offline = !sampling.valid() && (errno == ENODEV || errno == ENXIO);
    if (!sampling.valid() && !is_offline) {
      return Within(OpenError(errno), fmt::format("CPU {}", cpu));
    }
  }
  return counting;
}

std::optional<CounterReading> Read(const UniqueFd& event) {
  CounterReading reading;
  static_assert(sizeof reading == 3 * sizeof(std::uint64_t), "as read_format specifies");
  if (::read(event.get(), &reading, sizeof reading) != sizeof reading) return std::nullopt;
  return reading;
}

Status Try(perf::Counter counter, const UniqueFd& event) {
  Status plausible;
  for (int i = 0; i < kTries; ++i) {
    const auto before = Read(event);
    WorkFor(counter);
    const auto after = Read(event);
    if (!before || !after) return Fail(ErrorCode::kIo, "it cannot be read");
    plausible = CheckReading(counter, {.value = after->value - before->value,
                                       .enabled_ns = after->enabled_ns - before->enabled_ns,
                                       .running_ns = after->running_ns - before->running_ns});
    if (plausible) break;
  }
  return plausible;
}

}  // namespace

Status CheckReading(perf::Counter counter, const CounterReading& reading) {
  if (reading.running_ns < reading.enabled_ns) {
    return Fail(ErrorCode::kUnavailable, "it counted only {} % of the time: ask for fewer counters",
                reading.running_ns * 100 / reading.enabled_ns);
  }
  const Plausible plausible = PlausibleOf(counter);
  if (reading.value >= plausible.least && reading.value <= plausible.most) return {};
  return Fail(ErrorCode::kUnsupported, "it counted {} for {}", reading.value, plausible.of);
}

std::vector<CounterCheck> CheckCounters(const std::vector<perf::Counter>& counters,
                                        std::uint64_t period_ns) {
  // All are open while each is tried, as in a recording: this shows which counters cannot be used
  // together.
  std::vector<Result<UniqueFd>> events;
  for (const perf::Counter counter : counters) events.push_back(Open(counter, period_ns));
  std::vector<CounterCheck> checks;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    checks.push_back({.counter = counters[i],
                      .status = events[i] ? Try(counters[i], *events[i]) : events[i].error()});
  }
  return checks;
}

}  // namespace fieldcost::trace
