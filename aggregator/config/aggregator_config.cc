#include "aggregator/config/aggregator_config.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/config/toml_file.h"
#include "common/http/ip_address.h"
#include "common/serve/serve_config.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::uint64_t kMaxThreads = 256;
constexpr std::uint64_t kMaxQueue = 65'536;
constexpr std::uint64_t kMaxSeconds = 366 * 86'400;
constexpr std::uint64_t kMaxMemoryMib = 64 * kKiB;
constexpr std::uint64_t kMaxDrainSeconds = 600;
constexpr std::uint64_t kMaxRetentionWeeks = 52 * 100;
constexpr std::uint64_t kMaxScrubDays = 365;
constexpr std::uint64_t kMaxProbationBatches = 1'000;
constexpr std::uint64_t kMaxProbationHours = 24 * 28;
constexpr std::uint64_t kMaxBatchesPerHour = 1'000'000;
constexpr std::uint64_t kMaxRowsPerHour = 1'000'000'000;

void ReadMemory(config::TomlFile& file, std::string_view key, std::size_t& bytes) {
  serve::ReadMib(file, key, 1, kMaxMemoryMib, bytes);
}

void ReadSeconds(config::TomlFile& file, std::string_view key, std::uint64_t min,
                 std::chrono::seconds& value) {
  auto seconds = static_cast<std::uint64_t>(value.count());
  file.ReadUint(key, min, kMaxSeconds, seconds);
  value = std::chrono::seconds(seconds);
}

void ReadServer(config::TomlFile& file, Config& config) {
  http::ServerOptions& server = config.server;
  server.port = 8443;
  server.max_connections = 4096;
  serve::ReadListener(file, server);
  file.ReadStrings("server.names", config.ingest.names);
  for (std::string& name : config.ingest.names) {
    name = LowerCase(name);
    if (name.find_first_of(":/") != std::string::npos && !http::ParseIpAddress(name)) {
      file.Refuse("server.names", "expected host names or addresses, without scheme and port");
    }
  }
  file.ReadNumber("server.threads", 1, kMaxThreads, server.threads);
  file.ReadPath("server.address_file", config.address_file);
  std::uint64_t drain_seconds = 0;
  file.ReadUint("server.drain_seconds", 0, kMaxDrainSeconds, drain_seconds);
  config.drain_delay = std::chrono::seconds(drain_seconds);
  if (server.certificate_file.empty()) {
    file.Refuse("server.certificate", "name a certificate file (PEM)");
  }
  if (server.private_key_file.empty()) {
    file.Refuse("server.private_key", "name the certificate's private key file (PEM)");
  }
}

void ReadAdmin(config::TomlFile& file, const std::filesystem::path& folder, Config& config) {
  AdminConfig admin;
  std::vector<std::string> token_files;
  const auto listener = serve::ReadAdminListener(file, 8444);
  file.ReadPath("admin.address_file", admin.address_file);
  file.ReadStrings("admin.token_files", token_files);
  for (const std::string& name : token_files) admin.token_files.push_back(folder / name);
  if (!listener) return;
  admin.server = *listener;
  config.admin = std::move(admin);
}

void ReadStore(config::TomlFile& file, Config& config) {
  store::StoreOptions& store = config.store;
  file.ReadPath("store.data_dir", store.data_dir);
  file.ReadNumber("store.checkpoint_rows", 1, 1'000'000'000, store.checkpoint_rows);
  ReadMemory(file, "store.checkpoint_mib", store.checkpoint_bytes);
  file.ReadNumber("store.checkpoint_seconds", 1, 86'400, store.checkpoint_seconds);
  ReadMemory(file, "store.write_buffer_mib", store.write_buffer_bytes);
  ReadMemory(file, "store.block_cache_mib", store.block_cache_bytes);
  file.ReadNumber("store.retention_weeks", 0, kMaxRetentionWeeks, config.retention_weeks);
  file.ReadNumber("store.scrub_days", 0, kMaxScrubDays, config.scrub_days);
  serve::ReadMinFree(file, "store.min_free_mib", config.min_free_bytes);
  if (store.data_dir.empty()) {
    file.Refuse("store.data_dir", "name a directory for the data");
  }
  if (config.retention_weeks != 0 && config.retention_weeks < kMinRetentionWeeks) {
    file.Refuse("store.retention_weeks",
                fmt::format("expected 0 (keep everything) or at least {}", kMinRetentionWeeks));
  }
}

void ReadIngest(config::TomlFile& file, Config& config) {
  file.ReadNumber("ingest.threads", 1, kMaxThreads, config.ingest_threads);
  file.ReadNumber("ingest.queue", 1, kMaxQueue, config.ingest_queue);
  config.store.probation_batches = 3;
  file.ReadNumber("ingest.probation_batches", 0, kMaxProbationBatches,
                  config.store.probation_batches);
  unsigned probation_hours = 24;
  file.ReadNumber("ingest.probation_hours", 0, kMaxProbationHours, probation_hours);
  config.store.probation_age = std::chrono::hours(probation_hours);
  ReadMemory(file, "ingest.held_mib", config.store.held_bytes);
  config.ingest.held_bytes_per_address = 32 * kMiB;
  serve::ReadMib(file, "ingest.held_mib_per_address", 0, kMaxMemoryMib,
                 config.ingest.held_bytes_per_address);
  file.ReadStrings("ingest.modules", config.ingest.modules);
  file.ReadNumber("ingest.batches_per_agent_per_hour", 0, kMaxBatchesPerHour,
                  config.ingest.batches_per_agent_per_hour);
  file.ReadNumber("ingest.rows_per_agent_per_hour", 0, kMaxRowsPerHour,
                  config.ingest.rows_per_agent_per_hour);
}

void ReadEnrolment(config::TomlFile& file, const std::filesystem::path& folder, Config& config) {
  std::string mode = "open";
  std::vector<std::string> token_files;
  file.ReadString("enrolment.mode", mode);
  file.ReadStrings("enrolment.token_files", token_files);
  if (mode != "open" && mode != "token") {
    file.Refuse("enrolment.mode",
                fmt::format(R"(expected "open" or "token", found '{}')", EscapeControl(mode)));
  }
  const bool token = mode == "token";
  config.enrolment_mode = token ? ingest::EnrolmentMode::kToken : ingest::EnrolmentMode::kOpen;
  for (const std::string& name : token_files) config.token_files.push_back(folder / name);
}

// Every volunteer reads these texts before joining, so each must be one that a terminal can show.
void ReadOperator(config::TomlFile& file, wire::OperatorStatement& operated_by) {
  for (std::string wire::OperatorStatement::*text :
       {&wire::OperatorStatement::name, &wire::OperatorStatement::contact,
        &wire::OperatorStatement::privacy}) {
    const std::string key = text == &wire::OperatorStatement::name      ? "operator.name"
                            : text == &wire::OperatorStatement::contact ? "operator.contact"
                                                                        : "operator.privacy";
    file.ReadString(key, operated_by.*text);
    wire::OperatorStatement alone;
    alone.*text = operated_by.*text;
    if (const Status status = wire::CheckOperator(alone); !status) {
      file.Refuse(key, status.error().message);
    }
  }
}

// Checks values together. An error names a key of the combination that is in the file.
void CheckTogether(config::TomlFile& file, const Config& config) {
  if (config.publish_interval > config.publish.lifetime) {
    const bool interval = file.Has("publish.interval_seconds");
    file.Refuse(
        interval ? "publish.interval_seconds" : "publish.expiry_seconds",
        fmt::format("publish.interval_seconds ({}) must not exceed publish.expiry_seconds ({})",
                    config.publish_interval.count(), config.publish.lifetime.count()));
  }
  if (config.admin) serve::CheckApart(file, config.server, config.admin->server);
}

}  // namespace

Result<Config> LoadConfig(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(config::TomlFile file, config::TomlFile::Load(path));
  Config config;
  ReadServer(file, config);
  ReadAdmin(file, path.parent_path(), config);
  ReadStore(file, config);
  ReadIngest(file, config);
  ReadEnrolment(file, path.parent_path(), config);

  ReadSeconds(file, "publish.interval_seconds", 0, config.publish_interval);
  file.ReadNumber("publish.contribution_threshold", 1, 1'000'000,
                  config.publish.contribution_threshold);
  file.ReadNumber("publish.refresh_seconds", 1, kMaxSeconds, config.publish.refresh_seconds);
  ReadSeconds(file, "publish.expiry_seconds", 60, config.publish.lifetime);

  ReadOperator(file, config.publish.operated_by);
  serve::ReadLog(file, config.log_format, config.log_level);

  CheckTogether(file, config);
  FIELDCOST_TRY(file.Finish());
  config.publish.data_dir = config.store.data_dir;
  return config;
}

}  // namespace fieldcost::aggregator
