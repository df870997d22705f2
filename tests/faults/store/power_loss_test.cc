// The store against power loss: unsynced data is dropped, torn or reordered at a random operation,
// several times in a row, and also while the store is opened after the previous loss. See
// ../README.md.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include <iostream>

#include "tests/faults/network/fault_run.h"
#include "tests/faults/store/child.h"
#include "tests/faults/store/fault_file_system.h"
#include "tests/faults/store/fleet.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 4;
constexpr int kLossesInARow = 3;
constexpr std::uint64_t kMaxOperations = 250;  // about what one run of the fleet needs
constexpr std::uint64_t kShortSeeds = 150;
constexpr std::uint64_t kLongSeeds = 1'000;

store::StoreOptions OptionsOf(const std::filesystem::path& data_dir, unsigned probation_batches,
                              Random& random) {
  constexpr std::size_t kWriteBuffers[] = {4 * kMiB, 8 * kMiB, 64 * kMiB};
  return {.data_dir = data_dir,
          .checkpoint_rows = 20 + random() % 60,
          .checkpoint_seconds = random() % 4 == 0 ? 0U : 3600U,
          .write_buffer_bytes = kWriteBuffers[random() % 3],
          .probation_batches = probation_batches};
}

// Runs until the power loss, or switches the power off after the work; the next run starts from
// what is then on disk. The engine is never closed: its threads end with the process.
Status RunToPowerLoss(const std::filesystem::path& data_dir, const std::filesystem::path& next_dir,
                      unsigned probation_batches, Random& random, Fleet& fleet) {
  auto* const disk = new FaultyDirectory(
      data_dir / "store", {.seed = random(), .power_loss_at = 1 + random() % kMaxOperations});
  store::StoreOptions options = OptionsOf(data_dir, probation_batches, random);
  options.file_system = disk->file_system();
  const std::uint64_t work_seed = random();
  const bool expire = random() % 4 == 0;
  auto* const result = new Status;
  static_cast<void>(RunUnlessEngineAborts([=, &fleet] {
    auto store = store::Store::Open(options);
    if (store) {
      *result = fleet.Run(**store, {.seed = work_seed, .expire = expire});
      static_cast<void>(store->release());
    } else if (!disk->power_lost()) {
      *result = store.error();
    }
  }));
  disk->Freeze();
  WriteImage(disk->AfterPowerLoss(), next_dir / "store");
  return *result;
}

Status LosePowerAndCheck(std::uint64_t seed, const std::filesystem::path& dir) {
  // After a failure the engine's thread sleeps for a second; with more threads, the next run need
  // not wait for it.
  for (const auto pool : {rocksdb::Env::HIGH, rocksdb::Env::LOW}) {
    rocksdb::Env::Default()->SetBackgroundThreads(2 * kLossesInARow, pool);
  }
  Random random(seed);
  const unsigned probation_batches =
      random() % 2 == 0 ? 0 : 1 + static_cast<unsigned>(random() % 12);
  auto fleet = std::make_unique<Fleet>(kAgents, probation_batches);
  std::filesystem::path data_dir = dir / "data";
  for (int loss = 1; loss <= kLossesInARow; ++loss) {
    const std::filesystem::path next_dir = dir / ("data" + std::to_string(loss));
    if (Status status = RunToPowerLoss(data_dir, next_dir, probation_batches, random, *fleet);
        !status) {
      return Fail(status.error().code, "run {}: {}", loss, status.error().message);
    }
    data_dir = next_dir;
    // Leaks the old fleet, which an aborted engine's threads may still use.
    fleet = std::make_unique<Fleet>(*fleet.release());
  }
  FaultyDirectory calm(data_dir / "store", {});
  FIELDCOST_ASSIGN(const auto store, store::Store::Open({.data_dir = data_dir,
                                                         .checkpoint_seconds = 0,
                                                         .probation_batches = probation_batches,
                                                         .file_system = calm.file_system()}));
  return fleet->Check(*store);
}

TEST(PowerLossTest, KeepsAcknowledgedBatchesExactlyOnce) {
  const std::uint64_t first = Seed();
  const std::uint64_t seeds = LongForm() ? kLongSeeds : kShortSeeds;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    const testing::TempDir dir;
    const ChildResult result = RunInChild([&] { return LosePowerAndCheck(seed, dir.path()); });
    ASSERT_TRUE(result.good) << "seed " << seed << ": " << result.trouble;
  }
  std::cout << seeds << " seeds good\n";
}

}  // namespace
}  // namespace fieldcost::faults
