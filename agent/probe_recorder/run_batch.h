#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "agent/probe/probe_plan.h"
#include "agent/probe/ring_reader.h"
#include "agent/probe_recorder/stack_namer.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// Turns one program's hits into batches as they arrive. Not thread-safe.
class RunBatch {
 public:
  // REQUIRES: `namer` outlives this.
  RunBatch(const RunFacts& facts, const PlanFacts& plan, StackNamer& namer);

  // Causes the mappings to be read again before the next stack is named.
  void ForgetMap() { has_map_ = false; }
  void Add(const RingHit& untrusted_hit, const RingFile& file);

  // Adds an event that began before this object was created and has not ended.
  void Remember(const EventId& id, std::uint64_t begin_ns) { open_.emplace(id, begin_ns); }

  // Marks events as having lost hits: one; all that have been open since the last batch; or those
  // that were open at any time in the interval.
  void MarkIncomplete(const shm::ProbeEventId& event);
  void MarkAllIncomplete();
  void MarkIncompleteBetween(std::uint64_t from_ns, std::uint64_t until_ns);
  // Marks all events that have been open since the last batch: the machine has slept.
  void MarkAllSuspended();
  void SetDiskRead(std::uint64_t bytes);
  void SetLost(std::uint64_t hits);
  struct CpuWait {
    std::uint64_t waited_ns = 0;
    std::uint64_t observed_ns = 0;  // not 0
  };
  void SetCpuWait(const CpuWait& wait);
  // Whether facts about the run have changed since the last batch.
  bool has_news() const { return has_news_; }

  // The approximate size of the encoded batch.
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return batch_.hits.empty() && batch_.events.empty(); }
  const Batch& batch() const { return batch_; }
  // Returns the batch and starts an empty one. Open events are remembered.
  Batch Take();

 private:
  EventInfo& EventOf(const EventId& id);
  std::uint32_t SiteOf(std::uint32_t number, const RingFile& file);
  std::uint32_t StackOf(const RingHit& hit, const RingFile& file);
  void Begin();

  StackNamer& namer_;
  const RunFacts facts_;  // as of the beginning
  Run run_;
  unwind::ModuleMap map_;
  bool has_map_ = false;
  bool has_news_ = false;
  Batch batch_;
  std::size_t bytes_ = 0;
  std::map<EventId, std::size_t> event_index_;         // in batch_
  std::map<std::uint32_t, std::uint32_t> site_index_;  // by the program's number
  std::map<std::uint32_t, Site> sites_;                // by the same number; never cleared
  std::map<Frame, std::uint32_t> frame_index_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> stack_index_[2];  // whole, cut
  // Begin times of events whose end has not been seen.
  std::map<EventId, std::uint64_t> open_;
};

}  // namespace fieldcost::probe
