#include "common/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/base/json_writer.h"
#include "common/base/text.h"

namespace fieldcost {
namespace {

constexpr char kTextPattern[] = "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
// The beginning of an object: `%v` is the rest of it (RestOfObject()). Neither value needs escapes.
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

// Returns the object without its opening bracket.
std::string RestOfObject(JsonWriter& object) { return object.EndObject().TakeValue().substr(1); }

std::string JsonOf(std::string_view event, std::initializer_list<LogField> fields) {
  JsonWriter json;
  json.Object().Member("event", event);
  for (const LogField& field : fields) {
    std::visit([&](const auto& value) { json.Member(field.key, value); }, field.value);
  }
  return RestOfObject(json);
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

std::string TextOf(const LogField::Value& value) {
  const auto* const text = std::get_if<std::string>(&value);
  if (text != nullptr) return IsPlainWord(*text) ? *text : QuoteField(*text);
  return std::visit([](const auto& number) { return fmt::format("{}", number); }, value);
}

std::string LineOf(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line = EscapeControl(event);
  for (const LogField& field : fields) {
    line += fmt::format(" {}={}", field.key, TextOf(field.value));
  }
  return line;
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
  if (g_format != LogFormat::kJson) return Write(level, EscapeControl(message));
  Write(level, RestOfObject(JsonWriter().Object().Member("message", message)));
}

void LogEvent(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Write(level, g_format == LogFormat::kJson ? JsonOf(event, fields) : LineOf(event, fields));
}

}  // namespace fieldcost
