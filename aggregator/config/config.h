#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "aggregator/ingest/admission.h"
#include "aggregator/ingest/options.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/log.h"
#include "common/base/result.h"
#include "common/http/server.h"

namespace fieldcost::aggregator {

// Retention is by whole weeks, and never so short that a batch which is still accepted could hold
// rows that are not.
inline constexpr std::uint64_t kMinRetentionWeeks = 8;

// The listener for the operator: plain HTTP on a loopback address.
struct AdminConfig {
  http::ServerOptions server;
  std::filesystem::path address_file;              // empty = none
  std::vector<std::filesystem::path> token_files;  // none: nobody may have anything done
};

// Everything the configuration file says; deploy/config/aggregator.toml explains each key.
struct Config {
  http::ServerOptions server;
  std::filesystem::path address_file;   // empty = none
  std::chrono::seconds drain_delay{0};  // from "not ready" to the end of accepting
  std::optional<AdminConfig> admin;
  store::StoreOptions store;
  unsigned retention_weeks = 0;               // 0 = everything is kept
  unsigned scrub_days = 7;                    // in which all files of the store are read; 0 = never
  std::uint64_t min_free_bytes = 256 * kMiB;  // below it no batch is taken; 0 = no limit
  unsigned ingest_threads = 16;
  std::size_t ingest_queue = 256;
  ingest::IngestOptions ingest{
      .modules = {}, .batches_per_agent_per_hour = 600, .rows_per_agent_per_hour = 65'536};
  ingest::EnrolmentMode enrolment_mode = ingest::EnrolmentMode::kOpen;
  std::vector<std::filesystem::path> token_files;
  publish::PublisherOptions publish;
  std::chrono::seconds publish_interval{3600};  // 0 = only on demand
  std::optional<LogFormat> log_format;          // none: for the journal if stderr is one, else text
  LogLevel log_level = LogLevel::kInfo;
};

// Reads and checks the file. Errors are one line and name file and place.
Result<Config> LoadConfig(const std::filesystem::path& path);

}  // namespace fieldcost::aggregator
