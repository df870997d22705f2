#pragma once

#include <string>

namespace fieldcost::report {

// For the tests of pages.

// What is wrong with the page, a line each; see check_page.py.
std::string PageProblems(const std::string& page);
// The same of a page that runs scripts.
std::string ScriptedPageProblems(const std::string& page);

// The whole text of a golden file of this folder; rewritten first if FIELDCOST_UPDATE_GOLDEN is
// set.
std::string Golden(const std::string& name, const std::string& made);

// Markup, quotes and an escape sequence.
inline constexpr char kEvil[] = "A<\"><img src=x onerror=alert(1)>'&\x1b";

}  // namespace fieldcost::report
