// CheckBatch(): which contents of a batch of probe points are valid.
#include <algorithm>
#include <set>

#include "common/base/clean_text.h"
#include "common/probe/event_batch.h"
#include "common/probe/probe_limits.h"

namespace fieldcost::probe {
namespace {

Error Refuse(const char* what, std::size_t index, const char* why) {
  return Fail(ErrorCode::kInvalidArgument, "batch of probe points: {} {}: {}", what, index, why);
}

bool IsTime(std::uint64_t ns) { return ns >= kLeastNs && ns < kMostNs; }
bool IsTimeOrNone(std::uint64_t ns) { return ns == 0 || IsTime(ns); }

Status CheckCounts(const Batch& batch) {
  if (batch.sequence == 0) {
    return Fail(ErrorCode::kInvalidArgument, "batch of probe points: its sequence number is 0");
  }
  if (batch.runs.size() > kMaxRuns || batch.sites.size() > kMaxSites ||
      batch.frames.size() > kMaxFrames || batch.stacks.size() > kMaxStacks ||
      batch.events.size() > kMaxEvents || batch.hits.size() > kMaxHits) {
    return Fail(ErrorCode::kTooLarge, "the batch has more entries than are allowed");
  }
  return {};
}

Status CheckRuns(const Batch& batch) {
  std::set<std::uint64_t> ids;
  for (std::size_t i = 0; i < batch.runs.size(); ++i) {
    const Run& run = batch.runs[i];
    if (run.id == 0 || run.session == 0) return Refuse("run", i, "its id or session is 0");
    if (!ids.insert(run.id).second) return Refuse("run", i, "it occurs twice");
    if (run.program.empty() || !IsText(run.program, kMaxProgramBytes) ||
        !IsText(run.build, kMaxBuildBytes)) {
      return Refuse("run", i, "the name of its program or build is not allowed");
    }
    if (!IsTime(run.start_ns)) return Refuse("run", i, "its start is out of range");
    if (run.waited_ns > run.observed_ns) {
      return Refuse("run", i, "it waited longer than it was observed");
    }
    if (run.tags.size() > kMaxTags) return Refuse("run", i, "it has too many tags");
    for (const std::string& tag : run.tags) {
      if (tag.empty() || !IsText(tag, kMaxTagBytes))
        return Refuse("run", i, "a tag is not allowed");
    }
    if (!std::is_sorted(run.tags.begin(), run.tags.end()) ||
        std::adjacent_find(run.tags.begin(), run.tags.end()) != run.tags.end()) {
      return Refuse("run", i, "its tags are not sorted, or one is there twice");
    }
  }
  return {};
}

Status CheckPlaces(const Batch& batch) {
  for (std::size_t i = 0; i < batch.sites.size(); ++i) {
    const Site& site = batch.sites[i];
    if (site.label.empty() || !IsText(site.label, kMaxLabelBytes)) {
      return Refuse("site", i, "its label is not allowed");
    }
    if (!IsText(site.function, kMaxFunctionBytes) || !IsText(site.file, kMaxFileBytes)) {
      return Refuse("site", i, "its function or file is not allowed");
    }
    if (site.kind > SiteKind::kAutomatic) return Refuse("site", i, "its kind is not known");
  }
  for (std::size_t i = 0; i < batch.frames.size(); ++i) {
    const Frame& frame = batch.frames[i];
    if (!IsText(frame.function, kMaxFunctionBytes) || !IsText(frame.module, kMaxProgramBytes) ||
        !IsText(frame.file, kMaxFileBytes)) {
      return Refuse("frame", i, "its function, module or file is not allowed");
    }
  }
  for (std::size_t i = 0; i < batch.stacks.size(); ++i) {
    const std::vector<std::uint32_t>& frames = batch.stacks[i].frames;
    if (frames.size() > kMaxStackFrames) return Refuse("stack", i, "it is too deep");
    for (const std::uint32_t frame : frames) {
      if (frame >= batch.frames.size())
        return Refuse("stack", i, "it has a frame that is not in the batch");
    }
  }
  return {};
}

Status CheckEvents(const Batch& batch, std::set<EventId>& ids) {
  for (std::size_t i = 0; i < batch.events.size(); ++i) {
    const EventInfo& event = batch.events[i];
    if (event.id.run == 0) return Refuse("event", i, "its run is 0");
    if (!ids.insert(event.id).second) return Refuse("event", i, "it occurs twice");
    if (event.run >= batch.runs.size()) return Refuse("event", i, "its run is not in the batch");
    if (!IsText(event.label, kMaxLabelBytes)) return Refuse("event", i, "its label is not allowed");
    if (!IsTimeOrNone(event.begin_ns) || !IsTimeOrNone(event.end_ns)) {
      return Refuse("event", i, "its times are out of range");
    }
    if (event.begin_ns != 0 && event.label.empty())
      return Refuse("event", i, "it has a beginning and no label");
    if (event.end_ns != 0 && event.end_ns < event.begin_ns) {
      return Refuse("event", i, "it ends before it begins");
    }
  }
  return {};
}

Status CheckHits(const Batch& batch, const std::set<EventId>& events) {
  for (std::size_t i = 0; i < batch.hits.size(); ++i) {
    const Hit& hit = batch.hits[i];
    if (!events.contains(hit.event)) return Refuse("hit", i, "its event is not in the batch");
    if (hit.run >= batch.runs.size() || hit.site >= batch.sites.size() ||
        (hit.stack != kNoStack && hit.stack >= batch.stacks.size())) {
      return Refuse("hit", i, "its run, site or stack is not in the batch");
    }
    if (hit.kind < HitKind::kPoint || hit.kind > HitKind::kJoin) {
      return Refuse("hit", i, "its kind is not known");
    }
    if (!IsTime(hit.ns)) return Refuse("hit", i, "its time is out of range");
  }
  return {};
}

}  // namespace

Status CheckBatch(const Batch& untrusted_batch) {
  FIELDCOST_TRY(CheckCounts(untrusted_batch));
  FIELDCOST_TRY(CheckRuns(untrusted_batch));
  FIELDCOST_TRY(CheckPlaces(untrusted_batch));
  std::set<EventId> events;
  FIELDCOST_TRY(CheckEvents(untrusted_batch, events));
  return CheckHits(untrusted_batch, events);
}

}  // namespace fieldcost::probe
