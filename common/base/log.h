#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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
  using Value = std::variant<std::string, bool, std::int64_t, std::uint64_t, double>;

  LogField(std::string_view name, std::string_view untrusted_text)
      : key(name), value(std::string(untrusted_text)) {}
  // Prevents a literal from converting to bool.
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}
  LogField(std::string_view name, std::same_as<bool> auto truth) : key(name), value(truth) {}
  LogField(std::string_view name, std::signed_integral auto number)
      : key(name), value(std::int64_t{number}) {}
  template <std::unsigned_integral Number>
  requires(!std::same_as<Number, bool>) LogField(std::string_view name, Number number)
      : key(name), value(std::uint64_t{number}) {}
  LogField(std::string_view name, double number) : key(name), value(number) {}

  std::string_view key;
  Value value;
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
