#include "agent/probe_recorder/run_batch.h"

#include <algorithm>
#include <utility>

#include "common/base/clean_text.h"
#include "common/base/text.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

constexpr std::size_t kHitBytes = 20;
constexpr std::size_t kEventBytes = 40;
constexpr std::size_t kMostOpen = 4096;  // open events that are remembered
constexpr std::size_t kMessageBytes = 12;
constexpr std::uint64_t kManyReadBytes = 1 << 20;  // gives a run without tags the tag "disk"

std::uint64_t Bounded(std::uint64_t ns) { return std::clamp(ns, kLeastNs, kMostNs - 1); }

std::string ProgramOf(const RunFacts& facts) {
  const std::string name = facts.program.substr(facts.program.rfind('/') + 1);
  return name.empty() ? "unknown" : CleanText(name, kMaxProgramBytes);
}

Run RunOf(const RunFacts& facts, const PlanFacts& plan) {
  Run run = {.id = facts.run,
             .session = facts.session,
             .program = ProgramOf(facts),
             .build = CleanText(plan.build, kMaxBuildBytes),
             .start_ns = Bounded(facts.start_unix_ns)};
  for (const std::string& tag : plan.tags) {
    if (!tag.empty()) run.tags.push_back(CleanText(tag, kMaxTagBytes));
  }
  std::ranges::sort(run.tags);
  run.tags.erase(std::unique(run.tags.begin(), run.tags.end()), run.tags.end());
  if (run.tags.size() > kMaxTags) run.tags.resize(kMaxTags);
  return run;
}

SiteKind KindOf(shm::ProbeSiteKind kind) {
  switch (kind) {
    case shm::kProbeNamed:
      return SiteKind::kNamed;
    case shm::kProbeAutomaticSite:
      return SiteKind::kAutomatic;
    default:
      return SiteKind::kSource;
  }
}

Site SiteFrom(const RingSite& untrusted_site) {
  return {.label = CleanText(untrusted_site.label, kMaxLabelBytes),
          .function = CleanText(untrusted_site.function, kMaxFunctionBytes),
          .file = CleanPath(untrusted_site.file, kMaxFileBytes),
          .line = untrusted_site.line,
          .kind = KindOf(untrusted_site.kind)};
}

}  // namespace

RunBatch::RunBatch(const RunFacts& facts, const PlanFacts& plan, StackNamer& namer)
    : namer_(namer), facts_(facts), run_(RunOf(facts, plan)), map_(0) {
  Begin();
}

void RunBatch::Begin() {
  batch_ = {};
  batch_.runs.push_back(run_);
  bytes_ = 0;
  event_index_.clear();
  site_index_.clear();
  frame_index_.clear();
  for (auto& index : stack_index_) index.clear();
}

Batch RunBatch::Take() {
  run_ = batch_.runs[0];
  has_news_ = false;
  Batch taken = std::move(batch_);
  Begin();
  return taken;
}

EventInfo& RunBatch::EventOf(const EventId& id) {
  const auto [found, is_new] = event_index_.try_emplace(id, batch_.events.size());
  if (is_new) {
    batch_.events.push_back({.id = id, .run = 0, .label = {}});
    bytes_ += kEventBytes;
  }
  return batch_.events[found->second];
}

std::uint32_t RunBatch::SiteOf(std::uint32_t number, const RingFile& file) {
  const auto [found, is_new] =
      site_index_.try_emplace(number, static_cast<std::uint32_t>(batch_.sites.size()));
  if (!is_new) return found->second;
  auto known = sites_.find(number);
  if (known == sites_.end()) {
    const std::optional<RingSite> untrusted_site = file.Site(number);
    // A site that is not completely written yet is named by its number and read again later.
    Site site = untrusted_site
                    ? SiteFrom(*untrusted_site)
                    : Site{.label = "point " + std::to_string(number), .function = {}, .file = {}};
    if (!untrusted_site) {
      batch_.sites.push_back(std::move(site));
      return found->second;
    }
    known = sites_.emplace(number, std::move(site)).first;
  }
  const Site& site = known->second;
  batch_.sites.push_back(site);
  bytes_ += site.label.size() + site.function.size() + site.file.size() + kMessageBytes;
  return found->second;
}

std::uint32_t RunBatch::StackOf(const RingHit& hit, const RingFile& file) {
  if (hit.registers == nullptr) return kNoStack;
  if (!std::exchange(has_map_, true)) map_ = MapOf(file);
  const NamedStack named = namer_.Name(map_, *hit.registers, hit.stack);
  std::vector<std::uint32_t> frames;
  for (const Frame& frame : named.frames) {
    const auto [found, is_new] =
        frame_index_.try_emplace(frame, static_cast<std::uint32_t>(batch_.frames.size()));
    if (is_new) {
      batch_.frames.push_back(frame);
      bytes_ += frame.function.size() + frame.module.size() + frame.file.size() + kMessageBytes;
    }
    frames.push_back(found->second);
  }
  const auto [found, is_new] = stack_index_[named.is_cut ? 1 : 0].try_emplace(
      std::move(frames), static_cast<std::uint32_t>(batch_.stacks.size()));
  if (is_new) {
    batch_.stacks.push_back({.frames = found->first, .is_cut = named.is_cut});
    bytes_ += 2 * found->first.size() + kMessageBytes;
  }
  return found->second;
}

void RunBatch::Add(const RingHit& untrusted_hit, const RingFile& file) {
  const EventId id = {untrusted_hit.event.run, untrusted_hit.event.number};
  if (id.run == 0) return;
  const std::uint64_t ns = Bounded(facts_.UnixNs(untrusted_hit.ticks));
  const std::uint32_t site = SiteOf(untrusted_hit.site, file);
  EventInfo& event = EventOf(id);
  if (untrusted_hit.kind == shm::kProbeBegin) {
    // The program's own event has the program's name.
    event.label = id.run == run_.id && id.number == 0 ? CleanText(run_.program, kMaxLabelBytes)
                                                      : batch_.sites[site].label;
    event.begin_ns = ns;
    // An end may be read before its begin, since threads are read one after the other. Clocks may
    // differ between CPUs, and programs may write wrong times.
    if (event.end_ns != 0) event.end_ns = std::max(event.end_ns, ns);
    if (event.end_ns == 0 && open_.size() < kMostOpen) open_.insert_or_assign(id, ns);
  }
  if (untrusted_hit.kind == shm::kProbeEnd) {
    event.end_ns = std::max(ns, event.begin_ns);
    open_.erase(id);
  }
  batch_.hits.push_back({.event = id,
                         .run = 0,
                         .site = site,
                         .stack = StackOf(untrusted_hit, file),
                         .kind = static_cast<HitKind>(untrusted_hit.kind),
                         .ns = ns,
                         .thread = untrusted_hit.thread,
                         .sequence = untrusted_hit.sequence,
                         .value = untrusted_hit.value,
                         .parent = untrusted_hit.parent});
  bytes_ += kHitBytes;
}

void RunBatch::MarkIncomplete(const shm::ProbeEventId& event) {
  if (event.run != 0) EventOf({event.run, event.number}).is_incomplete = true;
}

void RunBatch::MarkAllIncomplete() {
  for (const auto& [id, begin_ns] : open_) EventOf(id).is_incomplete = true;
  for (EventInfo& event : batch_.events) event.is_incomplete = true;
}

void RunBatch::MarkIncompleteBetween(std::uint64_t from_ns, std::uint64_t until_ns) {
  for (const auto& [id, begin_ns] : open_) {
    if (begin_ns <= until_ns) EventOf(id).is_incomplete = true;
  }
  for (EventInfo& event : batch_.events) {
    const bool is_over = event.end_ns != 0 && event.end_ns < from_ns;
    if (event.begin_ns <= until_ns && !is_over) event.is_incomplete = true;
  }
}

void RunBatch::MarkAllSuspended() {
  for (const auto& [id, begin_ns] : open_) EventOf(id).is_suspended = true;
  for (EventInfo& event : batch_.events) event.is_suspended = true;
}

void RunBatch::SetLost(std::uint64_t hits) {
  Run& run = batch_.runs[0];
  has_news_ = has_news_ || run.lost_hits != hits;
  run.lost_hits = hits;
}

void RunBatch::SetCpuWait(const CpuWait& wait) {
  Run& run = batch_.runs[0];
  has_news_ = has_news_ || run.observed_ns != wait.observed_ns;
  run.observed_ns = wait.observed_ns;
  run.waited_ns = std::min(wait.waited_ns, wait.observed_ns);
}

void RunBatch::SetDiskRead(std::uint64_t bytes) {
  Run& run = batch_.runs[0];
  run.disk_read_bytes = std::max(run.disk_read_bytes, bytes);
  if (run.tags.empty() && run.disk_read_bytes >= kManyReadBytes) run.tags.push_back("disk");
}

}  // namespace fieldcost::probe
