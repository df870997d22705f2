#include "tools/cli/join/user_units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "common/base/run_program.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxOutputBytes = 64 * 1024;
constexpr std::chrono::seconds kTimeLimit{30};

fs::path RuntimeDirectory() {
  const fs::path named(Variable("XDG_RUNTIME_DIR"));
  return named.is_absolute() ? named : fs::path("/run/user") / std::to_string(::geteuid());
}

Result<int> Systemctl(const std::vector<std::string>& words) {
  std::vector<std::string> command = {"/usr/bin/env",
                                      "XDG_RUNTIME_DIR=" + RuntimeDirectory().string(), "systemctl",
                                      "--user", "--quiet"};
  command.insert(command.end(), words.begin(), words.end());
  FIELDCOST_ASSIGN(const CommandResult result, RunCommand(command, kMaxOutputBytes, kTimeLimit));
  return result.exit_status;
}

Status MustRun(const std::vector<std::string>& words) {
  FIELDCOST_ASSIGN(const int status, Systemctl(words));
  if (status == 0) return {};
  return Fail(ErrorCode::kUnavailable,
              "systemctl ended with status {}; its message: systemctl --user {}", status,
              fmt::join(words, " "));
}

}  // namespace

fs::path UnitLinkDirectory(const UserUnit& unit) {
  fs::path config(Variable("XDG_CONFIG_HOME"));
  if (!config.is_absolute()) config = settings::HomeDirectory() / ".config";
  return config / "systemd" / "user" / fmt::format("{}.wants", unit.wanted_by);
}

bool IsEnabled(const UserUnit& unit) {
  std::error_code error;
  return fs::is_symlink(UnitLinkDirectory(unit) / unit.name, error);
}

std::string WhyNoUnit(const UserUnit& unit, const settings::AgentPaths& paths) {
  std::error_code error;
  if (paths.state_dir != settings::HomeDirectory() / ".local/state/fieldcost") {
    return "the units are for ~/.local/state/fieldcost only, not " + paths.state_dir.string();
  }
  if (!fs::exists(RuntimeDirectory() / "systemd" / "private", error)) {
    return "no systemd of this user is running";
  }
  const auto installed = Systemctl({"cat", unit.name});
  if (!installed || *installed != 0) {
    return fmt::format("systemd does not find the unit {}", unit.name);
  }
  return "";
}

Status Enable(const UserUnit& unit) { return MustRun({"enable", "--now", unit.name}); }

Status Disable(const UserUnit& unit) {
  return MustRun({"disable", "--now", unit.name, unit.service});
}

}  // namespace fieldcost::cli
