#include "agent/perf/perf_events.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <utility>

#include "agent/unwind/memory_reader.h"
#include "common/base/check.h"

namespace fieldcost::perf {
namespace {

constexpr std::size_t kBehindBytes = std::size_t{128} << 10;  // read for a stashed stack

Error OpenError(const std::string& what, int error_number) {
  const Error error = ErrnoError("open a perf event of", what, error_number);
  const std::string& reason = error.message;
  if (error_number == ESRCH) return Fail(ErrorCode::kNotFound, "{}", reason);
  if (error_number == EACCES || error_number == EPERM) {
    return Fail(ErrorCode::kPermissionDenied,
                "{} (kernel.perf_event_paranoid must be 2 or less; of another user's process only "
                "root may)",
                reason);
  }
  if (error.code == ErrorCode::kUnavailable) {
    return Fail(error.code, "{} (one is open per thread and CPU)", reason);
  }
  return Fail(ErrorCode::kUnsupported, "{}", reason);
}

// Reads the last bytes of the copy, which show whether the stack is still the same, and the bytes
// that follow it.
void ReadBehind(std::span<const std::uint8_t> untrusted_record, std::uint64_t& address,
                std::vector<std::uint8_t>& bytes) {
  const auto parsed = ParseRecord(untrusted_record);
  const auto* const sample = parsed ? std::get_if<SampleRecord>(&parsed->content) : nullptr;
  if (sample == nullptr || !sample->is_64_bit || sample->stack.empty()) return;
  const std::size_t seam = std::min(unwind::StackMemory::kSeamBytes, sample->stack.size());
  address = sample->registers[unwind::kStackPointer] + sample->stack.size() - seam;
  bytes.resize(kBehindBytes);
  bytes.resize(unwind::ProcessMemory(sample->pid).Read(address, bytes.data(), bytes.size()));
}

void RaiseFileLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct PerfEvents::Ring {
  struct Stashed {
    std::vector<std::uint8_t> record;
    std::uint64_t behind_address = 0;
    std::vector<std::uint8_t> behind;
    std::size_t bytes() const { return record.size() + behind.size(); }
  };

  Ring(int number, UniqueFd event, void* mapped, std::size_t page_bytes, std::size_t ring_bytes)
      : cpu(number),
        owner(std::move(event)),
        memory(mapped),
        bytes(page_bytes + ring_bytes),
        ring(mapped, static_cast<std::uint8_t*>(mapped) + page_bytes, ring_bytes) {}
  ~Ring() { ::munmap(memory, bytes); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  std::optional<std::span<const std::uint8_t>> Front() {
    if (stashed.empty()) return ring.Front();
    return std::span<const std::uint8_t>(stashed.front().record);
  }
  void AddBehind(PerfRecord& front) const {
    auto* const sample = std::get_if<SampleRecord>(&front.content);
    if (sample == nullptr || stashed.empty()) return;
    sample->behind = stashed.front().behind;
    sample->behind_address = stashed.front().behind_address;
  }
  // Removes the oldest record. Returns how many bytes of memory this frees.
  std::size_t Pop() {
    if (stashed.empty()) {
      ring.Pop();
      return 0;
    }
    const std::size_t freed = stashed.front().bytes();
    stashed.pop_front();
    return freed;
  }

  int cpu;
  UniqueFd owner;                             // a dummy event of this process
  std::vector<std::vector<UniqueFd>> events;  // [event][thread]
  void* memory;
  std::size_t bytes;
  PerfRing ring;
  std::deque<Stashed> stashed;  // older than the ring's records
};

PerfEvents::PerfEvents(Options options) : options_(std::move(options)) {
  periods_.push_back(options_.period_ns);
  for (const Counter counter : options_.counters)
    periods_.push_back(PeriodOf(counter, options_.period_ns));
}
PerfEvents::~PerfEvents() = default;

Result<std::unique_ptr<PerfEvents>> PerfEvents::Create(Options options) {
  std::unique_ptr<PerfEvents> made(new PerfEvents(std::move(options)));
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    FIELDCOST_TRY(made->MakeRing(cpu));
  }
  if (made->rings_.empty())
    return Fail(ErrorCode::kUnsupported, "open a perf event: no CPU is online");
  return made;
}

Status PerfEvents::MakeRing(int cpu) {
  UniqueFd owner(OpenPerfEvent(SoftwareEvent(PERF_COUNT_SW_DUMMY, true), 0, cpu));
  if (!owner.valid()) {
    if (errno == ENODEV || errno == ENXIO) return {};  // the CPU is offline
    return OpenError("this process", errno);
  }
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, page_bytes + options_.ring_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED, owner.get(), 0);
  if (memory == MAP_FAILED) {
    return Fail(ErrorCode::kPermissionDenied,
                "map a perf ring of {} bytes: {} (kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK "
                "limit them)",
                options_.ring_bytes, ErrnoError("map", "ring", errno).message);
  }
  rings_.push_back(
      std::make_unique<Ring>(cpu, std::move(owner), memory, page_bytes, options_.ring_bytes));
  rings_.back()->events.resize(periods_.size());
  return {};
}

perf_event_attr PerfEvents::AttributesOf(std::size_t event) const {
  const bool is_clock = event == kClock;
  perf_event_attr attributes = Sampled(
      is_clock
          ? SoftwareEvent(options_.period_ns == 0 ? PERF_COUNT_SW_DUMMY : PERF_COUNT_SW_TASK_CLOCK,
                          !sees_kernel_)
          : EventOf(options_.counters[event - kClock - 1]),
      {.period = periods_[event],
       .stack_bytes = options_.stack_bytes,
       .from_next_exec = options_.from_next_exec});
  if (!is_clock) return attributes;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.context_switch = options_.switches ? 1 : 0;
  return attributes;
}

Result<UniqueFd> PerfEvents::Open(std::size_t event, pid_t tid, int cpu) {
  for (bool retried = false;;) {
    UniqueFd fd(OpenPerfEvent(AttributesOf(event), tid, cpu));
    if (fd.valid()) return fd;
    const int error = errno;
    if (error == EACCES && sees_kernel_ && event == kClock) {
      sees_kernel_ = false;
    } else if (error == EMFILE && !retried) {
      RaiseFileLimit();
      retried = true;
    } else {
      return OpenError(fmt::format("thread {}", tid), error);
    }
  }
}

Status PerfEvents::Add(pid_t tid) {
  for (const auto& ring : rings_) {
    for (std::size_t event = 0; event < periods_.size(); ++event)
      FIELDCOST_TRY(Add(event, tid, *ring));
  }
  return {};
}

Status PerfEvents::AddAll() {
  FIELDCOST_CHECK(options_.period_ns == 0 && options_.counters.empty());
  return Add(-1);
}

Status PerfEvents::Add(std::size_t event, pid_t tid, Ring& ring) {
  FIELDCOST_ASSIGN(UniqueFd fd, Open(event, tid, ring.cpu));
  std::uint64_t id = 0;
  if (::ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, ring.owner.get()) != 0 ||
      ::ioctl(fd.get(), PERF_EVENT_IOC_ID, &id) != 0)
    return OpenError(fmt::format("thread {}", tid), errno);
  event_of_[id] = event;
  ring.events[event].push_back(std::move(fd));
  return {};
}

bool PerfEvents::TellEvent(PerfRecord& untrusted_record) const {
  auto* const sample = std::get_if<SampleRecord>(&untrusted_record.content);
  if (sample == nullptr) return true;
  const auto found = event_of_.find(sample->id);
  if (found == event_of_.end()) return false;
  sample->event = found->second;
  sample->period = periods_[found->second];
  return true;
}

Result<bool> PerfEvents::Wait(std::chrono::nanoseconds limit, bool each_sample, int or_fd) {
  std::vector<pollfd> waiting = {{.fd = or_fd, .events = POLLIN, .revents = 0}};
  if (each_sample) {
    for (const auto& ring : rings_)
      waiting.push_back({.fd = ring->owner.get(), .events = POLLIN, .revents = 0});
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec span{.tv_sec = seconds.count(), .tv_nsec = (limit - seconds).count()};
  const int ready = ::ppoll(waiting.data(), waiting.size(), &span, nullptr);
  if (ready < 0 && errno != EINTR) return ErrnoError("wait for", "perf rings", errno);
  return ready > 0 && waiting[0].revents != 0;
}

bool PerfEvents::AllEnded() {
  std::vector<pollfd> events;
  for (const auto& ring : rings_) {
    for (const UniqueFd& fd : ring->events[kClock])
      events.push_back({.fd = fd.get(), .events = 0, .revents = 0});
  }
  ::poll(events.data(), events.size(), 0);
  return std::ranges::all_of(
      events, [](const pollfd& event) { return (event.revents & (POLLHUP | POLLERR)) != 0; });
}

std::uint32_t PerfEvents::CpuOf(std::size_t ring) const {
  return static_cast<std::uint32_t>(rings_[ring]->cpu);
}

std::uint64_t PerfEvents::Written(std::size_t ring) const { return rings_[ring]->ring.Head(); }

PerfEvents::Seen PerfEvents::Drain(std::uint64_t until_ns, const Sink& sink) {
  Seen seen;
  for (const auto& ring : rings_) seen.fill = std::max(seen.fill, ring->ring.fill());
  for (;;) {
    std::size_t next = rings_.size();
    std::uint64_t next_time = until_ns;
    std::span<const std::uint8_t> next_record;
    for (std::size_t i = 0; i < rings_.size(); ++i) {
      auto record = rings_[i]->Front();
      while (record && !TimeOf(*record)) {
        ++seen.unreadable;
        stashed_bytes_ -= rings_[i]->Pop();
        record = rings_[i]->Front();
      }
      if (!record || *TimeOf(*record) >= next_time) continue;
      next = i;
      next_time = *TimeOf(*record);
      next_record = *record;
    }
    if (next == rings_.size()) return seen;
    if (auto parsed = ParseRecord(next_record); parsed && TellEvent(*parsed)) {
      rings_[next]->AddBehind(*parsed);
      sink(*parsed, next);
    } else {
      ++seen.unreadable;
    }
    stashed_bytes_ -= rings_[next]->Pop();
  }
}

void PerfEvents::Stash(bool deep, const SwitchSink& sink) {
  for (const auto& ring : rings_) {
    while (stashed_bytes_ < kMostStashedBytes) {
      const auto record = ring->ring.Front();
      if (!record) break;
      Ring::Stashed stashed{.record = {record->begin(), record->end()}};
      if (deep) ReadBehind(stashed.record, stashed.behind_address, stashed.behind);
      stashed_bytes_ += stashed.bytes();
      if (const auto parsed = ParseRecord(stashed.record)) {
        const auto* const change = std::get_if<SwitchRecord>(&parsed->content);
        if (change != nullptr) sink(*change, parsed->time);
      }
      ring->stashed.push_back(std::move(stashed));
      ring->ring.Pop();
    }
  }
}

std::uint64_t PerfEvents::Counted(std::size_t event) const {
  std::uint64_t sum = 0;
  for (const auto& ring : rings_) {
    for (const UniqueFd& fd : ring->events[event]) {
      std::uint64_t value = 0;
      if (::read(fd.get(), &value, sizeof value) == sizeof value) sum += value;
    }
  }
  return sum;
}

void PerfEvents::Stop() {
  for (const auto& ring : rings_) {
    for (const auto& event : ring->events) {
      for (const UniqueFd& fd : event) ::ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, 0);
    }
  }
}

}  // namespace fieldcost::perf
