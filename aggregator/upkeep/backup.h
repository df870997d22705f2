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
  std::filesystem::path directory;    // of the backups; made if absent
  bool without_signing_keys = false;  // the secrets that belong to the store always go with it
};

struct BackupReport {
  std::uint64_t sequence = 0;  // at least every batch up to this one is in it
  std::size_t files = 0;       // kept with the store
};

// A backup of the store with what belongs to it: the secrets and signing keys (never the root's,
// nor other files of keys/), every root, the policy in force. Batches may come in meanwhile. Older
// backups in the directory stay usable, whatever happens. Errors: see store::Store::Backup();
// kNotFound: not a data directory; kInvalidArgument: the directory is part of the data's.
Result<BackupReport> BackUp(store::Store& store, const BackupOptions& options);

struct RestoreReport {
  std::size_t files = 0;
  std::vector<std::filesystem::path> missing_keys;  // the server needs them to start
  // List of a later backup than the restored one, if there is such: it is missing, or making it
  // was interrupted. Else empty.
  std::filesystem::path passed_over;
};

// The newest backup of `directory` becomes the data directory `data_dir`, which must have neither
// store nor keys nor published files (kAlreadyExists). Everything is checked before the store is
// there. kNotFound: no backup; kCorrupt: it is damaged.
Result<RestoreReport> Restore(const std::filesystem::path& directory,
                              const std::filesystem::path& data_dir);

}  // namespace fieldcost::aggregator
