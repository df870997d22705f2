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
  kJson,     // an object a line: "time", "level", "message" or "event", then the event's fields
  kJournal,  // "<N>message" as sd-daemon(3) has it, N being syslog's level: a journal has the time
};

// Is to be called before other threads log.
void SetLogFormat(LogFormat format);

// Writes one line to stderr. Control characters in the message (it may
// quote input from outside) are escaped, so that one call is one line. Thread-safe.
void Log(LogLevel level, std::string_view message);

// One fact of an event. Keys are ours: lower case with underscores, none twice in an event.
struct LogField {
  LogField(std::string_view name, std::string_view untrusted_text)
      : key(name), value(untrusted_text), is_text(true) {}
  LogField(std::string_view name, bool truth) : key(name), value(truth ? "true" : "false") {}
  template <typename Number>
  requires(std::integral<Number> || std::floating_point<Number>) &&
      (!std::same_as<Number, bool>)LogField(std::string_view name, Number number)
      : key(name),
  value(fmt::format("{}", number)) {}
  // A literal is a text, not a truth.
  LogField(std::string_view name, const char* text) : LogField(name, std::string_view(text)) {}

  std::string_view key;
  std::string value;
  bool is_text = false;
};

// Writes one line about something that happened: its name, then key=value pairs; texts that are not
// one plain word are quoted, with backslashes for quotes and \xNN for control characters.
// Thread-safe.
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
