#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/result.h"
#include "common/shm/run_file.h"
#include "common/shm/selection.h"
#include "common/stats/api_key.h"
#include "common/stats/cost_histogram.h"

namespace fieldcost::runs {

// The source of a run file's bytes, which are untrusted. They may change between two reads while
// the measured process runs.
class RunBytes {
 public:
  virtual ~RunBytes() = default;
  virtual std::uint64_t size() const = 0;
  // Returns false unless all bytes could be read.
  virtual bool Read(std::uint64_t offset, void* to, std::size_t size) const = 0;
  // Returns the first offset at or after `offset` that may contain nonzero bytes.
  virtual std::uint64_t NextData(std::uint64_t offset) const = 0;
};

// A run file opened read-only.
class RunFileBytes final : public RunBytes {
 public:
  // kNotFound: it is gone. kCorrupt: not a regular file of this user, or it contains too much. kIo:
  // a failure on our side, such as too many open files.
  static Result<RunFileBytes> Open(const std::filesystem::path& path);

  std::uint64_t size() const override { return size_; }
  bool Read(std::uint64_t offset, void* to, std::size_t size) const override;
  std::uint64_t NextData(std::uint64_t offset) const override;

  int fd() const { return fd_.get(); }
  std::uint64_t inode() const { return inode_; }
  std::int64_t modified_unix_seconds() const { return modified_unix_seconds_; }

 private:
  RunFileBytes() = default;
  UniqueFd fd_;
  std::uint64_t size_ = 0;
  std::uint64_t inode_ = 0;
  std::int64_t modified_unix_seconds_ = 0;
};

// A validated header. If `ready` is false, the writer has not completed the file, and nothing else
// is set.
struct RunInfo {
  bool ready = false;
  bool forced = false;
  bool asked = false;     // measured only because this run was requested: shm::kRunAsked
  bool attached = false;  // false: the program continued without being measured
  std::uint64_t start_unix_ns = 0;
  std::uint64_t lost_calls = 0;
  std::uint32_t pick_count = 0;  // at this moment; a running program may add picks
  std::uint32_t pick_capacity = 0;
  std::uint32_t metrics_per_pick = 0;
  std::uint32_t timed_call_ps = 0;  // at most kMaxCallCostPs, like the next one
  std::uint32_t untimed_call_ps = 0;
  std::uint32_t selection_per_65536 = 0;  // untrusted, like the next two
  std::uint32_t time_per_65536 = 0;
  std::uint64_t random_draw = 0;
  std::uint64_t request_id = 0;  // untrusted, below 2^63

  WallTime start() const;
};

// The number of calls of a pick; exact once the program has ended. Each at most kMaxRunCalls.
struct PickCalls {
  std::uint64_t timed = 0;    // measured, even if they did not return
  std::uint64_t untimed = 0;  // counted only
};

struct RunPick {
  stats::ApiKey api;  // without the package version
  std::string module_path;
  bool is_private = false;  // its library is not public; set by the harvester
  stats::Metric first_metric = stats::Metric::kWallTime;  // the one that counts the timed calls
  bool dropped = false;  // no longer measured, because that would have cost too much
  std::optional<std::uint64_t> first_call_ns;
  std::optional<PickCalls> calls;  // nullopt: a cell that counts them was torn or refused
  // Measured from the run's start, and to its end if it has ended, without any loss: these are then
  // all of its calls.
  bool has_all_calls = false;
  bool busy = false;  // the machine was busy when its phase began: its wall times are kWallTimeBusy
  std::uint32_t not_measured = 0;  // shm::NotMeasured: there are no cells of these metrics
  // Determines the number of runs that the pick represents; untrusted, see shm::RunsStoodFor().
  shm::DrawnPick drawn;
  shm::Chances chances;
};

// The sums over all threads for one pick and metric.
struct RunCell {
  std::uint32_t pick = 0;
  stats::Metric metric = stats::Metric::kWallTime;
  stats::CostHistogram histogram;
};

struct RunContent {
  std::vector<RunPick> picks;
  std::vector<RunCell> cells;       // ascending by pick; without empty ones
  std::uint32_t refused_cells = 0;  // sums or numbers of calls that no calls could produce
  std::uint32_t torn_cells = 0;     // cells of a thread that were being written at every attempt
};

// No program calls one function more often in a run, and no call costs more to measure. Greater
// values in a file are refused or clamped, so that no sum over files can overflow.
inline constexpr std::uint64_t kMaxRunCalls = std::uint64_t{1} << 48;
inline constexpr std::uint32_t kMaxCallCostPs = 1'000'000;
// 52 days; the aggregator still accepts its square.
inline constexpr std::uint64_t kMaxFirstCallNs = std::uint64_t{1} << 52;

// kCorrupt (or kUnsupported for another format version) unless the header describes a file of
// exactly this size.
Result<RunInfo> ReadRunInfo(const RunBytes& untrusted_bytes);

// Reads picks and cells. If `process_ended`, the file is final, and an update that its writer
// staged but did not finish is completed. Otherwise cells are read again until they are stable; a
// pick and metric with a torn cell is left out this time. kCorrupt if the file as a whole is
// unusable.
Result<RunContent> ReadRunContent(const RunBytes& untrusted_bytes, const RunInfo& info,
                                  bool process_ended);

}  // namespace fieldcost::runs
