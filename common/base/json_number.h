#pragma once

#include <string>
#include <string_view>

namespace fieldcost {

// The one place that formats doubles for JSON. Pure.

// As people write it, and exactly: 0.0625 and 7, not 6.25E-2 and 7E0. Only values from 1e21 on and
// below 1e-6 have an exponent (ECMA-262 §6.1.6.1.20). "null" if it is not a finite number.
std::string JsonNumber(double value);

// A JSON text with each number that has an exponent written by JsonNumber(). Texts keep their
// bytes. Boost.JSON writes all doubles with exponents and has no option for it. REQUIRES: valid
// JSON.
std::string WithPlainNumbers(std::string_view json);

}  // namespace fieldcost
