// Prints the load that a fleet of agents causes at a server around an outage, on a virtual clock.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/base/file.h"
#include "common/base/text.h"
#include "tests/bench/fleet.h"

namespace {

constexpr char kUsage[] =
    "usage: fleet_simulation [--agents N] [--seed N] [--outage-hours N] [--asleep PERCENT]\n"
    "                        [--hourly] [--svg FILE] [--check]\n"
    "  --hourly  every hour's requests;  --check  exit status 1 unless the busiest hour after the\n"
    "  outage has less than twice the requests of the busiest one before it, and, in a fleet that\n"
    "  never sleeps, less than twice the average\n";

}  // namespace

int main(int argc, char** argv) {
  fieldcost::fleet::FleetOptions options;
  std::string svg_file;
  bool hourly = false;
  bool check = false;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--hourly" || name == "--check") {
      (name == "--hourly" ? hourly : check) = true;
      continue;
    }
    if (i + 1 == argc) return std::fputs(kUsage, stderr), 64;
    const std::string value = argv[++i];
    const auto number = fieldcost::ParseUint64(value);
    if (name == "--svg") {
      svg_file = value;
    } else if (name == "--agents" && number && *number > 0) {
      options.agents = *number;
    } else if (name == "--seed" && number) {
      options.seed = *number;
    } else if (name == "--outage-hours" && number && *number < 10'000) {
      options.outage_hours = static_cast<unsigned>(*number);
    } else if (name == "--asleep" && number && *number <= 100) {
      options.asleep = static_cast<double>(*number) / 100;
    } else {
      return std::fputs(kUsage, stderr), 64;
    }
  }
  const fieldcost::fleet::FleetLoad load = fieldcost::fleet::Simulate(options);
  const double of_mean = static_cast<double>(load.peak_after) / load.steady_mean;
  const double of_peak =
      static_cast<double>(load.peak_after) / static_cast<double>(load.steady_peak);
  fmt::print(
      "{} agents, seed {}, {:.0f} % asleep at night, outage of {} h\n"
      "requests an hour: steady {:.1f} on average, {} at most; after the outage {} at most\n"
      "batches: {} made, {} sent, {} dropped, {} waiting\n"
      "busiest hour after / steady average: {:.3f}, / busiest steady hour: {:.3f}\n",
      options.agents, options.seed, options.asleep * 100, options.outage_hours, load.steady_mean,
      load.steady_peak, load.peak_after, load.batches_made, load.batches_sent, load.batches_dropped,
      load.batches_waiting, of_mean, of_peak);
  if (hourly) {
    for (std::size_t hour = 0; hour < load.tries.size(); ++hour) {
      fmt::print("{}\t{}\t{}\n", hour, load.tries[hour], load.answered[hour]);
    }
  }
  if (!svg_file.empty()) {
    const auto written =
        fieldcost::WriteFileAtomically(svg_file, fieldcost::fleet::DrawLoad(options, load), 0644);
    if (!written) return std::fprintf(stderr, "%s\n", written.error().message.c_str()), 74;
  }
  const bool is_low = of_peak < 2 && (options.asleep > 0 || of_mean < 2);
  return check && !is_low ? 1 : 0;
}
