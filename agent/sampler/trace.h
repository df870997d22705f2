#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "agent/sampler/counter.h"
#include "agent/sampler/event_writer.h"
#include "agent/sampler/name_frames.h"
#include "common/base/result.h"

namespace fieldcost::sampler {

struct TraceOptions {
  std::filesystem::path output;  // a recording; one that is there is replaced
  std::uint64_t period_ns = 0;   // of CPU time between two samples
  std::uint32_t runs = 1;
  std::vector<std::string> command;  // [0] is looked up in PATH
  std::filesystem::path input;       // its standard input in each run; empty: ours
  pid_t pid = 0;                     // not 0: this process, which runs already, and no command
  std::uint64_t for_ns = 0;          // of wall-clock time, with a pid; 0: until it ends
  bool quiet = false;                // for who calls this: nothing is said at the end
  bool unnamed = false;              // names are not looked up
  std::vector<Counter> counters;     // those that pass CheckCounters(), each once
  EventOptions events;               // of a command: recorded beside samples
};

struct TraceResult {
  int status = 0;  // of the first run that failed, as a shell shows it (128 + signal), else 0
  std::uint32_t runs = 0;
  std::uint64_t samples = 0;
  std::uint64_t cut = 0;
  std::uint64_t lost = 0;
  NamedSamples named;                    // empty if names are not looked up
  std::vector<std::string> uncalled;     // globs that matched no called function
  std::set<std::string> without_events;  // programs, escaped, that it started, and why
  std::string why_no_samples;            // where there are events alone; else empty
  std::uint64_t reader_ns = 0;           // this process's CPU time until names are looked up
};

// Runs the command so often, one run after the other, and records the stacks on which it and what
// it starts spend CPU time and wait. The first run that fails, or a signal, ends it: what was
// recorded until then is good. With a pid: that process, until it ends, or a signal, or for the
// time given; it is left as it is. SIGINT, SIGTERM and SIGHUP are handled for the whole process
// from then on. REQUIRES: one thread. kNotFound: no such program; errors of Sampler,
// without which there may be events, and of recording::Writer.
Result<TraceResult> Trace(const TraceOptions& options);

}  // namespace fieldcost::sampler
