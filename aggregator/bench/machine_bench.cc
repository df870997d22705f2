#include "aggregator/bench/machine_bench.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "common/wire/wire_limits.h"

namespace fieldcost::bench {
namespace {

constexpr std::uint64_t kBatchesPerAgent = 8;
// Log, kept batch, rows and compactions of a batch, with a margin: 250 KiB were measured.
constexpr std::uint64_t kRoomPerBatch = 384 * kKiB;

// A directory with everything in it, removed at the end.
class ScratchDirectory {
 public:
  static Result<ScratchDirectory> Make(const std::filesystem::path& parent) {
    std::string path = (parent / "fieldcost-bench.XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) {
      return ErrnoError("make a directory in", parent, errno);
    }
    return ScratchDirectory(std::move(path));
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(ScratchDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchDirectory& operator=(ScratchDirectory&&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

Status CheckRoom(const MachineOptions& options) {
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(options.directory, error);
  if (error) return ErrnoError("find the free room of", options.directory, error.value());
  if (space.available >= NeededRoom(options)) return {};
  return Fail(ErrorCode::kIo, "{}: {} MiB are needed, and {} are free", options.directory.string(),
              NeededRoom(options) / kMiB, space.available / kMiB);
}

// The progress of one step.
Continue StepOf(const Progress& progress, std::string_view step, std::uint64_t total) {
  if (!progress) return {};
  return [&progress, step, total](std::uint64_t done) { return progress(step, done, total); };
}

std::string InWords(const Quantiles& times) {
  return fmt::format("{:.2f} ms in the median, {:.2f} ms at most in 99 %, {:.2f} ms in 99.9 %",
                     times.p50_ms, times.p99_ms, times.p999_ms);
}

// "1,234,567"
std::string Grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

double CpuShare(const IngestRate& ingest) { return ingest.cpu_seconds / ingest.seconds; }

}  // namespace

std::uint64_t NeededRoom(const MachineOptions& options) {
  return std::max({kMaxSyncFileBytes, options.write_mib * kMiB,
                   64 * kMiB + options.agents * kBatchesPerAgent * kRoomPerBatch});
}

Result<MachineReport> MeasureMachine(const MachineOptions& options, const Clock& clock,
                                     const Progress& progress) {
  FIELDCOST_CHECK(options.syncs > 0 && options.write_mib > 0 && options.agents > 0);
  FIELDCOST_TRY(CheckRoom(options));
  FIELDCOST_ASSIGN(const ScratchDirectory scratch, ScratchDirectory::Make(options.directory));
  MachineReport report;
  FIELDCOST_ASSIGN(report.in_memory, IsInMemory(scratch.path()));
  FIELDCOST_ASSIGN(report.fsync, MeasureSyncs(scratch.path(), SyncCall::kFsync, options.syncs,
                                              StepOf(progress, "fsync", options.syncs)));
  FIELDCOST_ASSIGN(report.fdatasync,
                   MeasureSyncs(scratch.path(), SyncCall::kFdatasync, options.syncs,
                                StepOf(progress, "fdatasync", options.syncs)));
  FIELDCOST_ASSIGN(report.write_mib_per_second,
                   MeasureWriting(scratch.path(), options.write_mib,
                                  StepOf(progress, "MiB written", options.write_mib)));
  const IngestLoad load{.agents = options.agents, .batches_per_agent = kBatchesPerAgent};
  FIELDCOST_ASSIGN(report.ingest,
                   MeasureIngest(scratch.path() / "data", load, clock,
                                 StepOf(progress, "agents' batches made", load.agents),
                                 StepOf(progress, "batches acknowledged",
                                        load.agents * load.batches_per_agent)));
  return report;
}

Verdict Judge(const MachineReport& report) {
  const IngestRate& ingest = report.ingest;
  Verdict verdict{.agents_per_hour = static_cast<std::uint64_t>(std::llround(
                      ingest.batches_per_second() * 3600 * kLoadShare * kHandshakeShare)),
                  .is_limited_by_cpu = CpuShare(ingest) >= kCpuLimitShare,
                  .is_durable = !report.in_memory,
                  .sentences = {}};
  std::vector<std::string>& say = verdict.sentences;
  say.push_back(
      fmt::format("A sync of {} KiB takes {} (fdatasync; with fsync {:.2f} ms in the median).",
                  kSyncedBytes / kKiB, InWords(report.fdatasync), report.fsync.p50_ms));
  say.push_back(
      fmt::format("Sequential writing: {:.0f} MiB per second.", report.write_mib_per_second));
  say.push_back(fmt::format(
      "One core adds {:.2f} million buckets per second durably: {:.0f} batches of {} KiB.",
      ingest.bucket_adds_per_second() / 1e6, ingest.batches_per_second(),
      wire::kBatchTargetBytes / kKiB));
  say.push_back(
      fmt::format("At half of this load, an acknowledgement takes {}.", InWords(ingest.ack)));
  say.push_back(fmt::format(
      "So one core serves about {} agents per hour that send one full batch each: at half of its "
      "peak, with a TLS handshake for every batch.",
      Grouped(verdict.agents_per_hour)));
  say.push_back(verdict.is_limited_by_cpu
                    ? fmt::format("The CPU is the limit ({:.0f} % of the core); more cores serve "
                                  "more agents.",
                                  100 * CpuShare(ingest))
                    : fmt::format("The disk is the limit, unless other programs use the core, too "
                                  "({:.0f} % of it is used here); a disk with faster syncs serves "
                                  "more agents.",
                                  100 * CpuShare(ingest)));
  if (report.in_memory) {
    say.emplace_back(
        "This directory is in memory: nothing here is durable, and no figure applies to a disk.");
  } else if (report.fdatasync.p50_ms < kSuspiciousSyncMs) {
    say.emplace_back(
        "Syncs are faster than most disks can be: make sure that the disk's cache survives a power "
        "loss.");
  }
  return verdict;
}

}  // namespace fieldcost::bench
