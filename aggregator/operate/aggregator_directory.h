#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/serve/new_directory.h"
#include "common/wire/metadata.h"

namespace fieldcost::aggregator {

// Describes a directory with everything that a service needs.
struct NewDirectory {
  std::filesystem::path directory;      // created; must be empty
  std::vector<std::string> hosts;       // names and addresses under which agents reach it
  serve::CertificateFiles certificate;  // an existing one; empty = one of its own authority
  std::string address;  // to listen on; empty = all, or loopback if every host is this machine
  std::uint16_t port = 8443;            // 0 = any free port at each start
  std::uint16_t admin_port = 8444;      // likewise
  bool is_open = false;                 // accepts every agent, without an invitation
  wire::OperatorStatement operated_by;  // what volunteers read before they join
};

// The files created in the directory, as absolute paths.
struct MadeDirectory {
  std::filesystem::path config;
  std::filesystem::path certificate;
  std::filesystem::path authority;  // empty: the caller has supplied a certificate
  std::filesystem::path admin_token;
  std::filesystem::path unit_drop_in;
  std::string untrusted_host;  // the first of the hosts
  std::string url;             // "" if the port is chosen at each start
};

// Creates the directory. The data directory and its keys are created by the first start.
// kAlreadyExists: the directory is not empty; kInvalidArgument: hosts, certificate (not for these
// hosts, or an error of http::CheckCertificate()), the operator's texts, or a path that a unit
// cannot name.
Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock);

}  // namespace fieldcost::aggregator
