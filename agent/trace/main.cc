// fieldcost-trace: run by `fieldcost trace`; separate, so that only this program needs libdw.
//   fieldcost-trace --output FILE --period NS [--quiet] [--runs N] [--input FILE]
//                   [--library FILE [--functions] [--branches] [--apis GLOBS]
//                   [--function-pointers]] [--counters LIST [--counters-reported]]
//                   -- COMMAND [ARGUMENT...]
//   fieldcost-trace --output FILE --period NS [--counters LIST] --pid PID [--for NS]
// --counters-reported: an earlier run has reported which counters are not measured.
// --unnamed, for benchmarks: does not look up names.
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

#include "agent/perf/name_frames.h"
#include "agent/perf/recorder_options.h"
#include "agent/reach/imports.h"
#include "agent/reach/reach.h"
#include "agent/trace/counter_check.h"
#include "agent/trace/trace.h"
#include "common/base/terminal_text.h"
#include "common/base/text.h"

namespace {

using fieldcost::trace::TraceOptions;

struct Asked {
  TraceOptions options;  // with the requested counters
  bool counters_reported = false;
};

bool TakeCounters(const char* text, TraceOptions& options) {
  auto counters = fieldcost::perf::ParseCounters(text);
  if (!counters) return false;
  options.counters = *std::move(counters);
  return true;
}

// Returns nullopt if this is not a command line of `fieldcost trace`.
std::optional<Asked> OptionsOf(int argc, char** argv) {
  using namespace fieldcost;
  using namespace fieldcost::trace;
  Asked asked;
  TraceOptions& options = asked.options;
  EventOptions& events = options.events;
  auto command = perf::TakeOptions(
      argc, argv,
      {perf::TextOption("output", options.output),
       perf::NumberOption("period", options.period_ns),
       perf::NumberOption("runs", options.runs),
       perf::TextOption("input", options.input),
       perf::NumberOption("pid", options.pid),
       perf::NumberOption("for", options.for_ns),
       perf::FlagOption("quiet", options.quiet),
       perf::FlagOption("unnamed", options.unnamed),
       perf::TextOption("library", events.library),
       perf::FlagOption("functions", events.functions),
       perf::FlagOption("branches", events.branches),
       perf::TextOption("apis", events.globs),
       perf::FlagOption("function-pointers", events.function_pointers),
       {.name = "counters", .take = [&](const char* text) { return TakeCounters(text, options); }},
       perf::FlagOption("counters-reported", asked.counters_reported)});
  if (!command) return std::nullopt;
  options.command = *std::move(command);
  if (options.output.empty() || options.period_ns == 0) return std::nullopt;
  if (options.command.empty() == (options.pid == 0)) return std::nullopt;
  if (events.any() == events.library.empty()) return std::nullopt;
  return asked;
}

// Keeps the counters that can be measured, and reports why the others cannot.
void KeepMeasured(Asked& asked) {
  TraceOptions& options = asked.options;
  const auto checks = fieldcost::trace::CheckCounters(options.counters, options.period_ns);
  options.counters.clear();
  for (const fieldcost::trace::CounterCheck& check : checks) {
    if (check.status) {
      options.counters.push_back(check.counter);
    } else if (!asked.counters_reported) {
      fieldcost::PrintRemark(
          fmt::format("{}: not measured: {}", Name(check.counter), check.status.error().message));
    }
  }
}

// Reports why requested functions have no events.
void SayUncalled(const TraceOptions& options, const std::vector<std::string>& globs) {
  if (globs.empty()) return;
  const std::string& program = options.command[0];
  const auto explained = fieldcost::reach::ExplainProgram(fieldcost::reach::FindProgram(program));
  // Already reported before the run.
  if (explained && explained->reach == fieldcost::reach::Reach::kStatic) return;
  const auto imports = fieldcost::reach::ImportsOfProgram(program);
  for (const std::string& glob : globs) {
    std::string why = fieldcost::reach::WhyNotMeasured(program, imports, glob);
    if (why.empty()) why = "not called from the program or another library that can be measured";
    fmt::print(stderr, "fieldcost: {}: {}\n", fieldcost::EscapeControl(glob),
               fieldcost::EscapeControl(why));
  }
}

// Prints how the program must be run so that its functions have names.
void PrintNamingHints(const fieldcost::perf::NamedSamples& named) {
  constexpr std::uint64_t kLeastPercent = 1;
  const std::uint64_t percent = named.samples == 0 ? 0 : 100 * named.generated / named.samples;
  if (percent >= kLeastPercent) {
    fmt::print(stderr,
               "fieldcost: {} % in code made at run time, which has no names; names with node "
               "--perf-basic-prof (Python 3.12 or later: -X perf)\n",
               percent);
  }
  if (named.has_unnamed_python) {
    fmt::print(stderr,
               "fieldcost: functions of Python have no names here: Python 3.12 or later names them "
               "with -X perf, earlier versions never do\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fieldcost;
  if (const auto served = perf::UseNameHelpers(argc, argv)) return *served;
  auto asked = OptionsOf(argc, argv);
  if (!asked) return perf::RefuseCommandLine("fieldcost-trace", "fieldcost trace");
  KeepMeasured(*asked);
  const TraceOptions& options = asked->options;
  const auto result = trace::Trace(options);
  if (!result) {
    PrintRemark(result.error().message);
    return ExitStatus(result.error().code);
  }
  if (!result->why_no_samples.empty()) {
    PrintRemark("events alone, no samples: " + result->why_no_samples);
  }
  if (options.quiet) return result->status;
  SayUncalled(options, result->uncalled);
  for (const std::string& program : result->without_events) {
    fmt::print(stderr, "fieldcost: no events of {}\n", program);
  }
  PrintNamingHints(result->named);
  constexpr double kMs = 1e6;
  fmt::print(stderr, "fieldcost: {}, {}, {} cut, {} lost; {:.0f} ms to take; in {}\n",
             Counted(result->runs, "run"), Counted(result->samples, "sample"), result->cut,
             result->lost, static_cast<double>(result->reader_ns) / kMs,
             EscapeControl(options.output.string()));
  return result->status;
}
