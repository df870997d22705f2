// bench_aggregator COMMAND [--name value]...: see aggregator_bench.h; bench_aggregator.py calls it.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "common/base/clock.h"
#include "common/base/text.h"
#include "tests/bench/aggregator_bench.h"

namespace {

using namespace fieldcost;         // NOLINT: a program's main file
using namespace fieldcost::bench;  // NOLINT

using Arguments = std::map<std::string, std::string>;

std::uint64_t Number(const Arguments& arguments, const std::string& name, std::uint64_t fallback) {
  const auto place = arguments.find(name);
  return place == arguments.end() ? fallback : ParseUint64(place->second).value_or(fallback);
}

std::string Text(const Arguments& arguments, const std::string& name) {
  const auto place = arguments.find(name);
  return place == arguments.end() ? "" : place->second;
}

Status Make(const Arguments& arguments) {
  const TrafficOptions defaults;
  const auto batches = MakeTraffic(
      {.seed = Number(arguments, "--seed", defaults.seed),
       .keys = Number(arguments, "--keys", defaults.keys),
       .classes = Number(arguments, "--classes", defaults.classes),
       .agents = Number(arguments, "--agents", defaults.agents),
       .batches_per_agent = Number(arguments, "--batches-per-agent", defaults.batches_per_agent),
       .week = WeekOf(SystemClock().Now())});
  FIELDCOST_TRY(WriteTraffic(Text(arguments, "--traffic"), batches));
  fmt::print("{{\"batches\":{}}}\n", batches.size());
  return {};
}

Status Run(const std::string& command, const Arguments& arguments) {
  if (command == "make") return Make(arguments);
  const Path directory = Text(arguments, "--directory");
  if (command == "sync") {
    return RunSync(directory, static_cast<unsigned>(Number(arguments, "--count", 500)));
  }
  if (command == "fill") {
    return FillStore(directory, Number(arguments, "--rows", 1'000'000),
                     WeekOf(SystemClock().Now()));
  }
  if (command == "scan") return ScanStore(directory);

  if (command == "accept") {
    const AcceptOptions defaults;
    return RunAccept(directory,
                     {.batches_a_second = static_cast<double>(Number(arguments, "--rate", 50)),
                      .seconds = static_cast<double>(Number(arguments, "--seconds", 10)),
                      .keys = Number(arguments, "--keys", defaults.keys)},
                     WeekOf(SystemClock().Now()));
  }

  const std::size_t skip = Number(arguments, "--skip", 0);
  const std::size_t count = Number(arguments, "--batches", 1'000'000);
  FIELDCOST_ASSIGN(const auto all, ReadTraffic(Text(arguments, "--traffic"), skip + count));
  if (all.size() <= skip) return Fail(ErrorCode::kInvalidArgument, "no batches are left");
  const std::span<const SentBatch> batches = std::span(all).subspan(skip);
  if (command == "floor") return RunFloor(batches);
  if (command == "merge") {
    return RunMerge(batches, directory, static_cast<double>(Number(arguments, "--seconds", 20)));
  }
  if (command == "format") {
    return WritePeerFile(batches, Text(arguments, "--peer"), Text(arguments, "--out"));
  }
  if (command == "send") {
    return RunSend(
        batches,
        {.url = Text(arguments, "--url"),
         .ca_file = Text(arguments, "--ca"),
         .root_file = Text(arguments, "--root"),
         .connections = static_cast<unsigned>(Number(arguments, "--connections", 32)),
         .batches_a_second = static_cast<double>(Number(arguments, "--millibatches", 0)) / 1e3,
         .fresh = Number(arguments, "--fresh", 0) != 0});
  }
  return Fail(ErrorCode::kInvalidArgument, "no command called {}", command);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 2; i + 1 < argc; i += 2) arguments[argv[i]] = argv[i + 1];
  const Status status = Run(argc > 1 ? argv[1] : "", arguments);
  std::fflush(stdout);
  if (status) return 0;
  fmt::print(stderr, "bench_aggregator: {}\n", status.error().message);
  return ExitStatus(status.error().code);
}
