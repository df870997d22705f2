#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aggregator/admin/latency.h"
#include "aggregator/ingest/counters.h"
#include "aggregator/store/store.h"
#include "common/base/clock.h"
#include "common/http/server.h"

namespace fieldcost::admin {

// How a task that is repeated went.
struct TaskState {
  std::uint64_t successes = 0;
  std::uint64_t failures = 0;
  std::optional<WallTime> last_success;
  std::chrono::microseconds last_duration{0};
};

// Reading the store's files in the background.
struct ScrubState {
  TaskState rounds;         // through all of them; a failure: something is damaged
  std::uint64_t bytes = 0;  // read since the start
};

// What is published now.
struct PublicationState {
  TaskState task;
  std::uint64_t version = 0;
  std::uint64_t rows = 0;
  std::uint64_t withheld = 0;
  std::uint64_t crowded_out = 0;
  std::uint64_t fragments = 0;
};

// Everything that /metrics tells. What is not there yet, e.g. while the service starts, is left
// out.
struct ServiceState {
  std::string_view version;  // of the program
  bool ready = false;
  std::optional<std::uint64_t> free_bytes;  // on the disk of the data, for us
  const ingest::Counters* ingest = nullptr;
  const Latency* batch_latency = nullptr;
  std::optional<http::ServerCounters> server;
  std::optional<std::chrono::sys_seconds> certificate_expiry;
  std::uint64_t offline_keys = 0;          // files of keys that the service does not need
  std::uint64_t certificate_failures = 0;  // times it could not be loaded again
  std::optional<store::StoreGauges> store;
  std::optional<std::uint64_t> stored_bytes;  // on the disk
  std::optional<PublicationState> publication;
  std::optional<TaskState> retention;
  std::optional<ScrubState> scrub;
  std::optional<std::uint64_t> damaged_files;  // of those beside the store
};

// Prometheus' text format 0.0.4, with facts about this process. Labels have few values, none of
// them from outside.
std::string RenderMetrics(const ServiceState& state);

}  // namespace fieldcost::admin
