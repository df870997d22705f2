#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// A directory with all that a server needs.
struct NewDirectory {
  std::filesystem::path directory;  // made; must be empty
  std::vector<std::string> hosts;   // names and addresses under which it is reached
  std::string address;              // empty: all, or loopback if every host is this machine
  std::uint16_t port = 8445;        // 0: any free one at each start
  std::uint16_t admin_port = 8446;
};

struct MadeDirectory {
  std::filesystem::path config;
  std::filesystem::path authority;
};

// kAlreadyExists: there is something in it; kInvalidArgument: hosts.
Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock);

}  // namespace fieldcost::probe_server
