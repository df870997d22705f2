#include "aggregator/config.h"

#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"
#include "common/config/toml_file.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::uint64_t kMaxThreads = 256;
constexpr std::uint64_t kMaxQueue = 65'536;
constexpr std::uint64_t kMaxSeconds = 366 * 86'400;
constexpr std::uint64_t kMaxMemoryMib = 64 * kKiB;

// Reads a whole number into a variable of any integer type.
template <typename Number>
void Read(config::TomlFile& file, std::string_view key, std::uint64_t min, std::uint64_t max,
          Number& value) {
  auto wide = static_cast<std::uint64_t>(value);
  file.ReadUint(key, min, max, wide);
  value = static_cast<Number>(wide);
}

void ReadMib(config::TomlFile& file, std::string_view key, std::size_t& bytes) {
  std::uint64_t mib = bytes / kMiB;
  file.ReadUint(key, 1, kMaxMemoryMib, mib);
  bytes = mib * kMiB;
}

void ReadSeconds(config::TomlFile& file, std::string_view key, std::uint64_t min,
                 std::chrono::seconds& value) {
  auto seconds = static_cast<std::uint64_t>(value.count());
  file.ReadUint(key, min, kMaxSeconds, seconds);
  value = std::chrono::seconds(seconds);
}

void ReadEnrolment(config::TomlFile& file, const std::filesystem::path& folder, Config& config) {
  std::string mode = "open";
  std::vector<std::string> token_files;
  file.ReadString("enrolment.mode", mode);
  file.ReadStrings("enrolment.token_files", token_files);
  if (mode != "open" && mode != "token") {
    file.Refuse("enrolment.mode", R"(expected "open" or "token")");
  }
  const bool token = mode == "token";
  if (token && token_files.empty()) {
    file.Refuse("enrolment.mode", "without enrolment.token_files nobody could enrol");
  }
  config.enrolment_mode = token ? ingest::EnrolmentMode::kToken : ingest::EnrolmentMode::kOpen;
  for (const std::string& name : token_files) config.token_files.push_back(folder / name);
}

}  // namespace

Result<Config> LoadConfig(const std::filesystem::path& path) {
  FIELDCOST_ASSIGN(config::TomlFile file, config::TomlFile::Load(path));
  Config config;
  config.server.port = 8443;

  file.ReadString("server.address", config.server.address);
  Read(file, "server.port", 0, 65'535, config.server.port);
  file.ReadPath("server.certificate", config.server.certificate_file);
  file.ReadPath("server.private_key", config.server.private_key_file);
  Read(file, "server.threads", 1, kMaxThreads, config.server.threads);
  file.ReadPath("server.address_file", config.address_file);

  file.ReadPath("store.data_dir", config.store.data_dir);
  Read(file, "store.checkpoint_rows", 1, 1'000'000'000, config.store.checkpoint_rows);
  ReadMib(file, "store.checkpoint_mib", config.store.checkpoint_bytes);
  Read(file, "store.checkpoint_seconds", 1, 86'400, config.store.checkpoint_seconds);
  ReadMib(file, "store.write_buffer_mib", config.store.write_buffer_bytes);
  ReadMib(file, "store.block_cache_mib", config.store.block_cache_bytes);

  Read(file, "ingest.threads", 1, kMaxThreads, config.ingest_threads);
  Read(file, "ingest.queue", 1, kMaxQueue, config.ingest_queue);

  ReadEnrolment(file, path.parent_path(), config);

  ReadSeconds(file, "publish.interval_seconds", 0, config.publish_interval);
  Read(file, "publish.contribution_threshold", 1, 1'000'000, config.publish.contribution_threshold);
  Read(file, "publish.refresh_seconds", 1, kMaxSeconds, config.publish.refresh_seconds);
  ReadSeconds(file, "publish.expiry_seconds", 60, config.publish.lifetime);

  if (config.store.data_dir.empty()) {
    file.Refuse("store.data_dir", "a directory for the data must be named");
  }
  if (config.server.certificate_file.empty()) {
    file.Refuse("server.certificate", "a certificate file (PEM) must be named");
  }
  if (config.server.private_key_file.empty()) {
    file.Refuse("server.private_key", "the certificate's private key file (PEM) must be named");
  }
  if (config.publish_interval > config.publish.lifetime) {
    file.Refuse("publish.interval_seconds", "must not be longer than publish.expiry_seconds");
  }
  FIELDCOST_TRY(file.Finish());
  config.publish.data_dir = config.store.data_dir;
  return config;
}

}  // namespace fieldcost::aggregator
