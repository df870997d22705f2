#include "common/systemd/notify.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/text.h"

namespace fieldcost::systemd {
namespace {

// Sends the status as one line, so that it cannot be taken for a command to the manager.
void Notify(std::string_view command, std::string_view status) {
  const std::string state = fmt::format("{}\nSTATUS={}", command, EscapeControl(status));
  ::sd_notify(0, state.c_str());
}

}  // namespace

void NotifyReady(std::string_view status) { Notify("READY=1", status); }

void NotifyReloading() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::string command =
      fmt::format("RELOADING=1\nMONOTONIC_USEC={}",
                  std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  Notify(command, "rereading the settings");
}

void NotifyStopping(std::string_view status) { Notify("STOPPING=1", status); }

void NotifyAlive() { ::sd_notify(0, "WATCHDOG=1"); }

std::optional<std::chrono::microseconds> WatchdogTime() {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  return std::chrono::microseconds(microseconds);
}

bool LogsToJournal() {
  const char* untrusted_stream = std::getenv("JOURNAL_STREAM");
  struct stat info {};
  return untrusted_stream != nullptr && ::fstat(STDERR_FILENO, &info) == 0 &&
         untrusted_stream == fmt::format("{}:{}", info.st_dev, info.st_ino);
}

}  // namespace fieldcost::systemd
