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
  kWritten,  // the sums are durable, memory still holds the old view
};

struct StoreOptions {
  std::filesystem::path data_dir;             // made if absent
  std::size_t checkpoint_rows = 1'000'000;    // dirty rows that start a checkpoint
  std::size_t checkpoint_bytes = 256 * kMiB;  // their memory that starts one
  unsigned checkpoint_seconds = 30;           // longest time between two; 0 = no background thread
  std::size_t write_buffer_bytes = 64 * kMiB;
  std::size_t block_cache_bytes = 32 * kMiB;
  unsigned probation_batches = 0;         // honest batches before an agent counts; 0 = at once
  std::chrono::seconds probation_age{0};  // with these: since its first batch in the epoch
  std::size_t held_bytes = 256 * kMiB;    // of batches on probation, all agents together ...
  std::size_t held_bytes_per_agent = 2 * kMiB;         // ... and of one
  std::function<void(CheckpointStage)> on_checkpoint;  // observer; may be empty
  std::shared_ptr<rocksdb::FileSystem> file_system;    // null = the system's; tests inject faults
};

}  // namespace fieldcost::store
