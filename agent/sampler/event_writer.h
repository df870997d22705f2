#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agent/sampler/sample_writer.h"
#include "agent/trace/session.h"
#include "common/base/result.h"
#include "common/tree/run_values.h"

namespace fieldcost::sampler {

// Which events are recorded beside samples.
struct EventOptions {
  std::filesystem::path library;  // libfieldcost_trace.so
  bool functions = false;         // of code built with -finstrument-functions
  bool branches = false;          // of code built with -fsanitize-coverage=trace-pc[-guard]
  std::string globs;              // "library!symbol", comma-separated: calls of these, no rebuild
  bool any() const { return functions || branches || !globs.empty(); }
};

// What trees of events have grown by, again and again, into the recording that samples go to, too.
// Each look is a sample of each path that has grown, so an interval is exact between looks. Not
// thread-safe.
class EventWriter {
 public:
  // Adds streams to the recording. REQUIRES: `recording` outlives it; options.any(). Errors of
  // recording::Writer; kUnsupported if the time stamp counter is no clock here.
  static Result<EventWriter> Make(const EventOptions& options, SampleWriter& recording);

  // Begins a run: its programs leave their trees in `directory`, which is empty and on memory. What
  // they need in their environment.
  Result<trace::Variables> BeginRun(const std::filesystem::path& directory);
  // Looks if the last look is long enough ago: kEvery, and so long that looking takes a hundredth
  // of the time at most.
  Status LookIfDue();
  // Looks once more, for the run is over.
  Status EndRun();

  // Metrics of which some program could not tell how much it was, so that the sum is unknown.
  std::vector<std::string> unmeasured() const;

  static constexpr std::chrono::milliseconds kEvery{100};

 private:
  using Program = std::pair<std::uint32_t, std::uint64_t>;  // pid and start, in ticks
  struct Sums {
    tree::RunValues events;
    tree::RunValues branches;
  };

  EventWriter(const EventOptions& options, SampleWriter& recording)
      : options_(options), recording_(&recording) {}
  void CountNotMeasured(const trace::Arena& arena);
  Status Look();
  Status Take(const trace::Arena& arena, std::uint64_t time_ns);
  // Of a program with one thread this one; else none, as its tree is that of all its threads.
  Result<recording::ThreadId> ThreadOf(const trace::Arena& arena);
  Status Append(recording::StreamId stream, std::uint64_t time_ns, recording::ThreadId thread,
                const tree::RunValues& before, const tree::RunValues& now);
  void Count(const trace::Arena& arena);

  EventOptions options_;
  SampleWriter* recording_;
  recording::StreamId events_;
  recording::StreamId branches_;
  std::uint64_t multiplier_ = 0;
  std::filesystem::path directory_;
  std::map<Program, Sums> sums_;  // of this run, of those that still ran at the last look
  std::map<Program, recording::ThreadId> threads_;  // of this run, of those with one
  std::vector<bool> lacking_;                       // [column of EventMetrics()]
  std::map<std::string, std::uint64_t> counts_;
  std::set<std::string> not_measured_;  // names among these, of APIs and reasons
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace fieldcost::sampler
