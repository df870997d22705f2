#pragma once

#include <string_view>

#include "common/probe/event_store.h"
#include "common/probe/set_aside.h"
#include "common/probe/types.h"

namespace fieldcost::probe {

// The names of values in JSON and in other programs' formats. Names never change, since scripts
// compare them. "" for an invalid value.

std::string_view Name(HitKind kind);  // "point", "begin", "end", "join"
std::string_view Name(Mark mark);     // "none", "set_aside", "kept"
std::string_view Name(Why why);       // "not", "not_over", "incomplete", "suspended", ...

}  // namespace fieldcost::probe
