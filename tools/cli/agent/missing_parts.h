#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/settings/consent.h"
#include "common/base/clock.h"
#include "common/catalog/catalog.h"

namespace fieldcost::cli {

// A part without which the user's decision has no, or less, effect. The fix may hold a url of a
// settings file: escape it.
struct MissingPart {
  std::string_view part;  // "daemon"
  std::string problem;    // "not running"
  std::string fix;        // a command, or what to do
};

// What MissingParts() depends on.
struct PartFacts {
  settings::Mode mode = settings::Mode::kOff;
  std::string url;            // of the service in use; empty = none
  bool is_suggested = false;  // an installer suggests a service
  bool root_is_pinned = false;
  bool session_is_active = false;
  bool session_is_complete = true;  // none of its files is missing
  bool daemon_is_running = false;
  bool units_are_enabled = false;
  bool units_can_start = false;                 // by the user's service manager
  std::string daemon_fix;                       // what starts the daemon
  std::optional<catalog::Freshness> catalogue;  // nullopt: there is none
  WallTime now{};
};

// In mode off nothing is missing; in mode local, nothing for sending. Pure.
std::vector<MissingPart> MissingParts(const PartFacts& facts);

}  // namespace fieldcost::cli
