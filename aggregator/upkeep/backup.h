#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "aggregator/store/store.h"
#include "common/base/result.h"

namespace fieldcost::aggregator {

struct BackupOptions {
  std::filesystem::path data_dir;
  std::filesystem::path directory;    // contains the backups; created if absent
  bool without_signing_keys = false;  // the store's secrets are always included
};

struct BackupReport {
  std::uint64_t sequence = 0;  // contains at least every batch up to this one
  std::size_t files = 0;       // saved with the store
};

// Makes a backup of the store and what belongs to it: the secrets and signing keys (never the root
// key, nor other files of keys/), all roots, and the policy in force. Batches may arrive meanwhile.
// Older backups in the directory always stay usable. Errors: see store::Store::Backup(); kNotFound:
// not a data directory; kInvalidArgument: the directory is part of the data directory.
Result<BackupReport> BackUp(store::Store& store, const BackupOptions& options);

struct RestoreReport {
  std::size_t files = 0;
  std::vector<std::filesystem::path> missing_keys;  // which the server needs to start
  // The list of a backup newer than the restored one, if there is one: that backup was interrupted,
  // or its list is missing. Otherwise empty.
  std::filesystem::path passed_over;
};

// Restores the newest backup of `directory` as the data directory `data_dir`, which must have
// neither store nor keys nor published files (kAlreadyExists). Everything is checked before the
// store exists. kNotFound: no backup; kCorrupt: it is damaged.
Result<RestoreReport> Restore(const std::filesystem::path& directory,
                              const std::filesystem::path& data_dir);

}  // namespace fieldcost::aggregator
