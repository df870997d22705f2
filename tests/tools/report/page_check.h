#pragma once

#include <string>

namespace fieldcost::report {

// Shared by tests of pages.

// The problems of a page, one per line; see check_page.py.
std::string PageProblems(const std::string& page);
// The same for a page with scripts.
std::string ScriptedPageProblems(const std::string& page);

// The contents of a golden file in this folder; first rewrites it to `made` if
// FIELDCOST_UPDATE_GOLDEN is set.
std::string Golden(const std::string& name, const std::string& made);

// Markup, quotes and an escape sequence.
inline constexpr char kEvil[] = "A<\"><img src=x onerror=alert(1)>'&\x1b";

}  // namespace fieldcost::report
