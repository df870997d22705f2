#pragma once

#include <string>

#include "tools/cli/session/session.h"

namespace fieldcost::cli {

// What a session command did, and what holds now: for people, and as JSON. Pure.
std::string SessionText(const SessionReport& report, const Session& session);
std::string SessionJson(const SessionReport& report, const Session& session);

}  // namespace fieldcost::cli
