#include "aggregator/probes/config.h"

#include <arpa/inet.h>

#include <string>
#include <string_view>
#include <utility>

#include "aggregator/probes/data/data.h"
#include "common/base/text.h"
#include "common/config/toml_file.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::uint64_t kMaxDays = 3'660;
constexpr std::uint64_t kMaxSteps = 1'000'000'000'000;
constexpr std::uint64_t kMaxFreeMib = 1024 * kKiB;
constexpr std::uint64_t kMaxConnections = 1'000'000;
constexpr std::uint64_t kMaxRequestsPerMinute = 10'000'000;

// Suit an office of a hundred machines behind one address.
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

// Reads a whole number into a variable of any integer type.
template <typename Number>
void Read(config::TomlFile& file, std::string_view key, std::uint64_t min, std::uint64_t max,
          Number& value) {
  auto wide = static_cast<std::uint64_t>(value);
  file.ReadUint(key, min, max, wide);
  value = static_cast<Number>(wide);
}

// Reads one of a few words.
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

bool IsLoopback(const std::string& address) {
  in_addr v4{};
  if (::inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

void ReadServer(config::TomlFile& file, Config& config) {
  http::ServerOptions& server = config.server;
  server.port = 8445;
  server.max_connections = 2048;
  server.max_connections_per_address = kConnectionsPerAddress;
  file.ReadString("server.address", server.address);
  Read(file, "server.port", 0, 65'535, server.port);
  file.ReadPath("server.certificate", server.certificate_file);
  file.ReadPath("server.private_key", server.private_key_file);
  file.ReadPath("server.address_file", config.address_file);
  Read(file, "server.max_connections", 1, kMaxConnections, server.max_connections);
  Read(file, "server.max_connections_per_address", 0, kMaxConnections,
       server.max_connections_per_address);
  std::uint64_t per_minute = kRequestsPerMinutePerAddress;
  file.ReadUint("server.requests_per_minute_per_address", 0, kMaxRequestsPerMinute, per_minute);
  server.requests_per_second_per_address = static_cast<double>(per_minute) / 60;
  server.request_burst_per_address = per_minute;
  if (server.certificate_file.empty() != server.private_key_file.empty()) {
    file.Refuse(server.certificate_file.empty() ? "server.certificate" : "server.private_key",
                "certificate and private key go together");
  }
  if (server.certificate_file.empty() && !IsLoopback(server.address)) {
    file.Refuse("server.certificate",
                "a certificate file (PEM) must be named, unless server.address is a loopback "
                "address");
  }
}

void ReadAdmin(config::TomlFile& file, Config& config) {
  http::ServerOptions admin;
  admin.port = 8446;
  file.ReadString("admin.address", admin.address);
  Read(file, "admin.port", 0, 65'535, admin.port);
  file.ReadPath("admin.address_file", config.admin_address_file);
  if (!IsLoopback(admin.address)) {
    file.Refuse("admin.address", "expected a loopback address: 127.0.0.1 or ::1");
  }
  if (file.Has("admin")) config.admin = std::move(admin);
}

void ReadData(config::TomlFile& file, Config& config) {
  file.ReadPath("data.dir", config.data_dir);
  Read(file, "data.retention_days", 1, kMaxDays, config.retention_days);
  Read(file, "data.steps_per_user", 1, kMaxSteps, config.steps_per_user);
  std::uint64_t free_mib = config.min_free_bytes / kMiB;
  file.ReadUint("data.min_free_mib", 0, kMaxFreeMib, free_mib);
  config.min_free_bytes = free_mib * kMiB;
  if (config.data_dir.empty()) {
    file.Refuse("data.dir", "a directory for the data must be named");
  }
}

}  // namespace

std::filesystem::path Config::database() const { return data_dir / kDatabaseName; }

Result<Config> LoadConfig(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(config::TomlFile file, config::TomlFile::Load(path));
  Config config;
  ReadServer(file, config);
  ReadAdmin(file, config);
  ReadData(file, config);
  ReadWord(file, "log.format", kLogFormats, "auto", config.log_format);
  ReadWord(file, "log.level", kLogLevels, "info", config.log_level);
  const bool ports_meet =
      config.admin && config.admin->port != 0 && config.admin->port == config.server.port;
  if (ports_meet) {
    file.Refuse(file.Has("admin.port") ? "admin.port" : "server.port",
                fmt::format("{} is the port of the other listener, too", config.server.port));
  }
  FIELDCOST_TRY(file.Finish());
  return config;
}

}  // namespace fieldcost::probe_server
