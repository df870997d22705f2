#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::store {

// Called after each sync of the store's log that succeeded, with its duration, by the thread that
// made it. A sync is shared by all batches that arrived during the previous one, so it belongs to
// none of them. Must be thread-safe and fast.
using OnLogSync = std::function<void(std::chrono::nanoseconds)>;

// Returns a file system for StoreOptions::file_system: that of the machine, with an observer.
std::shared_ptr<rocksdb::FileSystem> WithLogSyncTimes(OnLogSync on_log_sync);

}  // namespace fieldcost::store
