#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "tools/cli/join/join_service.h"

namespace fieldcost::cli {

// One part of joining or leaving, and how it went.
struct JoinStep {
  std::string_view name;  // "session"
  std::string text;       // the result, or the user's part
  Status status;          // an error: not done
  bool is_by_hand = false;
};

// Adds a step with this result; returns whether it was done.
bool AddStep(std::string_view name, const Result<std::string>& result,
             std::vector<JoinStep>& steps);

// kInvalidArgument: agent.toml names another service, or this machine has joined another one, and
// what to do; also if the administrator forbids collection (kPermissionDenied).
Status CheckMayJoin(const std::string& url, const settings::AgentPaths& paths);

// Does everything that is still missing: records what was there before, then settings, root,
// consent, session, user units, the whole catalogue and its automatic refreshing. Steps that depend
// on a failed one are not tried. REQUIRES: the user has agreed.
std::vector<JoinStep> Join(const ServiceOffer& offer, const settings::AgentPaths& paths,
                           const std::function<void(std::uint32_t, std::uint32_t)>& progress,
                           const Clock& clock);

// The first error, or OK.
Status OutcomeOf(const std::vector<JoinStep>& steps);

}  // namespace fieldcost::cli
