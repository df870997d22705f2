#pragma once

#include <span>
#include <string>

#include "aggregator/probe_server/pages/layout.h"

namespace fieldcost::probe_server {

// The login page and the user's own account. Pure.

struct DeviceLine {
  std::uint64_t id = 0;
  std::string name;
  std::string made;
  bool is_revoked = false;
};

// `next`: the page to show after the login, an address of this server.
std::string LoginPage(const Frame& frame, std::string_view untrusted_user, std::string_view next);
std::string AccountPage(const Frame& frame, std::span<const DeviceLine> devices);

}  // namespace fieldcost::probe_server
