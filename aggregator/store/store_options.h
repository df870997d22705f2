#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "common/base/units.h"

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::store {

enum class CheckpointStage {
  kFrozen,   // the dirty rows are set aside, nothing is written yet
  kWritten,  // the sums are durable, memory still has the old view
};

struct StoreOptions {
  std::filesystem::path data_dir;             // created if absent
  std::size_t checkpoint_rows = 1'000'000;    // number of dirty rows that starts a checkpoint
  std::size_t checkpoint_bytes = 256 * kMiB;  // memory of dirty rows that starts a checkpoint
  unsigned checkpoint_seconds = 30;           // longest time between two; 0 = no background thread
  std::size_t write_buffer_bytes = 64 * kMiB;
  std::size_t block_cache_bytes = 32 * kMiB;
  unsigned probation_batches = 0;         // honest batches before an agent counts; 0 = at once
  std::chrono::seconds probation_age{0};  // also required: time since its first batch in the epoch
  std::size_t held_bytes = 256 * kMiB;    // of held batches, for all agents together ...
  std::size_t held_bytes_per_agent = 2 * kMiB;         // ... and per agent
  std::function<void(CheckpointStage)> on_checkpoint;  // observer; may be empty
  std::shared_ptr<rocksdb::FileSystem> file_system;    // null = the system's; tests inject faults
};

}  // namespace fieldcost::store
