#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "aggregator/ingest/admission.h"
#include "aggregator/ingest/ingest_options.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/log.h"
#include "common/base/result.h"
#include "common/http/http_server.h"

namespace fieldcost::aggregator {

// Retention is in whole weeks, and long enough that a batch that is still accepted cannot contain
// expired rows.
inline constexpr std::uint64_t kMinRetentionWeeks = 8;

// The listener for the operator: plain HTTP on a loopback address.
struct AdminConfig {
  http::ServerOptions server;
  std::filesystem::path address_file;              // empty = none
  std::vector<std::filesystem::path> token_files;  // none: no operation is allowed
};

// The contents of the configuration file; deploy/config/aggregator.toml explains each key.
struct Config {
  http::ServerOptions server;
  std::filesystem::path address_file;   // empty = none
  std::chrono::seconds drain_delay{0};  // from "not ready" until no connection is accepted
  std::optional<AdminConfig> admin;
  store::StoreOptions store;
  unsigned retention_weeks = 0;               // 0 = everything is kept
  unsigned scrub_days = 7;                    // for reading all files of the store once; 0 = never
  std::uint64_t min_free_bytes = 256 * kMiB;  // below it no batch is accepted; 0 = no limit
  unsigned ingest_threads = 16;
  std::size_t ingest_queue = 256;
  ingest::IngestOptions ingest{
      .modules = {}, .batches_per_agent_per_hour = 600, .rows_per_agent_per_hour = 65'536};
  ingest::EnrolmentMode enrolment_mode = ingest::EnrolmentMode::kOpen;
  std::vector<std::filesystem::path> token_files;
  publish::PublisherOptions publish;
  std::chrono::seconds publish_interval{3600};  // 0 = only on demand
  std::optional<LogFormat> log_format;  // none: journal format if stderr is a journal, or text
  LogLevel log_level = LogLevel::kInfo;
};

// Reads and validates the file. Errors are one line and name the file and the place.
Result<Config> LoadConfig(const std::filesystem::path& path);

}  // namespace fieldcost::aggregator
