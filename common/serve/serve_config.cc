#include "common/serve/serve_config.h"

#include <fmt/format.h>

#include <utility>

#include "common/base/text.h"
#include "common/base/units.h"
#include "common/http/ip_address.h"
#include "common/systemd/notify.h"

namespace fieldcost::serve {
namespace {

constexpr std::uint64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kMaxRequestsPerMinute = 10'000'000;
constexpr std::uint64_t kMaxFreeMib = 1024 * kKiB;

// Suitable for an office or university with a hundred machines behind one address.
constexpr std::size_t kConnectionsPerAddress = 256;
constexpr std::uint64_t kRequestsPerMinutePerAddress = 6'000;

constexpr std::pair<std::string_view, std::optional<LogFormat>> kLogFormats[] = {
    {"auto", std::nullopt},
    {"text", LogFormat::kText},
    {"json", LogFormat::kJson},
    {"journal", LogFormat::kJournal},
};
constexpr std::pair<std::string_view, LogLevel> kLogLevels[] = {
    {"debug", LogLevel::kDebug},
    {"info", LogLevel::kInfo},
    {"warning", LogLevel::kWarning},
    {"error", LogLevel::kError},
};

// Reads a word out of a fixed set.
template <typename Value, std::size_t kCount>
void ReadWord(config::TomlFile& file, std::string_view key,
              const std::pair<std::string_view, Value> (&words)[kCount], std::string word,
              Value& value) {
  file.ReadString(key, word);
  std::string expected;
  for (const auto& [known, meaning] : words) {
    if (word == known) {
      value = meaning;
      return;
    }
    expected += fmt::format("{}\"{}\"", expected.empty() ? "" : ", ", known);
  }
  file.Refuse(key, fmt::format("expected one of {}, found '{}'", expected, EscapeControl(word)));
}

}  // namespace

bool IsLoopback(const std::string& address) {
  const auto parsed = http::ParseIpAddress(address);
  return parsed && parsed->IsLoopback();
}

void ReadListener(config::TomlFile& file, http::ServerOptions& options) {
  options.max_connections_per_address = kConnectionsPerAddress;
  file.ReadString("server.address", options.address);
  file.ReadNumber("server.port", 0, 65'535, options.port);
  file.ReadPath("server.certificate", options.certificate_file);
  file.ReadPath("server.private_key", options.private_key_file);
  file.ReadNumber("server.max_connections", 1, kMaxConnections, options.max_connections);
  file.ReadNumber("server.max_connections_per_address", 0, kMaxConnections,
                  options.max_connections_per_address);
  std::uint64_t per_minute = kRequestsPerMinutePerAddress;
  file.ReadUint("server.requests_per_minute_per_address", 0, kMaxRequestsPerMinute, per_minute);
  options.requests_per_second_per_address = static_cast<double>(per_minute) / 60;
  options.request_burst_per_address = per_minute;
}

std::optional<http::ServerOptions> ReadAdminListener(config::TomlFile& file, std::uint16_t port) {
  http::ServerOptions options;
  options.port = port;
  file.ReadString("admin.address", options.address);
  file.ReadNumber("admin.port", 0, 65'535, options.port);
  if (!IsLoopback(options.address)) {
    file.Refuse("admin.address", "expected a loopback address: 127.0.0.1 or ::1");
  }
  if (!file.Has("admin")) return std::nullopt;
  return options;
}

void CheckApart(config::TomlFile& file, const http::ServerOptions& server,
                const http::ServerOptions& admin) {
  if (admin.port == 0 || admin.port != server.port) return;
  const std::string& address = server.address;
  if (address != admin.address && address != "0.0.0.0" && address != "::") return;
  file.Refuse(file.Has("admin.port") ? "admin.port" : "server.port",
              fmt::format("{} is also the port of the other listener", server.port));
}

void ReadLog(config::TomlFile& file, std::optional<LogFormat>& format, LogLevel& level) {
  ReadWord(file, "log.format", kLogFormats, "auto", format);
  ReadWord(file, "log.level", kLogLevels, "info", level);
}

void UseLog(std::optional<LogFormat> format, LogLevel level) {
  const LogFormat standard = systemd::LogsToJournal() ? LogFormat::kJournal : LogFormat::kText;
  SetLogFormat(format.value_or(standard));
  SetLogLevel(level);
}

void ReadMib(config::TomlFile& file, std::string_view key, std::uint64_t least_mib,
             std::uint64_t most_mib, std::uint64_t& bytes) {
  std::uint64_t mib = bytes / kMiB;
  file.ReadUint(key, least_mib, most_mib, mib);
  bytes = mib * kMiB;
}

void ReadMinFree(config::TomlFile& file, std::string_view key, std::uint64_t& bytes) {
  ReadMib(file, key, 0, kMaxFreeMib, bytes);
}

}  // namespace fieldcost::serve
