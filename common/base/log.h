#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace fieldcost {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below this level are dropped. Default kInfo. Thread-safe.
void SetLogLevel(LogLevel level);

// From now on a line is "<N>message" as sd-daemon(3) has it, N being syslog's level: for a journal,
// which adds the time itself. To be called before other threads log.
void LogForJournal();

// Writes one line to stderr: UTC time, level, message. Control characters in the message (it may
// quote input from outside) are escaped, so that one call is one line. Thread-safe.
void Log(LogLevel level, std::string_view message);

template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kError, fmt::format(format, std::forward<Args>(args)...));
}

template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kDebug, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace fieldcost
