// fieldcost-probe: what `fieldcost probe` runs, so that libdw is in no other program.
//   fieldcost-probe record [--points FILE] [--tag TAG]... [--build NAME] [--local] [--stacks]
//   [--runs N]
//                          -- COMMAND [ARGUMENT...]
//   fieldcost-probe collect [--once] [--now]
#include <fmt/format.h>
#include <getopt.h>

#include <cstdio>
#include <optional>
#include <string_view>

#include "agent/probe_recorder/record.h"
#include "common/base/text.h"

namespace {

using fieldcost::probe::CollectOptions;
using fieldcost::probe::RecordOptions;

constexpr int kUsage = 64;
enum Letter { kLibrary = 1, kPoints, kTag, kBuild, kLocal, kStacks, kRuns, kOnce, kNow };

int Usage() {
  fmt::print(stderr, "fieldcost-probe: it is run by fieldcost probe\n");
  return kUsage;
}

int Fails(const fieldcost::Error& error) {
  fmt::print(stderr, "fieldcost: {}\n", error.message);
  return ExitStatus(error.code);
}

bool TakeRuns(std::string_view text, RecordOptions& options) {
  const auto number = fieldcost::ParseUint64(text);
  options.runs = static_cast<std::uint32_t>(number.value_or(0));
  return number && *number > 0 && *number <= 10'000;
}

bool TakeOption(int letter, const char* text, RecordOptions& options) {
  switch (letter) {
    case kLibrary:
      options.library = text;
      return true;
    case kPoints:
      options.points = text;
      return true;
    case kTag:
      options.tags.emplace_back(text);
      return true;
    case kBuild:
      options.build = text;
      return true;
    case kLocal:
      return options.local = true;
    case kStacks:
      return options.stacks = true;
    case kRuns:
      return TakeRuns(text, options);
    default:
      return false;
  }
}

int Record(int argc, char** argv) {
  const option known[] = {{"library", required_argument, nullptr, kLibrary},
                          {"points", required_argument, nullptr, kPoints},
                          {"tag", required_argument, nullptr, kTag},
                          {"build", required_argument, nullptr, kBuild},
                          {"local", no_argument, nullptr, kLocal},
                          {"stacks", no_argument, nullptr, kStacks},
                          {"runs", required_argument, nullptr, kRuns},
                          {}};
  RecordOptions options;
  // "+": the command's own options are not looked at.
  for (int letter = 0; (letter = ::getopt_long(argc, argv, "+", known, nullptr)) != -1;) {
    if (!TakeOption(letter, ::optarg, options)) return Usage();
  }
  options.command.assign(argv + ::optind, argv + argc);
  if (options.command.empty() || options.library.empty()) return Usage();
  const auto paths = fieldcost::agent::AgentPaths::FromEnvironment();
  if (!paths) return Fails(paths.error());
  const auto recorded = fieldcost::probe::Record(*paths, options, fieldcost::SystemClock());
  if (!recorded) return Fails(recorded.error());
  fmt::print(stderr, "fieldcost: {} of {}{}{}; fieldcost probe list\n",
             fieldcost::Counted(recorded->hits, "point"),
             fieldcost::Counted(recorded->programs, "program"),
             recorded->dropped == 0 ? "" : fmt::format(", {} dropped", recorded->dropped),
             recorded->goes_on ? ", some of which still run" : "");
  return recorded->status;
}

int Collect(int argc, char** argv) {
  const option known[] = {
      {"once", no_argument, nullptr, kOnce}, {"now", no_argument, nullptr, kNow}, {}};
  CollectOptions options;
  for (int letter = 0; (letter = ::getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    if (letter != kOnce && letter != kNow) return Usage();
    (letter == kOnce ? options.once : options.send_now) = true;
  }
  const auto paths = fieldcost::agent::AgentPaths::FromEnvironment();
  if (!paths) return Fails(paths.error());
  const auto said = fieldcost::probe::Collect(*paths, options, fieldcost::SystemClock());
  if (!said) return Fails(said.error());
  fmt::print("{}\n", *said);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  ::opterr = 0;
  if (argc < 2) return Usage();
  const std::string_view action = argv[1];
  if (action == "record") return Record(argc - 1, argv + 1);
  if (action == "collect") return Collect(argc - 1, argv + 1);
  return Usage();
}
