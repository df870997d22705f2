#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fieldcost::tree {

// Each run's common factor: the ratio of its paths to their means over all runs, with both sides
// weighted equally; 1 for a run without usable paths. It is a weighted median of the paths' ratios,
// so that changed paths do not move it unless most of them changed. A path's weight is its cost,
// but at most a fifth of all weights, so that one dominating path does not determine it. Pure.
// `self` [run][path]: self values, the runs of the before side first. Ignores paths whose mean is
// below `least`. REQUIRES: 0 < runs_before < the number of runs.
std::vector<double> RunFactors(std::span<const std::vector<double>> self, std::size_t runs_before,
                               double least);

}  // namespace fieldcost::tree
