#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fieldcost::tree {

// Returns each run's common factor: the ratio of its paths to their means over all runs, with both
// sides weighted equally; 1 for a run without usable paths. It is a weighted median of the paths'
// ratios, so that changed paths do not move it unless most of them changed. A path's weight is its
// cost, but at most a fifth of all weights, so that a single dominating path does not determine it.
// Pure. `self` is indexed by [run][path]: self values, with the runs of the before side first.
// Paths with a mean below `least` are ignored. REQUIRES: 0 < runs_before < the number of runs.
std::vector<double> RunFactors(std::span<const std::vector<double>> self, std::size_t runs_before,
                               double least);

}  // namespace fieldcost::tree
