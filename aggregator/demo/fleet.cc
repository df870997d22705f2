#include "aggregator/demo/fleet.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "aggregator/demo/fixed_point.h"
#include "common/crypto/sha256.h"
#include "common/shm/mix.h"

namespace fieldcost::demo {
namespace {

using stats::CostHistogram;
using stats::Metric;

// The purposes of random streams. Equal purposes and numbers give equal streams.
enum class Purpose : std::uint64_t { kMachine, kCost, kUpgrade, kWeek, kCalls, kAllocation, kLoad };

constexpr std::uint32_t kHealthyPercent = 100;  // of a function's normal cost
constexpr std::uint64_t kTimedCalls = 900;      // of the most called function, per machine and week
constexpr std::uint64_t kMinTimedCalls = 12;
constexpr std::uint64_t kMinAilingCalls = 100;
constexpr std::uint64_t kMaxTimedCalls = 3'000;
constexpr std::uint64_t kCallsPerTimedCall = 16;
// As if each API were in one of 32 slots, and one run in 16 were selected.
constexpr std::uint64_t kRunsStoodFor = 512;
constexpr unsigned kBusyPercent = 25;            // of a machine's weeks also have busy starts ...
constexpr std::uint32_t kBusyCostPercent = 140;  // ... in which calls cost this much ...
constexpr std::uint64_t kBusyShare = 4;          // ... and this many times fewer calls are made
constexpr std::uint64_t kAllocationsShare = 4;  // every fourth call has its allocations counted ...
constexpr unsigned kAllocationPercent = 40;     // ... in this percentage of the weeks
constexpr std::int32_t kActivityCentiOctaves = 70;  // deviation of machines' activity
constexpr std::int32_t kWeekCentiOctaves = 3;       // deviation of cost between a machine's weeks
constexpr std::uint32_t kWeeksOfVersion = kWeeks / kVersions;

// Makes streams of different names independent.
std::uint64_t HashOf(std::string_view text) { return shm::HashBytes(text.data(), text.size()); }

std::uint64_t Scale(std::uint64_t value, std::uint32_t percent) {
  return std::max<std::uint64_t>(value * percent / 100, 1);
}

// One function on one machine in one week.
struct Circumstances {
  const ApiModel* api = nullptr;
  std::int64_t typical_q16 = 0;  // log2 ns of this machine, before version and ailment
  std::uint32_t percent = 100;   // of version and ailment together
  std::uint64_t timed_calls = 0;
  std::uint64_t runs = 0;
};

struct Call {
  std::int64_t octaves_q16 = 0;
  bool slow = false;
};

Call DrawCall(const Circumstances& at, Random& random) {
  const ApiModel& api = *at.api;
  Call call{.octaves_q16 = at.typical_q16 + random.NormalQ16(CentiOctaves(api.spread))};
  if (api.input != 0) {
    call.octaves_q16 += static_cast<std::int64_t>(
        random.Below(static_cast<std::uint64_t>(CentiOctaves(api.input)) + 1));
  }
  if (api.slow_percent != 0 && random.Percent(api.slow_percent)) {
    call.slow = true;
    call.octaves_q16 += CentiOctaves(api.slow);
  }
  if (api.tail_percent != 0 && random.Percent(api.tail_percent)) {
    call.octaves_q16 += std::int64_t{kOctaveQ16} * (random.Halvings() + 1);
  }
  return call;
}

struct Histograms {
  CostHistogram wall_time;
  CostHistogram first_call;
  CostHistogram calls_per_run;
  CostHistogram time_per_run;
  CostHistogram disk_read;
};

Histograms Measure(const Circumstances& at, Random random) {
  const ApiModel& api = *at.api;
  Histograms result;
  for (std::uint64_t i = 0; i < at.timed_calls; ++i) {
    Call call = DrawCall(at, random);
    const bool first = i < at.runs;
    if (first) call.octaves_q16 += CentiOctaves(api.first_call);
    const std::uint64_t cost = Scale(Exp2Q16(call.octaves_q16), at.percent);
    result.wall_time.Add(cost);
    if (first) result.first_call.Add(cost);
    if (api.disk_read >= 0) {
      result.disk_read.Add(call.slow ? Exp2Q16(CentiOctaves(api.disk_read)) : 0);
    }
  }
  const std::uint64_t calls = at.timed_calls * kCallsPerTimedCall / at.runs;
  const auto mean = stats::Low64(result.wall_time.sum() / result.wall_time.count());
  for (std::uint64_t run = 0; run < at.runs; ++run) {
    const std::uint64_t share = Exp2Q16(8 * kOctaveQ16 + random.NormalQ16(CentiOctaves(50)));
    const std::uint64_t made = std::max<std::uint64_t>(calls * share >> 8, 1);
    result.calls_per_run.Add(made);
    result.time_per_run.Add(std::max<std::uint64_t>(made * mean, 1), kRunsStoodFor);
  }
  return result;
}

void AddAllocations(const Circumstances& at, Random random, CostHistogram& inclusive,
                    CostHistogram& exclusive, CostHistogram& sizes) {
  const std::uint64_t calls = std::max<std::uint64_t>(at.timed_calls / kAllocationsShare, 1);
  for (std::uint64_t i = 0; i < calls; ++i) {
    const std::uint64_t allocations = 1 + random.Below(3);
    std::uint64_t all = 0;
    std::uint64_t own = 0;
    for (std::uint64_t n = 0; n < allocations; ++n) {
      const std::uint64_t size =
          Exp2Q16(CentiOctaves(at.api->allocated) + random.NormalQ16(CentiOctaves(60)));
      sizes.Add(size);
      all += size;
      if (n == 0) own = size;
    }
    inclusive.Add(all);
    exclusive.Add(own);
  }
}

// Adds the rows that one agent has measured of one API in a week, one per metric.
void AddRows(std::uint64_t seed, const Circumstances& at, const stats::ApiKey& key,
             std::uint32_t agent, std::uint32_t week, Random& in_week,
             std::vector<wire::BatchRow>& rows) {
  const std::uint64_t name = HashOf(stats::DisplayName(key));
  const auto add = [&](Metric metric, const CostHistogram& histogram) {
    if (histogram.empty()) return;
    rows.push_back({.api = key,
                    .metric = metric,
                    .week = week,
                    .first_contribution = true,
                    .histogram = histogram});
  };
  const Histograms measured = Measure(at, Random(seed, Purpose::kCalls, agent, week, name));
  add(Metric::kWallTime, measured.wall_time);
  if (at.api->allocated >= 0 && in_week.Percent(kAllocationPercent)) {
    CostHistogram inclusive;
    CostHistogram exclusive;
    CostHistogram sizes;
    AddAllocations(at, Random(seed, Purpose::kAllocation, agent, week, name), inclusive, exclusive,
                   sizes);
    add(Metric::kAllocInclusive, inclusive);
    add(Metric::kAllocExclusive, exclusive);
    add(Metric::kAllocSize, sizes);
  }
  add(Metric::kDiskRead, measured.disk_read);
  add(Metric::kCallsPerRun, measured.calls_per_run);
  add(Metric::kFirstCallTime, measured.first_call);
  add(Metric::kTimePerRun, measured.time_per_run);
  Random load(seed, Purpose::kLoad, agent, week, name);
  if (load.Percent(kBusyPercent)) {
    Circumstances loaded = at;
    loaded.percent = at.percent * kBusyCostPercent / 100;
    loaded.timed_calls = std::max(at.timed_calls / kBusyShare, at.runs);
    add(Metric::kWallTimeBusy, Measure(loaded, load).wall_time);
  }
}

// The function's cost on this machine, in percent of its normal cost.
std::uint32_t AilingPercent(std::span<const Ailment> ailments, const LibraryModel& library,
                            const ApiModel& api) {
  std::uint32_t percent = kHealthyPercent;
  for (const Ailment& ailment : ailments) {
    if (ailment.soname == library.soname && ailment.symbol == api.symbol) percent = ailment.percent;
  }
  return percent;
}

}  // namespace

std::size_t Fleet::VersionOf(const LibraryModel& library, std::uint32_t agent,
                             std::uint32_t week) const {
  // Each machine upgrades between a week early and a week late.
  Random random(options_.seed, Purpose::kUpgrade, agent, HashOf(library.soname));
  std::size_t version = 0;
  for (std::uint32_t step = 1; step < kVersions; ++step) {
    const std::uint32_t upgrade = options_.first_week() + step * kWeeksOfVersion - 1 +
                                  static_cast<std::uint32_t>(random.Below(3));
    if (week >= upgrade) version = step;
  }
  return version;
}

crypto::PrivateKey Fleet::SigningKeyOf(std::uint32_t agent, wire::Epoch epoch) const {
  return crypto::PrivateKey::FromSeed(crypto::Sha256(
      fmt::format("fieldcost synthetic agent {} {} {}", options_.seed, agent, epoch.value())));
}

wire::BatchContent Fleet::BatchOf(std::uint32_t agent, std::uint32_t week) const {
  return BatchOf(agent, week, {});
}

wire::BatchContent Fleet::BatchOf(std::uint32_t agent, std::uint32_t week,
                                  std::span<const Ailment> ailments) const {
  const auto hardware_models = HardwareModels();
  const HardwareModel& hardware = hardware_models[agent % hardware_models.size()];
  wire::BatchContent content{.field_policy_version = 0, .hardware = hardware.hardware, .rows = {}};
  Random machine(options_.seed, Purpose::kMachine, agent);
  const std::int64_t activity_q16 = machine.NormalQ16(CentiOctaves(kActivityCentiOctaves));

  for (const LibraryModel& library : Libraries()) {
    const std::size_t version = VersionOf(library, agent, week);
    for (std::size_t rank = 0; rank < library.apis.size(); ++rank) {
      const ApiModel& api = library.apis[rank];
      const stats::ApiKey key = KeyOf(library, version, api);
      const std::uint64_t name = HashOf(stats::DisplayName(key));
      Random in_week(options_.seed, Purpose::kWeek, agent, week, name);
      // Rarer functions are picked in fewer weeks.
      const auto picked = static_cast<unsigned>(95 - std::min<std::size_t>(5 * rank, 60));
      const std::uint32_t ailing_percent = AilingPercent(ailments, library, api);
      const bool ails = ailing_percent != kHealthyPercent;
      if (!in_week.Percent(picked) && !ails) continue;

      // The cost of calls on this machine, and how many of them are timed.
      Circumstances at{.api = &api};
      Random cost(options_.seed, Purpose::kCost, agent, name);
      at.typical_q16 = CentiOctaves(api.typical + hardware.slower) +
                       cost.NormalQ16(CentiOctaves(api.between)) +
                       in_week.NormalQ16(CentiOctaves(kWeekCentiOctaves));
      at.percent = CostPercent(library, version, api.symbol) * ailing_percent / kHealthyPercent;
      const std::uint64_t busy = Exp2Q16(16 * kOctaveQ16 + activity_q16);
      at.timed_calls =
          std::clamp(kTimedCalls * busy / (rank + 1) >> 16, kMinTimedCalls, kMaxTimedCalls);
      // Ailing functions are measured often enough to be found.
      if (ails) at.timed_calls = std::max(at.timed_calls, kMinAilingCalls);
      at.runs = std::min<std::uint64_t>(2 + in_week.Below(10), at.timed_calls);

      AddRows(options_.seed, at, key, agent, week, in_week, content.rows);
    }
  }
  std::sort(content.rows.begin(), content.rows.end(),
            [](const wire::BatchRow& a, const wire::BatchRow& b) {
              return std::tie(a.api, a.metric) < std::tie(b.api, b.metric);
            });
  return content;
}

}  // namespace fieldcost::demo
