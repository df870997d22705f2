#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "aggregator/probe_server/web/forwarded.h"
#include "common/base/log.h"
#include "common/base/result.h"
#include "common/base/units.h"
#include "common/http/http_server.h"

namespace fieldcost::probe_server {

// The contents of the configuration file; deploy/config/probe-server.toml explains each key.
struct Config {
  http::ServerOptions server;
  std::vector<AddressRange> trusted_proxies;
  std::vector<std::string> hosts;      // the server's names in addition to its certificate's
  std::filesystem::path address_file;  // empty = none
  std::optional<http::ServerOptions> admin;
  std::filesystem::path admin_address_file;
  std::filesystem::path data_dir;
  std::uint64_t retention_days = 90;
  std::uint64_t points_per_user = 20'000'000;  // received within retention_days
  std::uint64_t min_free_bytes = 256 * kMiB;   // below this, batches are refused; 0 = no limit
  std::optional<LogFormat> log_format;         // nullopt: journal if stderr is one, else text
  LogLevel log_level = LogLevel::kInfo;

  std::filesystem::path database() const;
};

// Reads and checks the file. Errors are one line and name the file and the position.
Result<Config> LoadConfig(const std::filesystem::path& path);

}  // namespace fieldcost::probe_server
