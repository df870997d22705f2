#pragma once

#include <span>
#include <vector>

namespace fieldcost::inference {

// Returns the adjusted p ("q value") of each hypothesis, in the given order (Benjamini and Hochberg
// 1995): the smallest false discovery rate at which it is rejected, min over j >= i of p_(j) *
// count / j. Rejecting all hypotheses with values of at most q keeps the expected share of false
// rejections at or below q, if the hypotheses are independent or positively dependent. The values
// are at least p and at most 1, and in the same order as p. REQUIRES: every p is in [0, 1]. Costs a
// sort.
std::vector<double> AdjustForFalseDiscoveries(std::span<const double> p_values);

}  // namespace fieldcost::inference
