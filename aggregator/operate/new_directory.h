#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

// A directory with all that a service needs.
struct NewDirectory {
  std::filesystem::path directory;         // made; must be empty
  std::vector<std::string> hosts;          // names and addresses under which agents reach it
  std::filesystem::path certificate_file;  // PEM chain; empty = one of an authority of its own
  std::filesystem::path private_key_file;
  std::string address;  // to listen on; empty = all, or loopback if every host is this machine
  std::uint16_t port = 8443;        // 0 = any free one at each start
  std::uint16_t admin_port = 8444;  // as above
  bool is_open = false;             // takes every agent, without an invitation
};

// What was made in it, as absolute paths.
struct MadeDirectory {
  std::filesystem::path config;
  std::filesystem::path certificate;
  std::filesystem::path authority;  // empty: the certificate was given
  std::filesystem::path admin_token;
  std::filesystem::path unit_drop_in;
  std::string untrusted_host;  // the first of the hosts
  std::string url;             // "" if the port is any
};

// Makes it. The data directory and its keys are the first start's. kAlreadyExists: there is
// something in it; kInvalidArgument: hosts, certificate (not for these hosts, or as of
// http::CheckCertificate()), or a path that a unit could not name.
Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock);

}  // namespace fieldcost::aggregator
