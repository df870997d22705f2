#include "agent/perf/perf_record.h"

#include <algorithm>
#include <cstring>

#include "agent/perf/x86_64/perf_machine.h"

namespace fieldcost::perf {
namespace {

// The trailer of all records except samples (sample_id_all): pid, tid; time; cpu, reserved; id.
constexpr std::size_t kTrailerBytes = 32;
constexpr std::size_t kTimeInTrailer = 8;
constexpr std::size_t kTimeInSample = sizeof(perf_event_header) + 16;

// Reads consecutive numbers; ok() is false once one is missing.
class Fields {
 public:
  explicit Fields(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  template <typename Number>
  Number Take() {
    Number number{};
    const auto bytes = Bytes(sizeof number);
    if (ok_) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }
  std::span<const std::uint8_t> Bytes(std::uint64_t size) {
    if (size > bytes_.size()) ok_ = false;
    if (!ok_) return {};
    const auto taken = bytes_.first(static_cast<std::size_t>(size));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(size));
    return taken;
  }
  std::span<const std::uint8_t> rest() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
  bool ok_ = true;
};

template <typename Number>
Number At(std::span<const std::uint8_t> bytes, std::size_t offset) {
  Number number{};
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

std::optional<SampleRecord> ParseSample(Fields fields, std::uint64_t& time) {
  SampleRecord sample;
  sample.id = fields.Take<std::uint64_t>();
  sample.pid = fields.Take<pid_t>();
  sample.tid = fields.Take<pid_t>();
  time = fields.Take<std::uint64_t>();
  sample.cpu = fields.Take<std::uint32_t>();
  fields.Take<std::uint32_t>();
  const auto abi = fields.Take<std::uint64_t>();
  if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
    for (const std::size_t number : kUserRegisterOrder)
      sample.registers.Set(number, fields.Take<std::uint64_t>());
    sample.is_64_bit = abi == PERF_SAMPLE_REGS_ABI_64;
  }
  const auto size = fields.Take<std::uint64_t>();
  if (size != 0) {
    sample.stack = fields.Bytes(size);
    const auto filled = fields.Take<std::uint64_t>();
    if (filled > size) return std::nullopt;
    sample.stack = sample.stack.first(static_cast<std::size_t>(filled));
  }
  if (!fields.ok()) return std::nullopt;
  return sample;
}

std::optional<MapRecord> ParseMap(Fields fields, bool is_data) {
  MapRecord map;
  map.pid = fields.Take<pid_t>();
  fields.Take<pid_t>();
  map.mapping.start = fields.Take<std::uint64_t>();
  const auto bytes = fields.Take<std::uint64_t>();
  map.mapping.file_offset = fields.Take<std::uint64_t>();
  map.mapping.file.device_major = fields.Take<std::uint32_t>();
  map.mapping.file.device_minor = fields.Take<std::uint32_t>();
  map.mapping.file.inode = fields.Take<std::uint64_t>();
  fields.Take<std::uint64_t>();  // the inode's generation
  const auto protection = fields.Take<std::uint32_t>();
  fields.Take<std::uint32_t>();  // flags
  if (!fields.ok() || map.mapping.start > UINT64_MAX - bytes) return std::nullopt;
  map.mapping.end = map.mapping.start + bytes;
  constexpr std::uint32_t kExecutable = 4;
  map.executable = !is_data && (protection & kExecutable) != 0;
  const auto path = fields.rest();
  const auto end = std::find(path.begin(), path.end(), 0);
  map.mapping.path.assign(path.begin(), end);
  // Anonymous memory.
  if (map.mapping.path.starts_with("//anon")) map.mapping.path.clear();
  return map;
}

void TakeName(Fields& fields, bool is_exec, PerfRecord& record) {
  const auto pid = fields.Take<pid_t>();
  const auto tid = fields.Take<pid_t>();
  const auto bytes = fields.rest();
  const auto end = std::find(bytes.begin(), bytes.end(), 0);
  const std::string_view name(reinterpret_cast<const char*>(bytes.data()),
                              static_cast<std::size_t>(end - bytes.begin()));
  if (is_exec) {
    record.content = ExecRecord{.pid = pid, .name = name};
  } else {
    record.content = NameRecord{.pid = pid, .tid = tid, .name = name};
  }
}

SwitchRecord SwitchOf(const perf_event_header& header, std::span<const std::uint8_t> trailer) {
  const bool out = (header.misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
  return {.pid = At<pid_t>(trailer, 0),
          .tid = At<pid_t>(trailer, sizeof(pid_t)),
          .out = out,
          .preempted = out && (header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0};
}

}  // namespace

std::optional<std::uint64_t> TimeOf(std::span<const std::uint8_t> untrusted_record) {
  if (untrusted_record.size() < sizeof(perf_event_header) + kTrailerBytes) return std::nullopt;
  const auto header = At<perf_event_header>(untrusted_record, 0);
  return At<std::uint64_t>(untrusted_record,
                           header.type == PERF_RECORD_SAMPLE
                               ? kTimeInSample
                               : untrusted_record.size() - kTrailerBytes + kTimeInTrailer);
}

std::optional<PerfRecord> ParseRecord(std::span<const std::uint8_t> untrusted_record) {
  const auto time = TimeOf(untrusted_record);
  if (!time) return std::nullopt;
  PerfRecord record{.time = *time, .content = {}};
  const auto header = At<perf_event_header>(untrusted_record, 0);
  const auto behind = untrusted_record.subspan(sizeof header);
  if (header.type == PERF_RECORD_SAMPLE) {
    auto sample = ParseSample(Fields(behind), record.time);
    if (!sample) return std::nullopt;
    sample->in_kernel = (header.misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    record.content = *sample;
    return record;
  }
  Fields fields(behind.first(behind.size() - kTrailerBytes));
  switch (header.type) {
    case PERF_RECORD_MMAP2: {
      auto map = ParseMap(fields, (header.misc & PERF_RECORD_MISC_MMAP_DATA) != 0);
      if (!map) return std::nullopt;
      record.content = std::move(*map);
      break;
    }
    case PERF_RECORD_COMM:
      TakeName(fields, (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0, record);
      break;
    case PERF_RECORD_FORK: {
      const auto pid = fields.Take<pid_t>();
      const auto parent_pid = fields.Take<pid_t>();
      const auto tid = fields.Take<pid_t>();
      record.content = ForkRecord{
          .pid = pid, .parent_pid = parent_pid, .tid = tid, .parent_tid = fields.Take<pid_t>()};
      break;
    }
    case PERF_RECORD_EXIT: {
      const auto pid = fields.Take<pid_t>();
      fields.Take<pid_t>();
      record.content = ExitRecord{.pid = pid, .tid = fields.Take<pid_t>()};
      break;
    }
    case PERF_RECORD_LOST:
      fields.Take<std::uint64_t>();  // the event
      record.content = LostRecord{.count = fields.Take<std::uint64_t>()};
      break;
    case PERF_RECORD_SWITCH:
      record.content = SwitchOf(header, behind.last(kTrailerBytes));
      break;
    default:
      break;
  }
  if (!fields.ok()) return std::nullopt;
  return record;
}

}  // namespace fieldcost::perf
