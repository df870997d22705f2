#pragma once

#include <filesystem>
#include <string>

#include "agent/settings/paths.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/wire/metadata.h"

namespace fieldcost::cli {

// The service that a user wants to join.
struct JoinRequest {
  std::string url;
  std::filesystem::path ca_file;  // empty = the system's trust store
  std::string root_sha256;        // expected; empty = any
  std::string proxy;              // as in agent.toml
};

// The statements of the service about itself, verified.
struct ServiceOffer {
  std::string url;                      // "https://host:port"
  std::string authority;                // the bytes of ca_file; empty = the system's trust store
  std::string root;                     // signed; to be pinned
  wire::OperatorStatement operated_by;  // as of the newest root
};

// SHA-256 of a file's bytes in hex, as sha256sum prints it.
std::string FingerprintOf(const std::string& bytes);

// Fetches the service's first root and those that follow it, and nothing else; sends nothing about
// this machine. If a root is pinned already, the service must still have it. kUnauthenticated: the
// certificate is not accepted, or the root is another one than expected; errors of
// catalog::FollowRootChain().
Result<ServiceOffer> AskService(const JoinRequest& request, const settings::AgentPaths& paths,
                                WallTime now);

}  // namespace fieldcost::cli
