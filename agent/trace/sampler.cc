#include "agent/trace/sampler.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <utility>

#include "agent/perf/process_threads.h"
#include "agent/perf/wait_stack.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/tree/frame.h"

namespace fieldcost::trace {
namespace {

constexpr std::size_t kMostThreads = 65'536;

// The interval between reads of the rings while samples do not wake the reader.
constexpr auto kShortestLook = std::chrono::milliseconds(1);
constexpr auto kQuickLook = std::chrono::milliseconds(1);
constexpr auto kLongestLook = std::chrono::milliseconds(4);
constexpr std::uint64_t kLeastPauseNs = 100'000;
// How many intervals are short after a thread began to wait, since threads may soon begin to wait
// again.
constexpr int kQuickLooks = 100;
constexpr std::size_t kMostReadsALook = 64;
// After this many samples without one deeper than the copy, samples no longer wake the reader.
constexpr int kDeepSamples = 256;
constexpr std::uint64_t kRestNs = 100'000'000;
// The elapsed part of a wait is reported once it is this long, or one interval later.
constexpr std::uint64_t kPassedNs = 900'000'000;
constexpr std::uint64_t kRestShare =
    100;  // reading the counts takes at most 1/kRestShare of the time

constexpr std::uint64_t kLongWaitNs = std::chrono::nanoseconds(Sampler::kLongWait).count();
constexpr std::uint64_t kLongestPartNs = std::chrono::nanoseconds(Sampler::kLongestPart).count();

}  // namespace

Sampler::Sampler(pid_t pid, Options options, std::unique_ptr<perf::PerfEvents> events, Sink sink)
    : options_(std::move(options)),
      sink_(std::move(sink)),
      pid_(pid),
      events_(std::move(events)),
      account_(options_.period_ns),
      run_times_(events_->rings()),
      counted_(options_.counters.size()),
      look_(kQuickLook),
      deep_samples_(kDeepSamples),
      tables_(options_.tables),
      unwinder_(tables_) {}

Sampler::~Sampler() = default;

Result<std::unique_ptr<Sampler>> Sampler::Of(pid_t pid, Options options, bool from_next_exec,
                                             Sink sink) {
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid()) {
    if (errno == ESRCH)
      return Fail(ErrorCode::kNotFound, "record process {}: no such process", pid);
    return ErrnoError("record process", std::to_string(pid), errno);
  }
  FIELDCOST_ASSIGN(auto events, perf::PerfEvents::Create({.period_ns = options.period_ns,
                                                          .stack_bytes = options.stack_bytes,
                                                          .ring_bytes = options.ring_bytes,
                                                          .from_next_exec = from_next_exec,
                                                          .counters = options.counters}));
  std::unique_ptr<Sampler> sampler(
      new Sampler(pid, std::move(options), std::move(events), std::move(sink)));
  sampler->process_ = std::move(process);
  return sampler;
}

Result<std::unique_ptr<Sampler>> Sampler::OfNextExec(pid_t pid, Options options, Sink sink) {
  FIELDCOST_ASSIGN(std::unique_ptr<Sampler> sampler,
                   Of(pid, std::move(options), true, std::move(sink)));
  FIELDCOST_TRY(sampler->events_->Add(pid));
  sampler->threads_.insert(pid);
  return sampler;
}

Result<std::unique_ptr<Sampler>> Sampler::OfRunning(pid_t pid, Options options, Sink sink) {
  FIELDCOST_ASSIGN(std::unique_ptr<Sampler> sampler,
                   Of(pid, std::move(options), false, std::move(sink)));
  sampler->is_attached_ = true;
  unwind::ModuleMap& map = sampler->maps_.Of(pid);
  std::vector<std::uint64_t> addresses;
  for (const unwind::Mapping& mapping : map.mappings()) addresses.push_back(mapping.start);
  for (const std::uint64_t address : addresses) sampler->MakeTable(map, address);
  sampler->scan_ = true;
  FIELDCOST_ASSIGN(const bool some, sampler->AddThreads(perf::ThreadsOf(pid)));
  if (!some) return Fail(ErrorCode::kNotFound, "record process {}: it has no threads", pid);
  return sampler;
}

Result<bool> Sampler::AddThreads(const std::vector<pid_t>& threads) {
  bool some = false;
  for (const pid_t tid : threads) {
    if (threads_.contains(tid)) continue;
    const std::uint64_t now = MonotonicNs();
    const Status added = events_->Add(tid);
    if (!added && added.error().code == ErrorCode::kNotFound) continue;
    FIELDCOST_TRY(added);
    threads_.insert(tid);
    if (perf::IsWaiting(pid_, tid)) waits_.WaitsSince(pid_, tid, now);
    some = true;
  }
  return some;
}

Result<bool> Sampler::Wait(std::chrono::milliseconds limit) {
  const auto longest = std::min<std::chrono::nanoseconds>(limit, look_);
  FIELDCOST_ASSIGN(const bool ended, events_->Wait(longest, deep_samples_ > 0, process_.get()));
  if (ended) process_.Reset();
  const bool is_over = !process_.valid() && (is_attached_ || events_->AllEnded());
  const bool rest_is_due = MonotonicNs() >= next_rest_ns_;
  // The count is read before the records, so that all samples of that time are available.
  const std::uint64_t counted_ns = rest_is_due ? events_->Counted(perf::PerfEvents::kClock) : 0;
  const std::uint64_t now = MonotonicNs();
  Drain(now);
  if (is_over) {
    Finish();
    return false;
  }
  if (scan_) {
    // Listed threads that were started by sampled threads have been recorded by now.
    const std::vector<pid_t> threads = perf::ThreadsOf(pid_);
    Drain(MonotonicNs());
    FIELDCOST_ASSIGN(scan_, AddThreads(threads));
  }
  ReadWaits();
  if (now - waits_given_until_ns_ >= kRestNs) GivePassed(now);
  if (rest_is_due) TakeRest(now, counted_ns);
  return true;
}

void Sampler::Finish() {
  events_->Stop();
  const std::uint64_t counted_ns = events_->Counted(perf::PerfEvents::kClock);
  Drain(UINT64_MAX);
  const std::uint64_t now = MonotonicNs();
  for (Waits::Wait& wait : waits_.EndAll(now)) TakeWait(std::move(wait));
  GivePassed(now);
  run_times_.ExitAll(now, [this](pid_t tid, std::uint64_t run_ns) {
    TakeEnd(thread_list_.ProcessOf(tid), tid, run_ns);
  });
  TakeRest(now, counted_ns);
  TakeRestOfCounters(now);
}

void Sampler::Drain(std::uint64_t until_ns) {
  ticks_.Look();
  const perf::PerfEvents::Seen seen = events_->Drain(
      until_ns, [this](const perf::PerfRecord& record, std::size_t ring) { Take(record, ring); });
  counts_.unreadable += seen.unreadable;
  PlanNextLook(seen.fill);
}

// Plans the next read so that rings are emptied before they are half full, with as few reads as
// possible.
void Sampler::PlanNextLook(double fill) {
  const std::uint64_t samples = options_.ring_bytes / 2 / (options_.stack_bytes + 512);
  const std::chrono::nanoseconds full(samples * options_.period_ns);
  // Samples of counters may come in bursts.
  const auto most = options_.counters.empty() ? kLongestLook : kQuickLook;
  const auto longest = std::clamp<std::chrono::nanoseconds>(full, kShortestLook, most);
  if (quick_looks_ > 0) {
    --quick_looks_;
    look_ = std::min<std::chrono::nanoseconds>(kQuickLook, longest);
  } else if (fill < 0.25) {
    look_ = std::min<std::chrono::nanoseconds>(2 * look_, longest);
  }
  if (fill > 0.5) look_ = std::max<std::chrono::nanoseconds>(look_ / 2, kShortestLook);
}

void Sampler::Take(const perf::PerfRecord& record, std::size_t ring) {
  if (record.time < last_time_) ++counts_.out_of_order;
  last_time_ = std::max(last_time_, record.time);
  if (const auto* const sample = std::get_if<perf::SampleRecord>(&record.content)) {
    TakeSample(*sample, record.time);
  } else if (const auto* const change = std::get_if<perf::SwitchRecord>(&record.content)) {
    TakeSwitch(*change, ring, record.time);
  } else if (const auto* const map = std::get_if<perf::MapRecord>(&record.content)) {
    TakeMap(*map);
  } else if (const auto* const fork = std::get_if<perf::ForkRecord>(&record.content)) {
    if (threads_.size() >= kMostThreads) threads_.clear();
    threads_.insert(fork->tid);
    maps_.Take(*fork);
    thread_list_.Take(*fork);
  } else if (const auto* const exec = std::get_if<perf::ExecRecord>(&record.content)) {
    maps_.Take(*exec);
    thread_list_.Take(*exec);
    run_times_.In(exec->pid, ring, record.time);  // there is no switch-in record for it
  } else if (const auto* const name = std::get_if<perf::NameRecord>(&record.content)) {
    thread_list_.Take(*name);
  } else if (const auto* const exit = std::get_if<perf::ExitRecord>(&record.content)) {
    TakeExit(*exit, record.time);
  } else if (const auto* const lost = std::get_if<perf::LostRecord>(&record.content)) {
    counts_.lost += lost->count;
  }
}

void Sampler::TakeMap(const perf::MapRecord& record) {
  if (maps_.Take(record) && !record.mapping.path.empty())
    MakeTable(maps_.Of(record.pid), record.mapping.start);
}

// Building the table of a large module takes a tenth of a second, in which the rings would overflow
// and waits would end unread. So it is built as soon as the module is mapped, while this thread
// empties the rings and copies stacks.
void Sampler::MakeTable(unwind::ModuleMap& map, std::uint64_t address) {
  unwind::Mapping* const mapping = map.Find(address);
  if (mapping == nullptr || tables_.IsQuick(*mapping)) return;
  const auto made = std::async(std::launch::async, [&] { tables_.LookUp(map.pid(), *mapping); });
  const bool deep = deep_samples_ > 0;
  const auto follow = [this](const perf::SwitchRecord& change, std::uint64_t time) {
    copies_.Follow(change, time);
  };
  waits_.ForEachLatest(follow);
  while (made.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    // The next Wait() reports the error.
    if (!events_->Wait(kShortestLook, deep, -1)) break;
    events_->Stash(deep, follow);
    copies_.Look(kLongWaitNs);
  }
}

void Sampler::TakeSwitch(const perf::SwitchRecord& record, std::size_t ring, std::uint64_t time) {
  if (record.out) {
    if (!record.preempted) quick_looks_ = kQuickLooks;
    run_times_.Out(record.tid, time);
  } else {
    run_times_.In(record.tid, ring, time);
    UseCopy(record.pid, record.tid, time);
  }
  if (auto wait = waits_.Switch(record, time)) TakeWait(std::move(*wait));
}

void Sampler::UseCopy(pid_t pid, pid_t tid, std::uint64_t time) {
  if (copies_.empty()) return;
  const auto since = waits_.UnreadSince(tid, time);
  const auto copy = copies_.Take(tid, since.value_or(time));
  if (!since || !copy) return;
  unwind::ModuleMap& map = maps_.Of(pid);
  perf::UnwindCopy(copy->stack, map, unwinder_, stack_);
  waits_.SetRead(tid, ReadOf(map, copy->time_ns));
}

Sampler::Waits::Read Sampler::ReadOf(unwind::ModuleMap& map, std::uint64_t time) {
  Waits::Read read{.stack = {.frames = {}, .end = stack_.end}, .time_ns = time};
  modules_.SetFrames(map, stack_, read.stack.frames);
  return read;
}

void Sampler::TakeEnd(pid_t pid, pid_t tid, std::uint64_t run_ns) {
  const std::uint64_t ns = account_.AddThread(run_ns);
  if (ns != 0) left_over_.push_back({.pid = pid, .tid = pid == 0 ? 0 : tid, .ns = ns});
}

void Sampler::TakeExit(const perf::ExitRecord& record, std::uint64_t time) {
  waits_.Exit(record.tid);
  copies_.Exit(record.tid, time);
  threads_.erase(record.tid);
  run_times_.Exit(record.tid, time,
                  [&](pid_t tid, std::uint64_t run_ns) { TakeEnd(record.pid, tid, run_ns); });
  maps_.Take(record);
  thread_list_.Take(record);
}

void Sampler::TakeSample(const perf::SampleRecord& record, std::uint64_t time) {
  if (!record.is_64_bit) {
    ++counts_.of_32_bit;
    return;
  }
  const bool is_clock = record.event == perf::PerfEvents::kClock;
  if (is_clock) {
    ++counts_.samples;
    account_.AddSample(record.period);
  }
  unwind::ModuleMap& map = maps_.Of(record.pid);
  unwind::ProcessMemory rest(record.pid);
  const std::uint64_t stack = record.registers[unwind::kStackPointer];
  ThunkRecords thunks(rest, stack, record.stack, ticks_.NotAfter(time));
  unwind::StackMemory memory(stack, record.stack, &rest, unwind::StackMemory::Thread::kRunning,
                             &thunks);
  unwinder_.Unwind(map, record.registers, memory, stack_);
  const bool is_deep = memory.fetched_bytes() > 0 || memory.seam_broken() || thunks.was_asked();
  deep_samples_ = is_deep ? kDeepSamples : std::max(deep_samples_ - 1, 0);
  sample_ = {.kind = is_clock ? Sample::Kind::kCpu : Sample::Kind::kCounter,
             .time_ns = time,
             .pid = record.pid,
             .tid = record.tid,
             .cpu = record.cpu,
             .weight_ns = is_clock ? record.period : 0,
             .frames = std::move(sample_.frames),
             .special = record.in_kernel ? tree::kKernel : nullptr,
             .end = stack_.end};
  if (!is_clock) {
    sample_.counter = record.event - perf::PerfEvents::kClock - 1;
    sample_.events = record.period;
    counted_[sample_.counter] += record.period;
  }
  modules_.SetFrames(map, stack_, sample_.frames);
  sink_(sample_);
}

void Sampler::TakeWait(Waits::Wait wait) {
  const bool is_long = wait.whole_ns() >= kLongWaitNs;
  if (!is_long) {
    short_waits_.Add(
        {.pid = wait.pid,
         .tid = wait.tid,
         .kind = wait.preempted ? ShortWaits::Kind::kPreempted : ShortWaits::Kind::kWait,
         .end_ns = wait.end_ns,
         .length_ns = wait.length_ns()});
    return;
  }
  if (!wait.preempted && wait.is_over) {
    ++counts_.waits;
    if (!wait.stack) ++counts_.missed_waits;
  }
  GiveShortWaits(short_waits_.TakeOf(wait.tid));
  GiveWait(std::move(wait));
}

void Sampler::GiveWait(Waits::Wait wait) {
  Sample sample{.kind = Sample::Kind::kWait,
                .pid = wait.pid,
                .tid = wait.tid,
                .cpu = 0,
                .frames = {},
                .special = wait.preempted ? kPreempted : kWaitsWithoutStack,
                .end = unwind::StackEnd::kOutermost};
  if (wait.stack && !wait.preempted) {
    sample.frames = std::move(wait.stack->frames);
    sample.special = nullptr;
    sample.end = wait.stack->end;
  }
  // If reads were late, the wait may be longer than one part.
  while (wait.begin_ns < wait.end_ns) {
    sample.weight_ns = std::min(wait.length_ns(), kLongestPartNs);
    wait.begin_ns += sample.weight_ns;
    sample.time_ns = wait.begin_ns;
    sink_(sample);
  }
}

void Sampler::GiveShortWaits(const std::vector<ShortWaits::Span>& spans) {
  for (const ShortWaits::Span& span : spans) {
    const bool preempted = span.kind == ShortWaits::Kind::kPreempted;
    sink_({.kind = Sample::Kind::kWait,
           .time_ns = span.end_ns,
           .pid = span.pid,
           .tid = span.tid,
           .cpu = 0,
           .weight_ns = span.length_ns,
           .frames = {},
           .special = preempted ? kPreempted : kShortWaits,
           .end = unwind::StackEnd::kOutermost});
  }
}

void Sampler::GivePassed(std::uint64_t time) {
  for (Waits::Wait& part : waits_.TakePassed(time, kPassedNs)) TakeWait(std::move(part));
  GiveShortWaits(short_waits_.TakeAll());
  waits_given_until_ns_ = time;
}

void Sampler::ReadWaits() {
  const auto read = [&](pid_t pid, pid_t tid) -> std::optional<Waits::Read> {
    unwind::ModuleMap& map = maps_.Of(pid);
    if (!perf::ReadWaitStack(pid, tid, map, unwinder_, stack_)) return std::nullopt;
    return ReadOf(map, MonotonicNs());
  };
  const auto next = waits_.ReadStacks(MonotonicNs() - kLongWaitNs, kMostReadsALook, read);
  if (!next) return;
  // Reads exactly when the wait becomes a long one.
  const std::uint64_t now = MonotonicNs();
  const std::uint64_t due = std::max(*next + kLongWaitNs, now + kLeastPauseNs);
  look_ = std::min(look_, std::chrono::nanoseconds(due - now));
}

void Sampler::TakeRest(std::uint64_t time, std::uint64_t counted_ns) {
  CpuAccount::Rest rest = account_.Take(counted_ns, run_times_.used());
  // In that case, samples contain the kernel time.
  if (events_->sees_kernel())
    rest = {.kernel_ns = 0, .left_over_ns = rest.left_over_ns + rest.kernel_ns};
  GiveSpecial(tree::kKernel, time, rest.kernel_ns);
  // Time that ended threads left over comes first, in the order of their ends; the rest belongs to
  // no known thread.
  while (rest.left_over_ns != 0 && !left_over_.empty()) {
    LeftOver& of_thread = left_over_.front();
    const std::uint64_t ns = std::min(rest.left_over_ns, of_thread.ns);
    GiveSpecial(kUnsampled, time, ns, of_thread.pid, of_thread.tid);
    rest.left_over_ns -= ns;
    of_thread.ns -= ns;
    if (of_thread.ns == 0) left_over_.pop_front();
  }
  GiveSpecial(kUnsampled, time, rest.left_over_ns);
  next_rest_ns_ = time + std::max(kRestNs, kRestShare * (MonotonicNs() - time));
}

void Sampler::TakeRestOfCounters(std::uint64_t time) {
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    const std::uint64_t all = events_->Counted(perf::PerfEvents::kClock + 1 + i);
    if (all <= counted_[i]) continue;
    sink_({.kind = Sample::Kind::kCounter,
           .time_ns = time,
           .counter = i,
           .events = all - counted_[i],
           .frames = {},
           .special = kUnsampled,
           .end = unwind::StackEnd::kOutermost});
  }
}

void Sampler::GiveSpecial(const char* special, std::uint64_t time, std::uint64_t value, pid_t pid,
                          pid_t tid) {
  if (value == 0) return;
  sink_({.kind = Sample::Kind::kCpu,
         .time_ns = time,
         .pid = pid,
         .tid = tid,
         .cpu = 0,
         .weight_ns = value,
         .frames = {},
         .special = special,
         .end = unwind::StackEnd::kOutermost});
}

}  // namespace fieldcost::trace
