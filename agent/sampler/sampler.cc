#include "agent/sampler/sampler.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

namespace fieldcost::sampler {
namespace {

constexpr std::size_t kMostProcesses = 65'536;

int OpenPerfEvent(const perf_event_attr& attributes, pid_t pid, int cpu) {
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC));
}

perf_event_attr AttributesOf(const Sampler::Options& options) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_TASK_CLOCK;
  attributes.sample_period = options.period_ns;
  attributes.sample_type = kSampleType;
  attributes.sample_regs_user = kUserRegisters;
  attributes.sample_stack_user = options.stack_bytes;
  attributes.disabled = 1;
  attributes.enable_on_exec = 1;
  attributes.inherit = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.mmap = 1;
  attributes.mmap2 = 1;
  attributes.comm = 1;
  attributes.comm_exec = 1;
  attributes.task = 1;
  attributes.sample_id_all = 1;
  attributes.use_clockid = 1;
  attributes.clockid = CLOCK_MONOTONIC;
  attributes.wakeup_events = 1;  // what is behind the copy is read before the stack changes
  return attributes;
}

Error OpenError(int error_number) {
  const std::string reason =
      ErrnoError("open a perf event of", "this process's child", error_number).message;
  if (error_number == EACCES || error_number == EPERM) {
    return Fail(ErrorCode::kPermissionDenied, "{} (kernel.perf_event_paranoid must be 2 or less)",
                reason);
  }
  return Fail(ErrorCode::kUnsupported, "{}", reason);
}

}  // namespace

struct Sampler::Cpu {
  Cpu(UniqueFd event, void* mapped, std::size_t page_bytes, std::size_t ring_bytes)
      : fd(std::move(event)),
        memory(mapped),
        bytes(page_bytes + ring_bytes),
        ring(mapped, static_cast<std::uint8_t*>(mapped) + page_bytes, ring_bytes) {}
  ~Cpu() { ::munmap(memory, bytes); }
  Cpu(const Cpu&) = delete;
  Cpu& operator=(const Cpu&) = delete;

  UniqueFd fd;
  void* memory;
  std::size_t bytes;
  PerfRing ring;
  bool ended = false;  // no process is left that could write
};

Sampler::Sampler(Options options, Sink sink)
    : options_(options), sink_(std::move(sink)), unwinder_(tables_) {}

Sampler::~Sampler() = default;

Result<std::unique_ptr<Sampler>> Sampler::OfNextExec(pid_t pid, Options options, Sink sink) {
  std::unique_ptr<Sampler> sampler(new Sampler(options, std::move(sink)));
  const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpus; ++cpu) {
    FIELDCOST_TRY(sampler->Open(pid, cpu));
  }
  if (sampler->cpus_.empty())
    return Fail(ErrorCode::kUnsupported, "open a perf event: no CPU is online");
  return sampler;
}

Status Sampler::Open(pid_t pid, int cpu) {
  UniqueFd fd(OpenPerfEvent(AttributesOf(options_), pid, cpu));
  if (!fd.valid()) {
    if (errno == ENODEV || errno == ENXIO) return {};  // the CPU is offline
    return OpenError(errno);
  }
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, page_bytes + options_.ring_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    return Fail(ErrorCode::kPermissionDenied,
                "map a perf ring of {} bytes: {} (kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK "
                "limit them)",
                options_.ring_bytes, ErrnoError("map", "ring", errno).message);
  }
  cpus_.push_back(std::make_unique<Cpu>(std::move(fd), memory, page_bytes, options_.ring_bytes));
  return {};
}

Result<bool> Sampler::Wait(std::chrono::milliseconds limit) {
  std::vector<pollfd> waiting;
  for (const auto& cpu : cpus_) {
    if (!cpu->ended) waiting.push_back({.fd = cpu->fd.get(), .events = POLLIN, .revents = 0});
  }
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(limit.count())) < 0 &&
      errno != EINTR) {
    return ErrnoError("wait for", "perf rings", errno);
  }
  Drain();
  std::size_t i = 0;
  bool some_left = false;
  for (const auto& cpu : cpus_) {
    if (cpu->ended) continue;
    cpu->ended = (waiting[i++].revents & (POLLHUP | POLLERR)) != 0;
    some_left = some_left || !cpu->ended;
  }
  return some_left;
}

void Sampler::Drain() {
  for (;;) {
    ticks_.Look();
    Cpu* next = nullptr;
    std::uint64_t next_time = 0;
    std::span<const std::uint8_t> next_record;
    for (const auto& cpu : cpus_) {
      auto record = cpu->ring.Front();
      while (record && !TimeOf(*record)) {
        ++counts_.unreadable;
        cpu->ring.Pop();
        record = cpu->ring.Front();
      }
      if (!record) continue;
      const std::uint64_t time = *TimeOf(*record);
      if (next != nullptr && time >= next_time) continue;
      next = cpu.get();
      next_time = time;
      next_record = *record;
    }
    if (next == nullptr) return;
    if (const auto parsed = ParseRecord(next_record)) {
      Take(*parsed);
    } else {
      ++counts_.unreadable;
    }
    next->ring.Pop();
  }
}

void Sampler::Take(const PerfRecord& record) {
  if (record.time < last_time_) ++counts_.out_of_order;
  last_time_ = std::max(last_time_, record.time);
  if (const auto* const sample = std::get_if<SampleRecord>(&record.content)) {
    TakeSample(*sample, record.time);
  } else if (const auto* const map = std::get_if<MapRecord>(&record.content)) {
    if (map->executable) {
      MapOf(map->pid).Add(map->mapping);
    } else {
      MapOf(map->pid).Remove(map->mapping.start, map->mapping.end);
    }
  } else if (const auto* const fork = std::get_if<ForkRecord>(&record.content)) {
    TakeFork(*fork);
  } else if (const auto* const exec = std::get_if<ExecRecord>(&record.content)) {
    MapOf(exec->pid).Clear();
  } else if (const auto* const exit = std::get_if<ExitRecord>(&record.content)) {
    // Other threads may outlive the first one, but hardly any does; their map is read again then.
    if (exit->pid == exit->tid) maps_.erase(exit->pid);
  } else if (const auto* const lost = std::get_if<LostRecord>(&record.content)) {
    counts_.lost += lost->count;
  }
}

void Sampler::TakeFork(const ForkRecord& record) {
  if (record.pid == record.parent_pid) return;  // a thread
  const auto parent = maps_.find(record.parent_pid);
  if (parent != maps_.end())
    maps_.insert_or_assign(record.pid, parent->second.ForkedTo(record.pid));
}

unwind::ModuleMap& Sampler::MapOf(pid_t pid) {
  const auto found = maps_.find(pid);
  if (found != maps_.end()) return found->second;
  // Too many at once, of processes whose end was lost: they begin anew.
  if (maps_.size() >= kMostProcesses) maps_.clear();
  auto map = unwind::ReadModuleMap(pid);
  return maps_.emplace(pid, map ? std::move(*map) : unwind::ModuleMap(pid)).first->second;
}

void Sampler::TakeSample(const SampleRecord& record, std::uint64_t time) {
  if (!record.is_64_bit) {
    ++counts_.of_32_bit;
    return;
  }
  ++counts_.samples;
  unwind::ModuleMap& map = MapOf(record.pid);
  unwind::ProcessMemory rest(record.pid);
  const std::uint64_t stack = record.registers[unwind::kRsp];
  ThunkRecords thunks(rest, stack, record.stack, ticks_.NotAfter(time));
  unwind::StackMemory memory(stack, record.stack, &rest, unwind::StackMemory::Thread::kRunning,
                             &thunks);
  unwinder_.Unwind(map, record.registers, memory, stack_);
  sample_.time_ns = time;
  sample_.pid = record.pid;
  sample_.tid = record.tid;
  sample_.cpu = record.cpu;
  sample_.weight_ns = record.period;
  sample_.end = stack_.end;
  sample_.frames.clear();
  for (const unwind::Frame& frame : stack_.frames) sample_.frames.push_back(FrameOf(map, frame));
  sink_(sample_);
}

SampledFrame Sampler::FrameOf(unwind::ModuleMap& map, const unwind::Frame& frame) {
  const std::uint64_t address = frame.lookup_address();
  SampledFrame result{.module = 0, .address = address, .guessed = frame.guessed};
  const unwind::Mapping* const mapping = map.Find(address);
  SampledModule module;
  if (mapping == nullptr) {
    module.kind = SampledModule::Kind::kUnknown;
  } else if (mapping->table != nullptr) {
    result.address = address - mapping->bias;
    const auto known = module_of_table_.find(mapping->table);
    if (known != module_of_table_.end()) {
      result.module = known->second;
      return result;
    }
    module = {.kind = SampledModule::Kind::kFile,
              .path = mapping->path,
              .build_id = mapping->table->build_id(),
              .pid = 0,
              .table = mapping->table};
    result.module = ModuleOf(std::move(module));
    module_of_table_.emplace(mapping->table, result.module);
    return result;
  } else if (!mapping->path.empty()) {
    module = {.kind = SampledModule::Kind::kRaw, .path = mapping->path, .build_id = {}, .pid = 0};
    result.address = address - mapping->start + mapping->file_offset;
  } else {
    module = {
        .kind = SampledModule::Kind::kGenerated, .path = {}, .build_id = {}, .pid = map.pid()};
  }
  result.module = ModuleOf(std::move(module));
  return result;
}

std::uint32_t Sampler::ModuleOf(SampledModule module) {
  const std::string key = fmt::format("{}/{}/{}/{}", static_cast<int>(module.kind), module.pid,
                                      module.build_id, module.path);
  const auto [found, is_new] =
      module_of_.try_emplace(key, static_cast<std::uint32_t>(modules_.size()));
  if (is_new) modules_.push_back(std::move(module));
  return found->second;
}

}  // namespace fieldcost::sampler
