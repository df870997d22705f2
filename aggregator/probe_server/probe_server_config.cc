#include "aggregator/probe_server/probe_server_config.h"

#include "aggregator/probe_server/data/data.h"
#include "common/config/toml_file.h"
#include "common/serve/serve_config.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::uint64_t kMaxDays = 3'660;
constexpr std::uint64_t kMaxPoints = 1'000'000'000'000;

void ReadServer(config::TomlFile& file, Config& config) {
  http::ServerOptions& server = config.server;
  server.port = 8445;
  server.max_connections = 2048;
  serve::ReadListener(file, server);
  file.ReadPath("server.address_file", config.address_file);
  file.ReadStrings("server.hosts", config.hosts);
  std::vector<std::string> proxies;
  file.ReadStrings("server.trusted_proxies", proxies);
  for (const std::string& proxy : proxies) {
    const auto range = ParseAddressRange(proxy);
    if (range) config.trusted_proxies.push_back(*range);
    if (!range) file.Refuse("server.trusted_proxies", range.error().message);
  }
  if (server.certificate_file.empty() != server.private_key_file.empty()) {
    file.Refuse(server.certificate_file.empty() ? "server.certificate" : "server.private_key",
                "certificate and private key go together");
  }
  if (server.certificate_file.empty() && !serve::IsLoopback(server.address)) {
    file.Refuse("server.certificate",
                "name a certificate file (PEM), unless server.address is a loopback "
                "address");
  }
}

void ReadData(config::TomlFile& file, Config& config) {
  file.ReadPath("data.dir", config.data_dir);
  file.ReadNumber("data.retention_days", 1, kMaxDays, config.retention_days);
  file.ReadNumber("data.points_per_user", 1, kMaxPoints, config.points_per_user);
  serve::ReadMinFree(file, "data.min_free_mib", config.min_free_bytes);
  if (config.data_dir.empty()) {
    file.Refuse("data.dir", "name a directory for the data");
  }
}

}  // namespace

std::filesystem::path Config::database() const { return data_dir / kDatabaseName; }

Result<Config> LoadConfig(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(config::TomlFile file, config::TomlFile::Load(path));
  Config config;
  ReadServer(file, config);
  config.admin = serve::ReadAdminListener(file, 8446);
  file.ReadPath("admin.address_file", config.admin_address_file);
  ReadData(file, config);
  serve::ReadLog(file, config.log_format, config.log_level);
  if (config.admin) serve::CheckApart(file, config.server, *config.admin);
  FIELDCOST_TRY(file.Finish());
  return config;
}

}  // namespace fieldcost::probe_server
