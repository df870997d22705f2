#pragma once

#include <string>

namespace fieldcost {

// The only place that formats doubles for JSON. Pure.

// Exact and in the usual notation: 0.0625 and 7, not 6.25E-2 and 7E0. Only values of at least 1e21
// or below 1e-6 have an exponent (ECMA-262 §6.1.6.1.20). "null" if the value is not finite.
std::string JsonNumber(double value);

}  // namespace fieldcost
