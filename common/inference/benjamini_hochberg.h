#pragma once

#include <span>
#include <vector>

namespace fieldcost::inference {

// Benjamini and Hochberg 1995: the adjusted p ("q value") of each hypothesis, in the order given:
// the smallest false discovery rate at which it is rejected, min over j >= i of p_(j) * count / j.
// Rejecting those with a value of at most q keeps the expected share of false ones among the
// rejected at q or below, if the hypotheses are independent or positively dependent. Never below p,
// never above 1, of the same order as p. REQUIRES: every p is in [0, 1]. Costs a sort.
std::vector<double> AdjustForFalseDiscoveries(std::span<const double> p_values);

}  // namespace fieldcost::inference
