#include "common/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/base/text.h"

namespace fieldcost {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
constexpr char kJsonPattern[] = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v)";

spdlog::logger& Logger() {
  // Leaked on purpose: other threads may still log while static objects are destroyed.
  static spdlog::logger* const logger = [] {
    auto* made = new spdlog::logger("fieldcost", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

// Priorities of syslog(3).
std::string_view JournalPrefix(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "<7>";
    case LogLevel::kInfo:
      return "<6>";
    case LogLevel::kWarning:
      return "<4>";
    case LogLevel::kError:
      break;
  }
  return "<3>";
}

LogFormat g_format = LogFormat::kText;

void Write(LogLevel level, std::string line) {
  if (g_format == LogFormat::kJournal) line.insert(0, JournalPrefix(level));
  Logger().log(ToSpdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

bool IsPlainWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '=' && c != '\\';
  });
}

// Quotes as logfmt does.
std::string QuoteField(std::string_view untrusted_text) {
  std::string quoted = "\"";
  for (const char c : EscapeControl(untrusted_text)) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void SetLogFormat(LogFormat format) {
  g_format = format;
  switch (format) {
    case LogFormat::kText:
      return Logger().set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    case LogFormat::kJson:
      return Logger().set_pattern(kJsonPattern, spdlog::pattern_time_type::utc);
    case LogFormat::kJournal:
      return Logger().set_pattern("%v");
  }
}

void SetLogLevel(LogLevel level) { Logger().set_level(ToSpdlog(level)); }

void Log(LogLevel level, std::string_view message) {
  Write(level, g_format == LogFormat::kJson ? fmt::format("\"message\":{}}}", QuoteJson(message))
                                            : EscapeControl(message));
}

void LogEvent(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const bool json = g_format == LogFormat::kJson;
  std::string line = json ? fmt::format("\"event\":{}", QuoteJson(event)) : EscapeControl(event);
  for (const LogField& field : fields) {
    if (json) {
      line += fmt::format(",\"{}\":{}", field.key,
                          field.is_text ? QuoteJson(field.value) : field.value);
    } else {
      const bool plain = !field.is_text || IsPlainWord(field.value);
      line += fmt::format(" {}={}", field.key, plain ? field.value : QuoteField(field.value));
    }
  }
  if (json) line += '}';
  Write(level, std::move(line));
}

}  // namespace fieldcost
