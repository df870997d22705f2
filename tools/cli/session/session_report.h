#pragma once

#include <string>

#include "tools/cli/session/login_session.h"

namespace fieldcost::cli {

// The changes made by a session command and the resulting state, as text and as JSON. Pure.
std::string SessionText(const SessionReport& report, const Session& session);
std::string SessionJson(const SessionReport& report, const Session& session);

}  // namespace fieldcost::cli
