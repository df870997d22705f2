#pragma once

#include <set>
#include <string>
#include <vector>

namespace fieldcost::analysis {

// Which of the functions that libraries export a scenario has called. All names are untrusted.

// A library with at least one function that was called. Each of its exported functions is in
// exactly one of the sets.
struct LibraryCoverage {
  std::string library;  // its soname, else its file's name
  std::set<std::string> called;
  std::set<std::string> uncalled;      // could be measured, but no call was seen
  std::set<std::string> not_measured;  // calls would not, or not all, have been seen
};

struct Coverage {
  std::vector<LibraryCoverage> libraries;  // ascending by name
  std::set<std::string> unreadable;        // libraries whose exported functions are not known
  // Calls may have been missed, for example in a program that could not be measured.
  bool is_incomplete = false;
};

// Adds the calls of another scenario of the same libraries. A function that either has called is
// called. Commutative and associative.
void Merge(const Coverage& other, Coverage& coverage);

}  // namespace fieldcost::analysis
