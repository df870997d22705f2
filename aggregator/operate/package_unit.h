#pragma once

#include <filesystem>

#include "aggregator/operate/aggregator_directory.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// The unit of the Debian package, as `init --start` uses it.

// Whether the unit can serve a new directory; nothing is changed. kPermissionDenied: not root;
// kInvalidArgument: the unit cannot see the directory; kUnavailable: no systemd is running, or the
// package is not installed; kAlreadyExists: the unit serves another directory.
Status CheckUnitCanStart(const std::filesystem::path& directory);

// Gives the directory to the service's user, has the unit serve it, enables it and starts it. When
// this returns, the service has made its first publication. kUnavailable: the message names what
// failed and how to find out why; the directory stays.
Status StartUnit(const MadeDirectory& made);

}  // namespace fieldcost::aggregator
