#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/admin/latency.h"
#include "aggregator/ingest/counters.h"
#include "aggregator/store/store.h"
#include "aggregator/upkeep/task_states.h"
#include "common/http/http_server.h"

namespace fieldcost::admin {

// The publication in force.
struct PublicationState {
  aggregator::TaskState task;
  std::uint64_t version = 0;
  std::uint64_t rows = 0;
  std::uint64_t withheld = 0;
  std::uint64_t crowded_out = 0;
  std::uint64_t fragments = 0;
};

// Everything that /metrics exposes. Parts that do not exist yet, for example during the start, are
// left out.
struct ServiceState {
  std::string_view version;  // of the program
  bool ready = false;
  std::optional<std::uint64_t> free_bytes;  // on the disk of the data directory
  const ingest::Counters* ingest = nullptr;
  const Latency* batch_latency = nullptr;
  const BatchStageLatency* batch_stages = nullptr;
  std::optional<http::ServerCounters> server;
  std::optional<std::chrono::sys_seconds> certificate_expiry;
  std::uint64_t offline_keys = 0;          // key files that the service does not need
  std::uint64_t certificate_failures = 0;  // failed reloads
  std::optional<store::StoreGauges> store;
  std::optional<std::uint64_t> stored_bytes;  // on the disk
  std::optional<PublicationState> publication;
  std::optional<aggregator::TaskState> retention;
  std::optional<aggregator::ScrubState> scrub;
  std::optional<std::uint64_t> damaged_files;  // of the files next to the store
};

// Renders all metrics (serve::MetricsText), including facts about this process. Labels have few
// values, none from outside.
std::string RenderMetrics(const ServiceState& state);

}  // namespace fieldcost::admin
