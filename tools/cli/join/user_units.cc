#include "tools/cli/join/user_units.h"

#include <unistd.h>

#include <chrono>
#include <vector>

#include "common/base/run_program.h"
#include "tools/cli/terminal/terminal_io.h"

namespace fieldcost::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPathUnit[] = "fieldcostd.path";
constexpr char kServiceUnit[] = "fieldcostd.service";
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

Status MustRun(const std::vector<std::string>& words, std::string_view by_hand) {
  FIELDCOST_ASSIGN(const int status, Systemctl(words));
  if (status == 0) return {};
  return Fail(ErrorCode::kUnavailable, "systemctl ended with status {}; its message: {}", status,
              by_hand);
}

}  // namespace

fs::path UnitLinkDirectory() {
  fs::path config(Variable("XDG_CONFIG_HOME"));
  if (!config.is_absolute()) config = settings::HomeDirectory() / ".config";
  return config / "systemd" / "user" / "paths.target.wants";
}

bool AreUnitsEnabled() {
  std::error_code error;
  return fs::is_symlink(UnitLinkDirectory() / kPathUnit, error);
}

std::string WhyNoUnits(const settings::AgentPaths& paths) {
  std::error_code error;
  if (paths.state_dir != settings::HomeDirectory() / ".local/state/fieldcost") {
    return "the units watch ~/.local/state/fieldcost only, not " + paths.state_dir.string();
  }
  if (!fs::exists(RuntimeDirectory() / "systemd" / "private", error)) {
    return "no systemd of this user is running";
  }
  const auto installed = Systemctl({"cat", kPathUnit});
  if (!installed || *installed != 0) return "systemd does not find the unit fieldcostd.path";
  return "";
}

Status EnableUnits() { return MustRun({"enable", "--now", kPathUnit}, kEnableUnitsCommand); }

Status DisableUnits() {
  return MustRun({"disable", "--now", kPathUnit, kServiceUnit},
                 "systemctl --user disable --now fieldcostd.path");
}

}  // namespace fieldcost::cli
