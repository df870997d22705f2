#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::probe_server {

// A directory with everything that a server needs.
struct NewDirectory {
  std::filesystem::path directory;  // created; must be empty if it exists
  std::vector<std::string> hosts;   // names and addresses of the server
  std::string address;              // empty: all, or loopback if all hosts are this machine
  std::uint16_t port = 8445;        // 0: any free port at each start
  std::uint16_t admin_port = 8446;
};

struct MadeDirectory {
  std::filesystem::path config;
  std::filesystem::path authority;
};

// kAlreadyExists: the directory is not empty; kInvalidArgument: hosts.
Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock);

}  // namespace fieldcost::probe_server
