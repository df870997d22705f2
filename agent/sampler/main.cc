// fieldcost-trace: what `fieldcost trace` runs, so that libdw is in no other program.
//   fieldcost-trace --output FILE --period NS [--quiet] [--runs N] [--library FILE [--functions]
//                   [--branches] [--apis GLOBS]] [--counters LIST [--told]]
//                   -- COMMAND [ARGUMENT...]
//   fieldcost-trace --output FILE --period NS [--counters LIST] --pid PID [--for NS]
// (--told: what is not measured was said in a run before)
// and --unnamed, for benchmarks: names are not looked up.
#include <fmt/format.h>
#include <getopt.h>

#include <cstdio>
#include <limits>
#include <optional>
#include <string>

#include "agent/sampler/counter_check.h"
#include "agent/sampler/trace.h"
#include "common/base/text.h"

namespace {

using fieldcost::sampler::TraceOptions;

enum Letter {
  kOutput = 1,
  kPeriod,
  kRuns,
  kPid,
  kFor,
  kLibrary,
  kFunctions,
  kBranches,
  kApis,
  kCounters,
  kTold,
  kQuiet,
  kUnnamed
};

struct Asked {
  TraceOptions options;  // counters as they were asked for
  bool told = false;
};

bool TakeNumber(const char* text, std::uint64_t most, std::uint64_t& number) {
  const auto parsed = fieldcost::ParseUint64(text);
  number = parsed.value_or(0);
  return number > 0 && number <= most;
}

bool TakeCounters(const char* text, TraceOptions& options) {
  auto counters = fieldcost::sampler::ParseCounters(text);
  if (counters) options.counters = *std::move(counters);
  return counters.has_value();
}

bool TakeOption(int letter, const char* text, Asked& asked) {
  TraceOptions& options = asked.options;
  std::uint64_t number = 0;
  switch (letter) {
    case kOutput:
      options.output = text;
      return true;
    case kPeriod:
      return TakeNumber(text, UINT64_MAX, options.period_ns);
    case kRuns:
      if (!TakeNumber(text, UINT32_MAX, number)) return false;
      options.runs = static_cast<std::uint32_t>(number);
      return true;
    case kPid:
      if (!TakeNumber(text, std::numeric_limits<pid_t>::max(), number)) return false;
      options.pid = static_cast<pid_t>(number);
      return true;
    case kUnnamed:
      options.unnamed = true;
      return true;
    case kFor:
      return TakeNumber(text, UINT64_MAX, options.for_ns);
    case kQuiet:
      return options.quiet = true;
    case kLibrary:
      options.events.library = text;
      return true;
    case kFunctions:
      return options.events.functions = true;
    case kBranches:
      return options.events.branches = true;
    case kCounters:
      return TakeCounters(text, options);
    case kTold:
      return asked.told = true;
    case kApis:
      options.events.globs = text;
      return true;
    default:
      return false;
  }
}

// nullopt: it is not what `fieldcost trace` says.
std::optional<Asked> OptionsOf(int argc, char** argv) {
  const option known[] = {{"output", required_argument, nullptr, kOutput},
                          {"period", required_argument, nullptr, kPeriod},
                          {"runs", required_argument, nullptr, kRuns},
                          {"pid", required_argument, nullptr, kPid},
                          {"for", required_argument, nullptr, kFor},
                          {"quiet", no_argument, nullptr, kQuiet},
                          {"unnamed", no_argument, nullptr, kUnnamed},
                          {"library", required_argument, nullptr, kLibrary},
                          {"functions", no_argument, nullptr, kFunctions},
                          {"branches", no_argument, nullptr, kBranches},
                          {"apis", required_argument, nullptr, kApis},
                          {"counters", required_argument, nullptr, kCounters},
                          {"told", no_argument, nullptr, kTold},
                          {}};
  Asked asked;
  ::opterr = 0;
  // "+": the command's own options are not looked at.
  for (int letter = 0; (letter = ::getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
    if (!TakeOption(letter, ::optarg, asked)) return std::nullopt;
  }
  TraceOptions& options = asked.options;
  options.command.assign(argv + ::optind, argv + argc);
  if (options.output.empty() || options.period_ns == 0) return std::nullopt;
  if (options.command.empty() == (options.pid == 0)) return std::nullopt;
  if (options.events.any() == options.events.library.empty()) return std::nullopt;
  return asked;
}

// Leaves those that can be measured, and says why others cannot.
void KeepMeasured(Asked& asked) {
  TraceOptions& options = asked.options;
  const auto checks = fieldcost::sampler::CheckCounters(options.counters, options.period_ns);
  options.counters.clear();
  for (const fieldcost::sampler::CounterCheck& check : checks) {
    if (check.why_not.empty()) {
      options.counters.push_back(check.counter);
    } else if (!asked.told) {
      fmt::print(stderr, "fieldcost: {}: not measured: {}\n", Name(check.counter), check.why_not);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace fieldcost;
  constexpr int kUsage = 64;
  auto asked = OptionsOf(argc, argv);
  if (!asked) {
    fmt::print(stderr, "fieldcost-trace: it is run by fieldcost trace\n");
    return kUsage;
  }
  KeepMeasured(*asked);
  const TraceOptions& options = asked->options;
  const auto result = sampler::Trace(options);
  if (!result) {
    fmt::print(stderr, "fieldcost: {}\n", result.error().message);
    return ExitStatus(result.error().code);
  }
  if (!result->why_no_samples.empty()) {
    fmt::print(stderr, "fieldcost: events alone, no samples: {}\n", result->why_no_samples);
  }
  if (options.quiet) return result->status;
  constexpr double kMs = 1e6;
  fmt::print(stderr, "fieldcost: {}, {}, {} cut, {} lost; {:.0f} ms to take; in {}\n",
             Counted(result->runs, "run"), Counted(result->samples, "sample"), result->cut,
             result->lost, static_cast<double>(result->reader_ns) / kMs,
             EscapeControl(options.output.string()));
  return result->status;
}
