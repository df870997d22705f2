#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/recording/recording.h"
#include "tools/analysis/idle_view.h"

namespace fieldcost::analysis {

// The reasons why each CPU was idle, over time, with all parts superimposed from their start. A
// sample of idle time covers the time before it and is divided among the bins that it spans, to the
// ns.
struct IdleTimeline {
  using Bin = std::array<std::uint64_t, idle::kWhys + 1>;  // ns, like CpuIdle::by_why
  struct Cpu {
    std::uint32_t cpu = 0;
    std::vector<Bin> bins;
  };
  std::uint64_t length_ns = 0;  // of the longest part
  std::uint64_t parts = 0;
  std::vector<Cpu> cpus;  // ascending
  bool has_more = false;  // more CPUs than kMaxTimelineCpus; the others are omitted

  // The beginning of a bin. REQUIRES: i <= bins.
  std::uint64_t EdgeNs(std::size_t i, std::size_t bins) const;
};
inline constexpr std::size_t kMaxTimelineCpus = 1'024;

// nullopt if there is no data. Errors of Recording, kTooLarge. REQUIRES: bins > 0.
Result<std::optional<IdleTimeline>> MakeIdleTimeline(const recording::Recording& recording,
                                                     std::span<const recording::Interval> parts,
                                                     std::size_t bins);

}  // namespace fieldcost::analysis
