#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "aggregator/ingest/admission.h"
#include "aggregator/publish/publisher.h"
#include "aggregator/store/store.h"
#include "common/base/result.h"
#include "common/http/server.h"

namespace fieldcost::aggregator {

// Everything the configuration file says; deploy/config/aggregator.toml explains each key.
struct Config {
  http::ServerOptions server;
  std::filesystem::path address_file;  // empty = none
  store::StoreOptions store;
  unsigned ingest_threads = 16;
  std::size_t ingest_queue = 256;
  ingest::EnrolmentMode enrolment_mode = ingest::EnrolmentMode::kOpen;
  std::vector<std::filesystem::path> token_files;
  publish::PublisherOptions publish;
  std::chrono::seconds publish_interval{3600};  // 0 = only on demand
};

// Reads and checks the file. Errors are one line and name file and place.
Result<Config> LoadConfig(const std::filesystem::path& path);

}  // namespace fieldcost::aggregator
