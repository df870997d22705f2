#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/events/event_session.h"
#include "agent/events/event_tree.h"
#include "agent/trace/sample_writer.h"
#include "agent/trace/thread_list.h"
#include "common/base/result.h"
#include "common/tree/tree_dictionary.h"

namespace fieldcost::trace {

// Which events are recorded in addition to samples.
struct EventOptions {
  std::filesystem::path library;  // libfieldcost_events.so
  bool functions = false;         // in code built with -finstrument-functions
  bool branches = false;          // in code built with -fsanitize-coverage=trace-pc[-guard]
  std::string globs;  // "library!symbol", comma-separated: calls of these; needs no rebuild
  bool function_pointers = false;  // patches all data slots as well, which changes &function
  bool any() const { return functions || branches || !globs.empty(); }
};

// Periodically writes the growth of event trees to the recording that also has the samples. Each
// reading of the trees adds one sample per path that has grown, so sums over intervals between
// readings are exact. Not thread-safe.
class EventWriter {
 public:
  // Adds streams to the recording. Returns the errors of recording::Writer; kUnsupported if the
  // time stamp counter is not a usable clock here. REQUIRES: `recording` outlives this;
  // options.any().
  static Result<EventWriter> Make(const EventOptions& options, SampleWriter& recording);

  // Begins a run whose programs write their trees to `directory`, which is empty and in memory.
  // Returns the environment variables that they need.
  Result<events::Variables> BeginRun(const std::filesystem::path& directory);
  // Sets the threads of this run's samples. Without them, threads have their program's name.
  // REQUIRES: `threads` outlives the run.
  void SetThreads(ThreadList& threads) { listed_ = &threads; }
  // Reads the trees if the previous reading is at least kEvery ago, and long enough that readings
  // take at most 1 % of the time.
  Status LookIfDue();
  // Reads the trees a last time, after the run has ended.
  Status EndRun();

  // Returns metrics that some program could not measure, so that their sum is unknown.
  std::vector<std::string> unmeasured() const;

  // Returns the options' globs that have matched no called function so far, except globs of mangled
  // names, since these are alternatives for one C++ name.
  std::vector<std::string> uncalled() const;

  static constexpr std::chrono::milliseconds kEvery{100};

 private:
  using Program = std::pair<std::uint32_t, std::uint64_t>;  // pid and start, in ticks
  // By thread slot and path; metrics that a path lacks are 0.
  using Values = std::array<std::uint64_t, events::kEventMetrics>;
  using Sums = std::map<std::pair<std::uint16_t, tree::PathId>, Values>;
  struct Slot {
    std::uint32_t threads_before = 0;  // as of the last reading
    std::uint32_t tid = 0;
    recording::ThreadId thread = recording::kNoThread;
    bool is_one = false;  // everything added since the last reading belongs to one thread
  };
  struct Known {
    Sums events;
    Sums branches;
    std::map<std::uint16_t, Slot> slots;
  };

  EventWriter(const EventOptions& options, SampleWriter& recording)
      : options_(options), recording_(&recording) {}
  void CountNotMeasured(const events::Arena& arena);
  Status Look();
  Status Take(const events::Arena& arena, std::uint64_t time_ns);
  // Finds the thread of each slot.
  Status TakeThreads(const events::Arena& arena, Known& known);
  Result<recording::ThreadId> ThreadOf(const events::Arena& arena, std::uint32_t tid);
  // Appends the growth of the sums. REQUIRES: every sum of `now` is at least that of `before`.
  Status Append(recording::StreamId stream, std::uint64_t time_ns, const Known& known,
                const Sums& before, const Sums& now);
  void Count(const events::Arena& arena);
  void NoteCalled(const events::Arena& arena);

  EventOptions options_;
  SampleWriter* recording_;
  recording::StreamId events_;
  recording::StreamId branches_;
  std::uint64_t multiplier_ = 0;
  std::filesystem::path directory_;
  std::map<Program, Known> known_;  // programs of this run that were running at the last reading
  std::set<Program> programs_;      // of this run
  ThreadList* listed_ = nullptr;
  std::vector<bool> lacking_;  // [column of EventMetrics()]
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> not_measured_;  // names of counts for APIs and reasons
  std::set<std::string> called_;        // "library!symbol", of all runs
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace fieldcost::trace
