#include "agent/probe_recorder/event_collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "agent/probe/login.h"
#include "agent/probe_recorder/cpu_wait.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/text.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kHitsAtOnce = 256;
constexpr std::size_t kBuildIdBytes = 6;  // to identify an unnamed build
constexpr std::size_t kMaxIoBytes = 4096;
constexpr std::size_t kMostModules = 4096;  // remembered in SeenPoints
// Two clocks read in succession differ by less than this; sleeps are longer.
constexpr std::int64_t kSleepNs = 100'000'000;

using Monotonic = std::chrono::steady_clock;

// Returns how long the machine has slept since boot.
std::int64_t SleptNs() {
  return static_cast<std::int64_t>(ClockNs(CLOCK_BOOTTIME) - MonotonicNs());
}

// Returns how many bytes the process has read from disks; 0 if unknown.
std::uint64_t DiskReadOf(std::uint32_t pid) {
  const auto text = ReadFile(fmt::format("/proc/{}/io", pid), kMaxIoBytes);
  if (!text) return 0;
  constexpr std::string_view kKey = "\nread_bytes: ";
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return 0;
  const std::string_view rest = std::string_view(*text).substr(at + kKey.size());
  return ParseUint64(rest.substr(0, rest.find('\n'))).value_or(0);
}

PlanFacts WithBuild(PlanFacts plan, const RingFile& file) {
  if (!plan.build.empty()) return plan;
  for (const RingModule& module : file.Modules()) {
    if (module.path == file.facts().program) {
      plan.build = HexEncode(module.build_id.substr(0, kBuildIdBytes));
    }
  }
  return plan;
}

}  // namespace

struct Collector::Program {
  Program(RingFile opened, const PlanFacts& plan, StackNamer& namer)
      : file(std::move(opened)),
        batch(file.facts(), WithBuild(plan, file), namer),
        slept_ns(static_cast<std::int64_t>(file.facts().start_boot_ns) -
                 static_cast<std::int64_t>(file.facts().start_monotonic_ns)) {}

  RingFile file;
  RunBatch batch;
  Spool::Positions positions{};  // up to which its rings have been read
  std::int64_t slept_ns;         // at the last look
  std::optional<Monotonic::time_point> oldest;
  std::uint64_t lost = 0;
  std::uint64_t written = 0;  // bytes in its fullest ring since the previous look
  std::array<std::uint64_t, shm::kProbeRings> heads{};
  bool is_running = true;
  bool is_over = false;
};

Collector::Collector(const settings::AgentPaths& paths, Session& session, Spool& spool,
                     StackNamer& namer, Options options)
    : paths_(paths), session_(session), spool_(spool), namer_(namer), options_(options) {}

Collector::~Collector() = default;

Result<Collector::Report> Collector::Look(bool all) {
  FIELDCOST_TRY(OpenNew());
  report_.has_programs = false;
  report_.lost = 0;
  report_.written = 0;
  for (auto& [path, program] : programs_) {
    if (program->is_over) continue;
    const Status looked = LookAt(*program, all);
    if (!looked && looked.error().code != ErrorCode::kCorrupt) {
      // Hits that were read but could not be stored are read again.
      const std::filesystem::path failed = path;
      programs_.erase(failed);
      return looked.error();
    }
    if (!looked) {
      LogWarning("{}: {}", path.string(), looked.error().message);
      ++report_.refused;
      program->is_over = true;
    }
    if (program->is_over) {
      std::error_code error;
      std::filesystem::remove(path, error);
      FIELDCOST_TRY(spool_.ForgetPositions(program->file.facts().run));
    }
    report_.has_programs = report_.has_programs || !program->is_over;
  }
  for (const auto& [path, program] : programs_) {
    report_.lost += program->lost;
    if (!program->is_over) report_.written = std::max(report_.written, program->written);
  }
  return report_;
}

Status Collector::OpenNew() {
  for (const std::filesystem::path& path : session_.Files()) {
    if (programs_.contains(path)) continue;
    if (!has_plan_) {
      FIELDCOST_ASSIGN(plan_, ReadPlan(session_.directory()));
      has_plan_ = true;
    }
    auto file = RingFile::Open(path);
    if (!file) {
      // A file that is still being created is opened at the next look.
      if (file.error().code == ErrorCode::kUnavailable || file.error().code == ErrorCode::kNotFound)
        continue;
      LogWarning("{}: {}", path.string(), file.error().message);
      ++report_.refused;
      std::error_code error;
      std::filesystem::remove(path, error);
      continue;
    }
    auto program = std::make_unique<Program>(*std::move(file), plan_, namer_);
    FIELDCOST_ASSIGN(const Spool::Positions known, spool_.PositionsOf(program->file.facts().run));
    for (std::size_t ring = 0; ring < known.size(); ++ring) {
      program->positions[ring] = std::max(known[ring], program->file.tail(ring));
    }
    EventFilter filter;
    filter.run = program->file.facts().run;
    FIELDCOST_ASSIGN(const EventPage begun, spool_.events().List(filter, {}, 4096));
    for (const EventRow& event : begun.events) {
      if (event.end_ns == 0) program->batch.Remember(event.id, event.begin_ns);
    }
    ++report_.runs;
    programs_.emplace(path, std::move(program));
  }
  return {};
}

Status Collector::LookAt(Program& program, bool all) {
  // Checked first: if it is false, the content read below is final.
  program.is_running = program.file.IsBeingWritten();
  FIELDCOST_TRY(program.file.Refresh());
  program.written = 0;
  for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
    program.written = std::max(program.written, program.file.head(ring) - program.heads[ring]);
    program.heads[ring] = program.file.head(ring);
  }
  program.batch.ForgetMap();
  FIELDCOST_TRY(ReadRings(program));
  const RunFacts& facts = program.file.facts();
  for (const shm::ProbeEventId& event : facts.incomplete) program.batch.MarkIncomplete(event);
  if (facts.all_incomplete) {
    program.batch.MarkIncompleteBetween(facts.UnixNs(facts.open_from_ticks),
                                        facts.UnixNs(facts.open_until_ticks));
  }
  const std::int64_t slept_ns = SleptNs();
  if (slept_ns - program.slept_ns > kSleepNs) program.batch.MarkAllSuspended();
  program.slept_ns = slept_ns;
  if (program.is_running) program.batch.SetDiskRead(DiskReadOf(facts.pid));
  // The pid of a reaped process may have been reused by now.
  if (program.is_running || IsEndedChild(facts.pid)) {
    if (const auto wait = CpuWaitOf(facts.pid)) program.batch.SetCpuWait(*wait);
  }
  program.lost = facts.lost_hits + facts.dropped + facts.interrupted;
  program.batch.SetLost(program.lost);
  if (plan_.has_named_points && (all || !program.is_running)) NotePoints(program.file);
  if (!program.is_running) return Finish(program);
  bool is_full = false;
  for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
    is_full =
        is_full || program.file.head(ring) - program.file.tail(ring) > program.file.room(ring) / 4;
  }
  const bool is_old = program.oldest && Monotonic::now() - *program.oldest >= options_.batch_age;
  if (!program.batch.empty() && (all || is_full || is_old)) return Keep(program);
  return {};
}

void Collector::NotePoints(const RingFile& file) {
  const RunFacts& facts = file.facts();
  for (std::size_t i = 0; i < seen_.placed.size(); ++i) seen_.placed[i] |= facts.placed[i];
  for (std::uint32_t number = 0; number < facts.site_count; ++number) {
    auto site = file.Site(number);
    if (site && site->kind == shm::kProbeNamed) {
      seen_.passed.emplace(std::move(site->function), std::move(site->label));
    }
  }
  if (seen_.modules.size() >= kMostModules) return;
  for (RingModule& module : file.Modules()) seen_.modules.insert(std::move(module.path));
}

Status Collector::ReadRings(Program& program) {
  for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
    for (bool is_at_end = program.file.head(ring) == program.positions[ring]; !is_at_end;) {
      const auto progress =
          program.file.Read(ring, program.positions[ring], kHitsAtOnce,
                            [&](const RingHit& hit) { program.batch.Add(hit, program.file); });
      if (!progress) {
        if (progress.error().code != ErrorCode::kCorrupt) return progress.error();
        // The rest of this ring is not trusted; the others may be intact.
        program.batch.MarkAllIncomplete();
        program.positions[ring] = program.file.head(ring);
        break;
      }
      program.positions[ring] = progress->position;
      is_at_end = progress->at_end;
      if (!program.oldest) program.oldest = Monotonic::now();
      if (program.batch.bytes() >= options_.batch_bytes) FIELDCOST_TRY(Keep(program));
    }
  }
  return {};
}

Result<Spool::Destination> Collector::DestinationNow() const {
  if (plan_.local) return Spool::Destination::kHere;
  FIELDCOST_ASSIGN(const settings::Consent consent, ProbeConsent(paths_));
  const WallTime began(
      std::chrono::microseconds(static_cast<std::int64_t>(plan_.start_unix_ns / 1000)));
  const bool may_send = consent.mode == settings::Mode::kOn && settings::MayKeep(consent, began);
  return may_send ? Spool::Destination::kServer : Spool::Destination::kHere;
}

Status Collector::Keep(Program& program) {
  const Batch batch = program.batch.Take();
  const std::uint64_t run = program.file.facts().run;
  Status kept = spool_.Keep(batch, run, program.positions, [this] { return DestinationNow(); });
  if (!kept && (kept.error().code == ErrorCode::kTooLarge ||
                kept.error().code == ErrorCode::kInvalidArgument)) {
    LogWarning("probe points stay on this machine: {}", kept.error().message);
    kept = spool_.Keep(batch, run, program.positions, [] { return Spool::Destination::kHere; });
  }
  FIELDCOST_TRY(std::move(kept));
  report_.hits += batch.hits.size();
  program.oldest.reset();
  for (std::size_t ring = 0; ring < shm::kProbeRings; ++ring) {
    if (program.positions[ring] != program.file.tail(ring)) {
      FIELDCOST_TRY(program.file.Release(ring, program.positions[ring]));
    }
  }
  return {};
}

Status Collector::Finish(Program& program) {
  if (!program.batch.empty() || program.batch.has_news()) FIELDCOST_TRY(Keep(program));
  program.is_over = true;
  return {};
}

}  // namespace fieldcost::probe
