#include "agent/perf/counter.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/perf/perf_record.h"
#include "agent/perf/x86_64/perf_machine.h"
#include "common/base/check.h"
#include "common/base/text.h"

namespace fieldcost::perf {
namespace {

struct Kind {
  Counter counter;
  std::string_view name;
  std::uint32_t type;
  std::uint64_t config;
  std::uint64_t period;  // 0: derived from the period of CPU time
};
// Periods are prime numbers, so that they are out of step with loops. Even a thread that causes
// nothing but such events has at most a few thousand samples per second.
constexpr std::array<Kind, 5> kKinds = {{
    {Counter::kCycles, "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0},
    {Counter::kInstructions, "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0},
    {Counter::kCacheMisses, "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 20'011},
    {Counter::kBranchMisses, "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
     20'011},
    {Counter::kFaults, "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 101},
}};
constexpr std::uint64_t kMostANs = 3;

const Kind& KindOf(Counter counter) {
  const Kind& kind = kKinds[static_cast<std::size_t>(counter)];
  FIELDCOST_CHECK(kind.counter == counter);
  return kind;
}

}  // namespace

std::string_view Name(Counter counter) { return KindOf(counter).name; }

Result<std::vector<Counter>> ParseCounters(std::string_view untrusted_list) {
  std::vector<Counter> counters;
  for (bool more = true; more;) {
    const std::string_view word = untrusted_list.substr(0, untrusted_list.find(','));
    more = word.size() < untrusted_list.size();
    untrusted_list.remove_prefix(word.size() + (more ? 1 : 0));
    const auto kind = std::ranges::find(kKinds, word, &Kind::name);
    if (kind == kKinds.end())
      return Fail(ErrorCode::kInvalidArgument, "there is no counter {}", EscapeControl(word));
    if (std::ranges::find(counters, kind->counter) == counters.end())
      counters.push_back(kind->counter);
  }
  return counters;
}

std::uint64_t PeriodOf(Counter counter, std::uint64_t period_ns) {
  const std::uint64_t fixed = KindOf(counter).period;
  return fixed != 0 ? fixed : kMostANs * std::min(period_ns, UINT64_MAX / 2 / kMostANs) | 1;
}

perf_event_attr SoftwareEvent(std::uint64_t config, bool exclude_kernel) {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  event.config = config;
  event.exclude_kernel = exclude_kernel ? 1 : 0;
  event.exclude_hv = 1;
  event.use_clockid = 1;
  event.clockid = CLOCK_MONOTONIC;
  return event;
}

perf_event_attr EventOf(Counter counter) {
  const Kind& kind = KindOf(counter);
  perf_event_attr event = SoftwareEvent(kind.config, true);
  event.type = kind.type;
  return event;
}

perf_event_attr Sampled(perf_event_attr event, const Sampling& sampling) {
  event.sample_period = sampling.period;
  event.sample_type = kSampleType;
  event.sample_regs_user = kUserRegisters;
  event.sample_stack_user = sampling.stack_bytes;
  event.disabled = sampling.from_next_exec ? 1 : 0;
  event.enable_on_exec = event.disabled;
  event.inherit = 1;
  event.sample_id_all = 1;
  event.wakeup_events = 1;  // each sample wakes a waiting reader
  return event;
}

int OpenPerfEvent(const perf_event_attr& event, int tid, int cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &event, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace fieldcost::perf
