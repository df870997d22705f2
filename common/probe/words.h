#pragma once

#include <string_view>

#include "common/probe/compare.h"
#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// What values are called in JSON and in other programs' formats. Words are never changed: scripts
// compare them. "" for a value that is none.

std::string_view Name(HitKind kind);   // "point", "begin", "end", "join"
std::string_view Name(Mark mark);      // "none", "set_aside", "kept"
std::string_view Name(Why why);        // "not", "not_over", "incomplete", "suspended", ...
std::string_view Name(Change change);  // "too_little_data", "none", "slower", "faster"

}  // namespace fieldcost::probe
