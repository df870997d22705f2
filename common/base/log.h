#pragma once

#include <fmt/core.h>

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace fieldcost {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Lines below this level are dropped. Default kInfo. Thread-safe.
void SetLogLevel(LogLevel level);

enum class LogFormat {
  kText,     // UTC time, level, message. The default
  kJson,     // one object per line: "time", "level", "message" or "event", then the event's fields
  kJournal,  // "<N>message" as in sd-daemon(3), with syslog's level N; the journal adds the time
};

// Must be called before other threads log.
void SetLogFormat(LogFormat format);

// Writes one line to stderr. Control characters in the message, which may quote external input, are
// escaped, so that one call always writes one line. Thread-safe.
void Log(LogLevel level, std::string_view message);

// A field of an event. Keys are literals in lower case with underscores, unique within an event.
struct LogField {
  LogField(std::string_view name, std::string_view untrusted_text)
      : key(name), value(untrusted_text), is_text(true) {}
  LogField(std::string_view name, bool truth) : key(name), value(truth ? "true" : "false") {}
  template <typename Number>
  requires(std::integral<Number> || std::floating_point<Number>) &&
      (!std::same_as<Number, bool>)LogField(std::string_view name, Number number)
      : key(name),
  value(fmt::format("{}", number)) {}
  // Prevents a literal from converting to bool.
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}

  std::string_view key;
  std::string value;
  bool is_text = false;
};

// Logs an event on one line: its name, then key=value pairs. Texts that are not a single plain word
// are quoted, with backslashes before quotes and \xNN for control characters. Thread-safe.
void LogEvent(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

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
