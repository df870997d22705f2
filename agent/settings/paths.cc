#include "agent/settings/paths.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "agent/settings/memory_dir.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::agent {
namespace {

// The directory a variable names, or `fallback` below HOME. Empty if neither is there.
Result<std::filesystem::path> Directory(const char* variable, const char* fallback) {
  const char* untrusted_value = std::getenv(variable);
  if (untrusted_value != nullptr && untrusted_value[0] != '\0') {
    std::filesystem::path directory(untrusted_value);
    if (!directory.is_absolute()) {
      return Fail(ErrorCode::kInvalidArgument, "{} is not an absolute path: {}", variable,
                  EscapeControl(directory.string()));
    }
    return directory;
  }
  const char* untrusted_home = std::getenv("HOME");
  if (untrusted_home == nullptr || untrusted_home[0] == '\0') {
    return Fail(ErrorCode::kInvalidArgument, "neither FIELDCOST_HOME nor HOME is set");
  }
  const std::filesystem::path home(untrusted_home);
  if (!home.is_absolute()) {
    return Fail(ErrorCode::kInvalidArgument, "HOME is not an absolute path: {}",
                EscapeControl(home.string()));
  }
  return home / fallback;
}

std::filesystem::path MemoryOf(const AgentPaths& paths) {
  const auto memory = FindMemoryDir(paths);
  return memory ? memory->directory : paths.state_dir;
}

}  // namespace

std::vector<std::filesystem::path> MemoryRoots() {
  const std::string user = std::to_string(::geteuid());
  // Programs may lack the variable in their environment; the directory usually has this name.
  const std::filesystem::path usual = "/run/user/" + user;
  std::vector<std::filesystem::path> roots;
  const char* untrusted_value = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path named =
      std::filesystem::path(untrusted_value == nullptr ? "" : untrusted_value).lexically_normal();
  if (named.is_absolute()) roots.push_back(named / "fieldcost");
  if (named != usual) roots.push_back(usual / "fieldcost");
  roots.push_back("/dev/shm/fieldcost-" + user);
  return roots;
}

std::filesystem::path AgentPaths::run_dir() const {
  return MemoryOf(*this) / shm::kRunDirectoryName;
}
std::filesystem::path AgentPaths::skip_file() const { return MemoryOf(*this) / shm::kSkipFileName; }
std::filesystem::path AgentPaths::policy_file() const { return state_dir / shm::kPolicyFileName; }

Result<AgentPaths> AgentPaths::FromEnvironment() {
  const char* untrusted_home = std::getenv("FIELDCOST_HOME");
  if (untrusted_home != nullptr && untrusted_home[0] != '\0') {
    FIELDCOST_ASSIGN(const std::filesystem::path home, Directory("FIELDCOST_HOME", ""));
    return AgentPaths{.config_file = home / "agent.toml",
                      .state_dir = home / "state",
                      .catalog_file = home / "catalog.db",
                      .catalog_root_file = home / "catalog_root"};
  }
  FIELDCOST_ASSIGN(const std::filesystem::path config, Directory("XDG_CONFIG_HOME", ".config"));
  FIELDCOST_ASSIGN(const std::filesystem::path state, Directory("XDG_STATE_HOME", ".local/state"));
  FIELDCOST_ASSIGN(const std::filesystem::path data, Directory("XDG_DATA_HOME", ".local/share"));
  return AgentPaths{.config_file = config / "fieldcost" / "agent.toml",
                    .state_dir = state / "fieldcost",
                    .catalog_file = data / "fieldcost" / "catalog.db",
                    .catalog_root_file = data / "fieldcost" / "catalog_root"};
}
}  // namespace fieldcost::agent
