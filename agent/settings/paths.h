#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::settings {

// The candidates for the root of the memory directory, where programs write (memory_dir.h), best
// first: $XDG_RUNTIME_DIR/fieldcost, /run/user/UID/fieldcost, /dev/shm/fieldcost-UID.
std::vector<std::filesystem::path> MemoryRoots();

// Returns $HOME, or the home in the user database if HOME is unset, empty or not an absolute path,
// as in services and containers. For a user without an entry, /root (if root) or /nonexistent. The
// directory need not exist or be writable.
std::filesystem::path HomeDirectory();

// The files of one user's agent. With FIELDCOST_HOME=DIR, everything is below DIR (agent.toml,
// state/, catalog.db, catalog_root). Otherwise the XDG base directories are used:
// $XDG_CONFIG_HOME/fieldcost/agent.toml, $XDG_STATE_HOME/fieldcost/ and
// $XDG_DATA_HOME/fieldcost/{catalog.db,catalog_root}. An XDG variable that is not an absolute path
// is ignored, as its specification requires. The defaults are below HomeDirectory().
struct AgentPaths {
  std::filesystem::path config_file;
  std::filesystem::path state_dir;  // consent, policy, agent.db, agent_keys/
  std::filesystem::path catalog_file;
  std::filesystem::path catalog_root_file;
  // The permissions set by the machine's administrator, the same for every user; see
  // system_policy.h.
  std::filesystem::path system_file = "/etc/fieldcost/system.toml";
  // Presets of installers for all users of the machine; see agent_config.h.
  std::filesystem::path presets_dir = "/etc/fieldcost/agent.d";
  // Where the kernel reports batteries, and the system message bus (power.h; empty = default).
  std::filesystem::path power_supply_dir = "/sys/class/power_supply";
  std::string bus_address;
  // Where manual pages of functions and C headers are installed; see documented_names.h.
  std::vector<std::filesystem::path> manual_dirs = {"/usr/share/man/man2", "/usr/share/man/man3",
                                                    "/usr/local/share/man/man2",
                                                    "/usr/local/share/man/man3"};
  std::vector<std::filesystem::path> header_dirs = {"/usr/include", "/usr/local/include"};
  std::vector<std::filesystem::path> memory_roots = MemoryRoots();

  // Written by `fieldcost agent join`: the service, and a copy of its certificate authority.
  std::filesystem::path service_file() const { return config_file.parent_path() / "service.toml"; }
  std::filesystem::path service_authority_file() const {
    return config_file.parent_path() / "service-ca.pem";
  }
  std::filesystem::path consent_file() const { return state_dir / "consent"; }
  std::filesystem::path pause_file() const { return state_dir / "paused"; }
  // Exists while the catalogue is refreshed automatically (agent/refresh).
  std::filesystem::path refresh_file() const { return state_dir / "refresh"; }
  std::filesystem::path policy_file() const;
  // A file in the memory directory that FindMemoryDir() returns now; without one, in the state
  // directory, where no such file exists.
  std::filesystem::path run_dir() const;
  std::filesystem::path skip_file() const;

  // kInvalidArgument if FIELDCOST_HOME is not an absolute path.
  static Result<AgentPaths> FromEnvironment();
};

}  // namespace fieldcost::settings
