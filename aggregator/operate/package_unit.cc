#include "aggregator/operate/package_unit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <vector>

#include "common/base/file.h"
#include "common/base/run_program.h"

namespace fieldcost::aggregator {
namespace {

namespace fs = std::filesystem;

constexpr char kUnit[] = "fieldcost-aggregator.service";
constexpr char kUser[] = "_fieldcost-aggregator";
constexpr char kDropInDirectory[] = "/etc/systemd/system/fieldcost-aggregator.service.d";
// The unit has ProtectHome= and PrivateTmp=.
constexpr std::array kUnseen = {"/home", "/root", "/run/user", "/tmp", "/var/tmp"};
constexpr std::size_t kMaxDropInBytes = 64 * 1024;
constexpr std::size_t kMaxOutputBytes = 64 * 1024;
constexpr std::chrono::minutes kTimeLimit{5};

fs::path DropIn() { return fs::path(kDropInDirectory) / "fieldcost-aggregator.conf"; }

Result<int> Systemctl(std::vector<std::string> words) {
  words.insert(words.begin(), {"/usr/bin/env", "systemctl", "--quiet"});
  FIELDCOST_ASSIGN(const CommandResult result, RunCommand(words, kMaxOutputBytes, kTimeLimit));
  return result.exit_status;
}

Status MustRun(const std::vector<std::string>& words) {
  FIELDCOST_ASSIGN(const int status, Systemctl(words));
  if (status == 0) return {};
  return Fail(ErrorCode::kUnavailable, "systemctl {} ended with status {}", fmt::join(words, " "),
              status);
}

// The directory is new, so it has no subdirectories.
Status GiveToService(const fs::path& directory) {
  const passwd* const user = ::getpwnam(kUser);
  if (user == nullptr) return Fail(ErrorCode::kUnavailable, "there is no user {}", kUser);
  const auto give = [user](const fs::path& path) -> Status {
    if (::lchown(path.c_str(), user->pw_uid, user->pw_gid) == 0) return {};
    return ErrnoError("give to the service's user", path, errno);
  };
  std::error_code error;
  for (auto it = fs::directory_iterator(directory, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    FIELDCOST_TRY(give(it->path()));
  }
  if (error) return ErrnoError("list", directory, error.value());
  return give(directory);
}

}  // namespace

Status CheckUnitCanStart(const fs::path& directory) {
  const auto refuse = [&](ErrorCode code, const std::string& why) {
    return Fail(code, "start the service of {}: {}", directory.string(), why);
  };
  for (const fs::path unseen : kUnseen) {
    const fs::path inside = directory.lexically_relative(unseen);
    if (inside.empty() || *inside.begin() == "..") continue;
    return refuse(ErrorCode::kInvalidArgument,
                  fmt::format("its unit cannot see {}; choose another directory, such as "
                              "/srv/fieldcost",
                              unseen.string()));
  }
  if (::geteuid() != 0) return refuse(ErrorCode::kPermissionDenied, "only root can; use sudo");
  std::error_code error;
  if (!fs::exists("/run/systemd/system", error)) {
    return refuse(ErrorCode::kUnavailable,
                  "no systemd is running here; without --start, the command to run is shown");
  }
  FIELDCOST_ASSIGN(const int known, Systemctl({"cat", kUnit}));
  if (known != 0 || ::getpwnam(kUser) == nullptr) {
    return refuse(ErrorCode::kUnavailable,
                  "its unit or user is missing; install the package fieldcost-aggregator");
  }
  if (!fs::exists(fs::symlink_status(DropIn(), error))) return {};
  return refuse(ErrorCode::kAlreadyExists,
                fmt::format("by {}, the unit serves another directory; remove that file first",
                            DropIn().string()));
}

Status StartUnit(const MadeDirectory& made) {
  FIELDCOST_TRY(GiveToService(made.config.parent_path()));
  FIELDCOST_ASSIGN(const std::string drop_in, ReadFile(made.unit_drop_in, kMaxDropInBytes));
  FIELDCOST_TRY(MakeDirectories(kDropInDirectory, 0755));
  FIELDCOST_TRY(WriteFileAtomically(DropIn(), drop_in, 0644));
  FIELDCOST_TRY(MustRun({"daemon-reload"}));
  const Status started = MustRun({"enable", "--now", kUnit});
  if (started) return {};
  return Fail(ErrorCode::kUnavailable,
              "start the service of {}: {}; its messages: journalctl -u fieldcost-aggregator; to "
              "check it: sudo -u {} fieldcost-aggregator --check-config --config {}",
              made.config.parent_path().string(), started.error().message, kUser,
              made.config.string());
}

}  // namespace fieldcost::aggregator
