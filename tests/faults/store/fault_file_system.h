#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "tests/faults/store/disk_model.h"

namespace rocksdb {
class FileSystem;
}

namespace fieldcost::faults {

// Kinds of operations that can fail, as bits.
enum Operation : unsigned {
  kCreateFile = 1,
  kWriteFile = 2,
  kSyncFile = 4,
  kCloseFile = 8,
  kTruncateFile = 16,
  kRenameFile = 32,
  kDeleteFile = 64,
  kSyncDirectory = 128,
  kOpenToRead = 256,
  kEveryOperation = 511,
};

struct FaultPlan {
  std::uint64_t seed = 0;
  std::uint64_t power_loss_at = 0;  // this operation never returns; 0 = none
  std::uint64_t fail_at = 0;        // the Nth operation of `fail_kinds` fails; 0 = none
  unsigned fail_kinds = kEveryOperation;
  bool no_space = false;      // ENOSPC instead of EIO
  bool from_then_on = false;  // all later ones fail, too
};

// A directory whose engine works through file_system(): a real directory, plus a DiskModel that
// tracks what would survive a power loss. Operations fail as planned. It never waits for the real
// disk. Thread-safe.
class FaultyDirectory {
 public:
  // Existing files in `directory` count as durable. The directory need not exist yet.
  FaultyDirectory(std::filesystem::path directory, const FaultPlan& plan);
  ~FaultyDirectory();

  std::shared_ptr<rocksdb::FileSystem> file_system() const;

  std::uint64_t operations() const;  // so far, of the kinds in `fail_kinds`
  bool failed() const;               // a planned failure has happened
  bool power_lost() const;           // from then on everything fails
  bool log_failed() const;           // the failure hit a write or sync of the engine's log
  DiskImage AfterPowerLoss();        // at the planned moment if it has passed, otherwise now
  DiskImage Current() const;
  // From now on, operations that are still running change nothing.
  void Freeze();

  class State;

 private:
  std::shared_ptr<State> state_;
};

DiskImage ReadImage(const std::filesystem::path& directory);
void WriteImage(const DiskImage& image, const std::filesystem::path& directory);

}  // namespace fieldcost::faults
