#include "tools/analysis/context_penalty.h"

#include <array>
#include <cmath>

#include "common/inference/machine_comparison.h"

namespace fieldcost::analysis {

std::optional<ContextPenalty> PenaltyOf(const stats::StatRow& lab, const FieldChoice& field) {
  constexpr double kConfidence = 0.95;
  const stats::ContributionScalars& machines = field.sums.fullest_quarter.scalars;
  if (lab.scalars.contributions < 2 ||
      machines.contributions < inference::kFieldThresholds.least_machines) {
    return std::nullopt;
  }
  const std::array<inference::MachineStratum, 1> sides = {
      {{.before = lab.scalars, .after = machines}}};
  const inference::MachineComparison compared = inference::CompareMachines(sides);
  const inference::MachineComparison::Interval octaves = compared.ConfidenceInterval(kConfidence);
  return ContextPenalty{.ratio = std::exp2(compared.octaves),
                        .low = std::exp2(octaves.low),
                        .high = std::exp2(octaves.high),
                        .machines = machines.contributions,
                        .stratum = field.stratum};
}

}  // namespace fieldcost::analysis
