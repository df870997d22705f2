#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace fieldcost::tree {

// Each run's common factor: what its paths have above their mean over all runs, both sides weighing
// the same; 1 for a run in which nothing is known. It is a weighted median of the paths' ratios, so
// that paths which changed do not move it, unless most of them did. A path's weight is its cost,
// but at most a fifth of all weights: one dominating path that changed is no common factor. Pure.
// `self` [run][path]: self values, the runs before first. Paths whose mean is below `least` are
// left out. REQUIRES: 0 < runs_before < the number of runs.
std::vector<double> RunFactors(std::span<const std::vector<double>> self, std::size_t runs_before,
                               double least);

}  // namespace fieldcost::tree
