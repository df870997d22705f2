// fieldcost-probe: run by `fieldcost probe`; separate, so that only this program needs libdw.
//   fieldcost-probe record [--points FILE] [--tag TAG]... [--build NAME] [--local] [--stacks]
//                          [--runs N] [--input FILE] [--session ID] [--quiet]
//                          -- COMMAND [ARGUMENT...]
//   fieldcost-probe collect [--once] [--now]
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <string_view>

#include "agent/perf/name_frames.h"
#include "agent/perf/recorder_options.h"
#include "agent/probe/ring_wiper.h"
#include "agent/probe_recorder/record_events.h"
#include "common/base/terminal_text.h"
#include "common/base/text.h"

namespace {

using fieldcost::probe::CollectOptions;
using fieldcost::probe::RecordOptions;

constexpr std::uint64_t kMostRuns = 10'000;

int Usage() { return fieldcost::perf::RefuseCommandLine("fieldcost-probe", "fieldcost probe"); }

int Fails(const fieldcost::Error& error) {
  fieldcost::PrintRemark(error.message);
  return ExitStatus(error.code);
}

int Record(int argc, char** argv) {
  using namespace fieldcost::perf;
  RecordOptions options;
  bool quiet = false;
  const auto add_tag = [&options](const char* text) {
    options.tags.emplace_back(text);
    return true;
  };
  auto command = TakeOptions(argc, argv,
                             {TextOption("library", options.library),
                              TextOption("points", options.points),
                              {.name = "tag", .take = add_tag},
                              TextOption("build", options.build),
                              FlagOption("local", options.local),
                              FlagOption("stacks", options.stacks),
                              FlagOption("quiet", quiet),
                              TextOption("input", options.input),
                              NumberOption("session", options.session),
                              NumberOption("runs", options.runs, kMostRuns)});
  if (!command) return Usage();
  options.command = *std::move(command);
  if (options.command.empty() || options.library.empty()) return Usage();
  const auto paths = fieldcost::settings::AgentPaths::FromEnvironment();
  if (!paths) return Fails(paths.error());
  const auto recorded = fieldcost::probe::Record(*paths, options, fieldcost::SystemClock());
  if (!recorded) return Fails(recorded.error());
  if (!recorded->why_not.empty()) {
    fieldcost::PrintRemark("nothing was recorded: " + recorded->why_not);
    return recorded->status;
  }
  if (quiet) return recorded->status;
  for (const std::string& line : recorded->unreached) {
    fieldcost::PrintRemark(line);
  }
  for (const std::string& program : recorded->unmeasured) {
    fmt::print(stderr, "fieldcost: no points of {}\n", program);
  }
  fmt::print(stderr, "fieldcost: {} of {}{}{}; fieldcost probe list\n",
             fieldcost::Counted(recorded->hits, "point"),
             fieldcost::Counted(recorded->programs, "program"),
             recorded->lost == 0 ? "" : fmt::format(", {} lost", recorded->lost),
             recorded->goes_on ? ", some of which still run" : "");
  return recorded->status;
}

int Collect(int argc, char** argv) {
  using namespace fieldcost::perf;
  CollectOptions options;
  const auto rest = TakeOptions(
      argc, argv, {FlagOption("once", options.once), FlagOption("now", options.send_now)});
  if (!rest || !rest->empty()) return Usage();
  const auto paths = fieldcost::settings::AgentPaths::FromEnvironment();
  if (!paths) return Fails(paths.error());
  const auto said = fieldcost::probe::Collect(*paths, options, fieldcost::SystemClock());
  if (!said) return Fails(said.error());
  fmt::print("{}\n", fieldcost::EscapeForTerminal(*said));
  return 0;
}

// Run when the user unit ends: removes what killed recorders have left in memory.
int Wipe() {
  const auto paths = fieldcost::settings::AgentPaths::FromEnvironment();
  if (!paths) return Fails(paths.error());
  fieldcost::probe::WipeAbandonedRings(*paths);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto served = fieldcost::perf::UseNameHelpers(argc, argv)) return *served;
  if (argc < 2) return Usage();
  const std::string_view action = argv[1];
  if (action == "record") return Record(argc - 1, argv + 1);
  if (action == "collect") return Collect(argc - 1, argv + 1);
  if (action == "wipe" && argc == 2) return Wipe();
  return Usage();
}
