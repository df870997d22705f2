// Reads run files; common/shm/run_file.h has their layout.
#include "agent/runs/run_file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/runs/untrusted_fields.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/wire/batch.h"

namespace fieldcost::runs {
namespace {

// The disk space that a run file may occupy; holes do not count.
constexpr std::uint64_t kMaxRunDataBytes = 1024 * kMiB;
constexpr int kMaxCellReads = 100;
constexpr std::uint64_t kNsPerMicrosecond = 1000;

Result<RunPick> CheckPick(const shm::Pick& untrusted_pick, const RunInfo& info) {
  // Rejects values that could mislead later readers.
  const auto soname = TextOf(untrusted_pick.soname);
  const auto symbol = TextOf(untrusted_pick.symbol);
  const auto version = TextOf(untrusted_pick.symbol_version);
  const auto path = TextOf(untrusted_pick.module_path);
  if (!soname || !symbol || !version || !path) {
    return Fail(ErrorCode::kCorrupt, "a text is not terminated");
  }
  if (untrusted_pick.build_id_bytes > sizeof untrusted_pick.build_id) {
    return Fail(ErrorCode::kCorrupt, "build-id of {} bytes", untrusted_pick.build_id_bytes);
  }
  if ((untrusted_pick.metrics & ~shm::kCellMetrics) != 0 ||
      std::popcount(untrusted_pick.metrics) != static_cast<int>(info.metrics_per_pick)) {
    return Fail(ErrorCode::kCorrupt, "metric set {:#x}", untrusted_pick.metrics);
  }
  if ((untrusted_pick.not_measured & ~shm::kAllNotMeasured) != 0) {
    return Fail(ErrorCode::kCorrupt, "reasons {:#x} for what is not measured",
                untrusted_pick.not_measured);
  }
  // Copied unchanged: names, and the draw of the pick.
  RunPick pick{
      .api = {.soname = std::string(*soname),
              .package_version = {},
              .build_id = HexEncode({untrusted_pick.build_id, untrusted_pick.build_id_bytes}),
              .symbol = std::string(*symbol),
              .symbol_version = std::string(*version)},
      .module_path = std::string(*path),
      .first_metric = static_cast<stats::Metric>(std::countr_zero(untrusted_pick.metrics)),
      .dropped = untrusted_pick.phase == shm::kPickDropped,
      .first_call_ns = {},
      .calls = {},
      .busy = (untrusted_pick.flags & shm::kPickBusy) != 0,
      .not_measured = untrusted_pick.not_measured,
      .drawn = {.weight_left = untrusted_pick.weight_left,
                .weight = untrusted_pick.weight,
                .wanted = untrusted_pick.picks_wanted,
                .order = untrusted_pick.draw_order,
                .watched_per_65536 = untrusted_pick.watched_per_65536},
      .chances = {.run = info.selection_per_65536, .time = info.time_per_65536}};
  // Set only in some picks.
  if ((untrusted_pick.flags & shm::kPickLater) != 0) {
    pick.chances.phase = untrusted_pick.selection_per_65536;
  }
  if (untrusted_pick.first_call_ns != 0 && untrusted_pick.first_call_ns - 1 < kMaxFirstCallNs) {
    pick.first_call_ns = untrusted_pick.first_call_ns - 1;
  }
  FIELDCOST_TRY(wire::ValidateApiKey(pick.api));
  return pick;
}

bool IsZero(const shm::Cell& cell) {
  static constexpr shm::Cell kZero{};
  return std::memcmp(&cell, &kZero, sizeof cell) == 0;
}

enum class CellState { kGood, kTorn, kUnreadable };

CellState ReadCell(const RunBytes& bytes, std::uint64_t offset, bool process_ended,
                   shm::Cell& untrusted_cell) {
  if (process_ended) {
    return bytes.Read(offset, &untrusted_cell, sizeof untrusted_cell) ? CellState::kGood
                                                                      : CellState::kUnreadable;
  }
  for (int i = 0; i < kMaxCellReads; ++i) {
    std::uint32_t before = 0;
    std::uint32_t after = 0;
    const std::uint64_t sequence_at = offset + offsetof(shm::Cell, sequence);
    if (!bytes.Read(sequence_at, &before, sizeof before) ||
        !bytes.Read(offset, &untrusted_cell, sizeof untrusted_cell) ||
        !bytes.Read(sequence_at, &after, sizeof after)) {
      return CellState::kUnreadable;
    }
    if (before == after && before % 2 == 0 && untrusted_cell.sequence == before) {
      return CellState::kGood;
    }
  }
  return CellState::kTorn;
}

}  // namespace

Result<RunFileBytes> RunFileBytes::Open(const std::filesystem::path& path) {
  RunFileBytes bytes;
  // O_NONBLOCK: a FIFO in this place must not block us.
  bytes.fd_ =
      UniqueFd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!bytes.fd_.valid()) {
    if (errno == ELOOP || errno == ENXIO) {
      return Fail(ErrorCode::kCorrupt, "open {}: not a regular file", path.string());
    }
    return ErrnoError("open", path, errno);
  }
  struct stat info {};
  if (::fstat(bytes.fd_.get(), &info) != 0) return ErrnoError("stat", path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Fail(ErrorCode::kCorrupt, "{} is not a regular file", path.string());
  }
  if (info.st_uid != ::geteuid()) {
    return Fail(ErrorCode::kCorrupt, "{} belongs to another user", path.string());
  }
  if (static_cast<std::uint64_t>(info.st_blocks) * 512 > kMaxRunDataBytes) {
    return Fail(ErrorCode::kCorrupt, "{} occupies more than {} bytes", path.string(),
                kMaxRunDataBytes);
  }
  bytes.size_ = static_cast<std::uint64_t>(info.st_size);
  bytes.inode_ = info.st_ino;
  bytes.modified_unix_seconds_ = info.st_mtim.tv_sec;
  return bytes;
}

bool RunFileBytes::Read(std::uint64_t offset, void* to, std::size_t size) const {
  auto* at = static_cast<char*>(to);
  while (size > 0) {
    const ssize_t got = ::pread(fd_.get(), at, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    offset += static_cast<std::uint64_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::uint64_t RunFileBytes::NextData(std::uint64_t offset) const {
  const off_t data = ::lseek(fd_.get(), static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return static_cast<std::uint64_t>(data);
  return errno == ENXIO ? size_ : offset;  // ENXIO: only a hole is left
}

WallTime RunInfo::start() const {
  return WallTime(std::chrono::microseconds(start_unix_ns / kNsPerMicrosecond));
}

namespace {

// Checks the header values that, together with the file's size, determine all offsets and counts.
Status CheckHeader(const shm::RunHeader& untrusted_header, std::uint64_t file_bytes) {
  if (untrusted_header.version != shm::kRunVersion) {
    return Fail(ErrorCode::kUnsupported, "run file has version {}; this program reads only {}",
                untrusted_header.version, shm::kRunVersion);
  }
  if (untrusted_header.header_bytes != sizeof untrusted_header || untrusted_header.complete != 1 ||
      untrusted_header.thread_slots != shm::kThreadSlots) {
    return Fail(ErrorCode::kCorrupt, "run file header has another format");
  }
  const std::uint32_t capacity = untrusted_header.pick_capacity;
  if (capacity == 0 || capacity > shm::kMaxPicks || untrusted_header.pick_count > capacity ||
      untrusted_header.metrics_per_pick == 0 ||
      untrusted_header.metrics_per_pick > shm::kMaxMetricsPerPick) {
    return Fail(ErrorCode::kCorrupt, "run file has {} picks, room for {}, of {} metrics",
                untrusted_header.pick_count, capacity, untrusted_header.metrics_per_pick);
  }
  const std::uint64_t expected = shm::RunFileBytes(capacity, untrusted_header.metrics_per_pick);
  if (untrusted_header.counters_offset != shm::CountersOffset(capacity) ||
      untrusted_header.cells_offset != shm::CellsOffset(capacity) ||
      untrusted_header.size_bytes != file_bytes || untrusted_header.size_bytes != expected) {
    return Fail(ErrorCode::kCorrupt, "run file has {} bytes, its header states {} and describes {}",
                file_bytes, untrusted_header.size_bytes, expected);
  }
  return {};
}

}  // namespace

Result<RunInfo> ReadRunInfo(const RunBytes& untrusted_bytes) {
  if (untrusted_bytes.size() == 0) return RunInfo{};
  shm::RunHeader header;
  if (untrusted_bytes.size() < sizeof header || !untrusted_bytes.Read(0, &header, sizeof header)) {
    return Fail(ErrorCode::kCorrupt, "run file is truncated: {} bytes", untrusted_bytes.size());
  }
  static constexpr char kNoMagic[sizeof header.magic] = {};
  if (header.complete == 0 &&
      (std::memcmp(header.magic, kNoMagic, sizeof kNoMagic) == 0 ||
       std::memcmp(header.magic, shm::kRunMagic, sizeof header.magic) == 0)) {
    return RunInfo{};
  }
  if (std::memcmp(header.magic, shm::kRunMagic, sizeof header.magic) != 0) {
    return Fail(ErrorCode::kCorrupt, "not a run file");
  }
  FIELDCOST_TRY(CheckHeader(header, untrusted_bytes.size()));
  return RunInfo{.ready = true,
                 .forced = (header.flags & shm::kRunForced) != 0,
                 .asked = (header.flags & shm::kRunAsked) != 0,
                 .attached = header.attached != 0,
                 .start_unix_ns = header.start_unix_ns,
                 .lost_calls = std::min(header.lost_calls, kMaxRunCalls),
                 .pick_count = header.pick_count,
                 .pick_capacity = header.pick_capacity,
                 .metrics_per_pick = header.metrics_per_pick,
                 .timed_call_ps = std::min(header.timed_call_ps, kMaxCallCostPs),
                 .untimed_call_ps = std::min(header.untimed_call_ps, kMaxCallCostPs),
                 .selection_per_65536 = header.selection_per_65536,
                 .time_per_65536 = header.time_per_65536,
                 .random_draw = header.random_draw,
                 .request_id = header.request_id >> 63 != 0 ? 0 : header.request_id};
}

namespace {

// The sums of a pick and metric over the threads read so far.
struct CellSum {
  RunCell cell;
  stats::Uint128 abandoned = 0;
  stats::Uint128 nested = 0;
  stats::Uint128 sampled = 0;
  bool is_torn = false;
  bool is_refused = false;  // for some thread
};

Status ReadPicks(const RunBytes& untrusted_bytes, const RunInfo& info, RunContent& content,
                 std::vector<CellSum>& sums) {
  for (std::uint32_t i = 0; i < info.pick_count; ++i) {
    shm::Pick untrusted_pick{};
    if (!untrusted_bytes.Read(sizeof(shm::RunHeader) + i * sizeof untrusted_pick, &untrusted_pick,
                              sizeof untrusted_pick)) {
      return Fail(ErrorCode::kCorrupt, "pick {} cannot be read", i);
    }
    auto pick = CheckPick(untrusted_pick, info);
    if (!pick) return Fail(ErrorCode::kCorrupt, "pick {}: {}", i, pick.error().message);
    pick->has_all_calls = info.attached && info.lost_calls == 0 &&
                          untrusted_pick.phase == shm::kPickActive &&
                          untrusted_pick.start_unix_ns == info.start_unix_ns;
    content.picks.push_back(std::move(*pick));
    for (unsigned metric = 1; metric <= shm::kMaxMetric; ++metric) {
      if ((untrusted_pick.metrics >> metric & 1U) == 0) continue;
      sums.push_back({.cell = {.pick = i, .metric = static_cast<stats::Metric>(metric)}});
    }
  }
  return {};
}

// Returns the first cell at or after `index` that belongs to a pick (the first `picked` cells of
// each thread slot do) and may be nonzero; nullopt if none.
std::optional<std::uint64_t> NextUsedCell(const RunBytes& untrusted_bytes, const RunInfo& info,
                                          std::uint64_t picked, std::uint64_t index) {
  const std::uint64_t begin = shm::CellsOffset(info.pick_capacity);
  constexpr std::uint64_t kCellBytes = sizeof(shm::Cell);
  const std::uint64_t slot_cells = std::uint64_t{info.pick_capacity} * info.metrics_per_pick;
  const std::uint64_t cell_count = shm::kThreadSlots * slot_cells;
  while (index < cell_count) {
    const std::uint64_t in_slot = index % slot_cells;
    if (in_slot >= picked) {
      index += slot_cells - in_slot;  // to the next slot
      continue;
    }
    const std::uint64_t offset = begin + index * kCellBytes;
    const std::uint64_t data = untrusted_bytes.NextData(offset);
    if (data < offset + kCellBytes) return index;
    index = (data - begin) / kCellBytes;
  }
  return std::nullopt;
}

void AddCell(const shm::Cell& untrusted_cell, RunContent& content, CellSum& sum) {
  if (IsZero(untrusted_cell)) return;
  sum.abandoned += untrusted_cell.abandoned;
  sum.nested += untrusted_cell.nested;
  sum.sampled += untrusted_cell.sampled;
  if (const auto histogram = HistogramOf(untrusted_cell)) {
    sum.cell.histogram.Merge(*histogram);
  } else {
    sum.is_refused = true;
    ++content.refused_cells;
  }
}

Status ReadCells(const RunBytes& untrusted_bytes, const RunInfo& info, bool process_ended,
                 RunContent& content, std::vector<CellSum>& sums) {
  const std::uint64_t begin = shm::CellsOffset(info.pick_capacity);
  const std::uint64_t slot_cells = std::uint64_t{info.pick_capacity} * info.metrics_per_pick;
  const auto next = [&](std::uint64_t index) {
    return NextUsedCell(untrusted_bytes, info, sums.size(), index);
  };
  for (std::optional<std::uint64_t> index = next(0); index; index = next(*index + 1)) {
    CellSum& sum = sums[*index % slot_cells];
    shm::Cell untrusted_cell;
    switch (ReadCell(untrusted_bytes, begin + *index * sizeof untrusted_cell, process_ended,
                     untrusted_cell)) {
      case CellState::kUnreadable:
        return Fail(ErrorCode::kCorrupt, "cell {} cannot be read", *index);
      case CellState::kTorn:
        sum.is_torn = true;
        ++content.torn_cells;
        break;
      case CellState::kGood:
        AddCell(untrusted_cell, content, sum);
        break;
    }
  }
  return {};
}

// Returns the first thread slot at or after `slot` whose counters may be nonzero; kThreadSlots if
// none.
std::uint64_t NextCountingSlot(const RunBytes& untrusted_bytes, const RunInfo& info,
                               std::uint64_t slot) {
  if (slot >= shm::kThreadSlots) return shm::kThreadSlots;
  const std::uint64_t begin = shm::CountersOffset(info.pick_capacity);
  const std::uint64_t slot_bytes = shm::CounterSlotBytes(info.pick_capacity);
  const std::uint64_t offset = begin + slot * slot_bytes;
  const std::uint64_t data = untrusted_bytes.NextData(offset);
  if (data < offset + slot_bytes) return slot;
  return std::min<std::uint64_t>((data - begin) / slot_bytes, shm::kThreadSlots);
}

// The calls counted by the counters, per pick.
Result<std::vector<std::uint64_t>> ReadCounters(const RunBytes& untrusted_bytes,
                                                const RunInfo& info) {
  const std::uint64_t begin = shm::CountersOffset(info.pick_capacity);
  const std::uint64_t slot_bytes = shm::CounterSlotBytes(info.pick_capacity);
  std::vector<std::uint64_t> calls(info.pick_count);
  if (calls.empty()) return calls;
  std::vector<shm::CallCounter> untrusted_counters(info.pick_count);
  const auto next = [&](std::uint64_t slot) {
    return NextCountingSlot(untrusted_bytes, info, slot);
  };
  for (std::uint64_t slot = next(0); slot < shm::kThreadSlots; slot = next(slot + 1)) {
    if (!untrusted_bytes.Read(begin + slot * slot_bytes, untrusted_counters.data(),
                              untrusted_counters.size() * sizeof(shm::CallCounter))) {
      return Fail(ErrorCode::kCorrupt, "the counters of thread {} cannot be read", slot);
    }
    // 48 bits each, so 256 of them do not overflow.
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i] += shm::CallsOf(untrusted_counters[i]);
  }
  return calls;
}

// The formula at the head of common/shm/run_file.h; nullopt if no calls could produce these
// numbers.
std::optional<PickCalls> CallsOf(const CellSum& sum, std::uint64_t counted) {
  const stats::Uint128 timed = sum.abandoned + sum.cell.histogram.timed();
  const stats::Uint128 all = timed + sum.nested + counted;
  if (timed > kMaxRunCalls || all - timed > kMaxRunCalls || sum.sampled > all - timed) {
    return std::nullopt;
  }
  return PickCalls{.timed = static_cast<std::uint64_t>(timed),
                   .untimed = static_cast<std::uint64_t>(all - timed - sum.sampled)};
}

}  // namespace

Result<RunContent> ReadRunContent(const RunBytes& untrusted_bytes, const RunInfo& info,
                                  bool process_ended) {
  RunContent content;
  std::vector<CellSum> sums;
  FIELDCOST_TRY(ReadPicks(untrusted_bytes, info, content, sums));
  FIELDCOST_TRY(ReadCells(untrusted_bytes, info, process_ended, content, sums));
  // Read after the cells: a sampled call is in its counter before it is in its cell.
  FIELDCOST_ASSIGN(const std::vector<std::uint64_t> counted, ReadCounters(untrusted_bytes, info));
  for (CellSum& sum : sums) {
    RunPick& pick = content.picks[sum.cell.pick];
    if (sum.is_torn) continue;
    if (sum.cell.histogram.saturated()) {
      ++content.refused_cells;
      continue;
    }
    if (sum.cell.metric == pick.first_metric && !sum.is_refused) {
      pick.calls = CallsOf(sum, counted[sum.cell.pick]);
      if (!pick.calls) ++content.refused_cells;
    }
    if (sum.cell.histogram.empty()) continue;
    const shm::MetricSet none = shm::MetricsNotMeasured(pick.not_measured);
    if ((shm::BitOf(sum.cell.metric) & none) != 0) continue;
    if (pick.busy && sum.cell.metric == stats::Metric::kWallTime) {
      sum.cell.metric = stats::Metric::kWallTimeBusy;
    }
    content.cells.push_back(sum.cell);
  }
  for (RunPick& pick : content.picks) {
    if (pick.busy && pick.first_metric == stats::Metric::kWallTime) {
      pick.first_metric = stats::Metric::kWallTimeBusy;
    }
  }
  return content;
}

}  // namespace fieldcost::runs
