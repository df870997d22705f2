#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "agent/perf/counter.h"
#include "agent/perf/name_frames.h"
#include "agent/trace/event_writer.h"
#include "common/base/result.h"

namespace fieldcost::trace {

struct TraceOptions {
  std::filesystem::path output;  // a recording; an existing one is replaced
  std::uint64_t period_ns = 0;   // of CPU time between two samples
  std::uint32_t runs = 1;
  std::vector<std::string> command;     // [0] is looked up in PATH
  std::filesystem::path input;          // standard input of each run; empty: inherited
  pid_t pid = 0;                        // if not 0, traces this running process, not a command
  std::uint64_t for_ns = 0;             // wall-clock time limit with a pid; 0: until it ends
  bool quiet = false;                   // suppresses the summary at the end
  bool unnamed = false;                 // does not look up names
  std::vector<perf::Counter> counters;  // those that pass CheckCounters(), each once
  EventOptions events;                  // with a command: recorded in addition to samples
};

struct TraceResult {
  int status = 0;  // of the first run that failed, in the shell's convention (128 + signal), else 0
  std::uint32_t runs = 0;
  std::uint64_t samples = 0;
  std::uint64_t cut = 0;
  std::uint64_t lost = 0;
  perf::NamedSamples named;              // empty if names are not looked up
  std::vector<std::string> uncalled;     // globs that matched no called function
  std::set<std::string> without_events;  // programs (escaped) without events, and why
  std::string why_no_samples;            // if there are only events; else empty
  std::uint64_t reader_ns = 0;           // this process's CPU time until names are looked up
};

// Runs the command `runs` times, one run after the other, and records the stacks at which it and
// its descendants spend CPU time and wait. The first failing run or a signal ends the recording,
// which is then valid. With a pid, records that process until it ends, a signal arrives or the time
// is up; the process itself is not affected. SIGINT, SIGTERM and SIGHUP are handled for the whole
// process from then on. REQUIRES: the process has one thread. Returns kNotFound if there is no such
// program, the errors of Sampler unless events can be recorded without it, and those of
// recording::Writer.
Result<TraceResult> Trace(const TraceOptions& options);

}  // namespace fieldcost::trace
