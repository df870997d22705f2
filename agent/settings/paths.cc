#include "agent/settings/paths.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "agent/settings/memory_dir.h"
#include "common/base/text.h"
#include "common/shm/policy_file.h"
#include "common/shm/skip_file.h"

namespace fieldcost::settings {
namespace {

// The absolute path in a variable; empty if it is unset or not absolute.
std::filesystem::path AbsolutePath(const char* variable) {
  const char* untrusted_value = std::getenv(variable);
  std::filesystem::path path(untrusted_value == nullptr ? "" : untrusted_value);
  return path.is_absolute() ? path : std::filesystem::path();
}

// The home directory from the user database; empty if none.
std::filesystem::path HomeOfDatabase() {
  constexpr std::size_t kMostBytes = 65'536;
  std::vector<char> bytes(kMostBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, bytes.data(), bytes.size(), &found) != 0) return {};
  if (found == nullptr || found->pw_dir == nullptr) return {};
  std::filesystem::path home(found->pw_dir);
  return home.is_absolute() ? home : std::filesystem::path();
}

// The directory in a variable, or else `fallback` below the home directory.
std::filesystem::path Directory(const char* variable, const char* fallback) {
  std::filesystem::path directory = AbsolutePath(variable);
  return directory.empty() ? HomeDirectory() / fallback : directory;
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

std::filesystem::path HomeDirectory() {
  std::filesystem::path home = AbsolutePath("HOME");
  if (home.empty()) home = HomeOfDatabase();
  if (!home.empty()) return home;
  return ::geteuid() == 0 ? "/root" : "/nonexistent";
}

std::filesystem::path AgentPaths::run_dir() const {
  return MemoryOf(*this) / shm::kRunDirectoryName;
}
std::filesystem::path AgentPaths::skip_file() const { return MemoryOf(*this) / shm::kSkipFileName; }
std::filesystem::path AgentPaths::policy_file() const { return state_dir / shm::kPolicyFileName; }

Result<AgentPaths> AgentPaths::FromEnvironment() {
  const char* untrusted_home = std::getenv("FIELDCOST_HOME");
  if (untrusted_home != nullptr && untrusted_home[0] != '\0') {
    const std::filesystem::path home(untrusted_home);
    if (!home.is_absolute()) {
      return Fail(ErrorCode::kInvalidArgument, "FIELDCOST_HOME is not an absolute path: {}",
                  EscapeControl(home.string()));
    }
    return AgentPaths{.config_file = home / "agent.toml",
                      .state_dir = home / "state",
                      .catalog_file = home / "catalog.db",
                      .catalog_root_file = home / "catalog_root"};
  }
  const std::filesystem::path config = Directory("XDG_CONFIG_HOME", ".config");
  const std::filesystem::path state = Directory("XDG_STATE_HOME", ".local/state");
  const std::filesystem::path data = Directory("XDG_DATA_HOME", ".local/share");
  return AgentPaths{.config_file = config / "fieldcost" / "agent.toml",
                    .state_dir = state / "fieldcost",
                    .catalog_file = data / "fieldcost" / "catalog.db",
                    .catalog_root_file = data / "fieldcost" / "catalog_root"};
}
}  // namespace fieldcost::settings
