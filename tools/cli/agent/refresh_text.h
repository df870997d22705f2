#pragma once

#include <string>

#include "agent/refresh/automatic_refresh.h"
#include "common/base/clock.h"

namespace fieldcost::cli {

// "up to date; next check in 5 h at 2024-10-02 19:30 UTC", "incomplete: 34 of 120 fragments; …",
// "last attempt failed (reason); next try …". Pure; external text is escaped.
std::string RefreshText(const refresh::RefreshStatus& status, WallTime now);

}  // namespace fieldcost::cli
