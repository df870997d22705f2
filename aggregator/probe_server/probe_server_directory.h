#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/serve/new_directory.h"

namespace fieldcost::probe_server {

// A directory with everything that a server needs.
struct NewDirectory {
  std::filesystem::path directory;      // created; must be empty if it exists
  std::vector<std::string> hosts;       // names and addresses of the server
  serve::CertificateFiles certificate;  // an existing one; empty = issue one
  std::string address;                  // empty: all, or loopback if all hosts are this machine
  std::uint16_t port = 8445;            // 0: any free port at each start
  std::uint16_t admin_port = 8446;
};

struct MadeDirectory {
  std::filesystem::path config;
  std::filesystem::path authority;  // empty: the caller provided the certificate
  std::filesystem::path unit_drop_in;
};

// kAlreadyExists: the directory is not empty; kInvalidArgument: hosts, certificate (not for these
// hosts, or an error of http::CheckCertificate()), or a path that a unit cannot name.
Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock);

}  // namespace fieldcost::probe_server
