// The store when one operation on its files fails: the Nth, for N = 1, 2, 3, ..., with EIO or
// ENOSPC, once or from then on. See ../README.md.
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <climits>
#include <cstdlib>
#include <iostream>
#include <memory>

#include "tests/faults/network/fault_run.h"
#include "tests/faults/store/child.h"
#include "tests/faults/store/fault_file_system.h"
#include "tests/faults/store/fleet.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr unsigned kAgents = 3;
constexpr unsigned kActions = 10;
constexpr std::uint64_t kOperations = 400;  // more than the fleet needs
constexpr std::uint64_t kShortStride = 11;  // the short form tries every 11th N

// Returns FIELDCOST_FAULT_OPERATION, to repeat a single N; 0 = all.
std::uint64_t OnlyOperation() {
  const char* const given = std::getenv("FIELDCOST_FAULT_OPERATION");
  return given == nullptr ? 0 : std::strtoull(given, nullptr, 10);
}

store::StoreOptions OptionsOf(const std::filesystem::path& data_dir) {
  return {.data_dir = data_dir,
          .checkpoint_rows = 30,
          .checkpoint_seconds = 3600,
          .write_buffer_bytes = 5 * kMiB};
}

Status CheckImage(const DiskImage& image, const std::filesystem::path& data_dir, Fleet fleet,
                  const std::string& what) {
  WriteImage(image, data_dir / "store");
  FaultyDirectory calm(data_dir / "store", {});
  store::StoreOptions options = OptionsOf(data_dir);
  options.checkpoint_seconds = 0;
  options.file_system = calm.file_system();
  const auto store = store::Store::Open(options);
  if (!store) return Fail(store.error().code, "after {}: {}", what, store.error().message);
  if (Status status = fleet.Check(**store); !status) {
    return Fail(status.error().code, "after {}: {}", what, status.error().message);
  }
  return {};
}

// After its log has failed, a store must refuse further requests.
Status ExpectFailed(store::Store& store) {
  store::TestBatch batch;
  store::MakeTestBatch(kAgents, 1, batch, nullptr);  // an agent unknown to the store
  if (store.Accept(batch.View())) return Fail(ErrorCode::kCorrupt, "acknowledged after a failure");
  if (store.healthy()) return Fail(ErrorCode::kCorrupt, "healthy after a failure");
  return {};
}

// Opens a store that has data and an older log, and uses it until the failure.
Status FailAndCheck(const FaultPlan& plan, const std::filesystem::path& dir) {
  Fleet fleet(kAgents);
  {
    FaultyDirectory calm(dir / "data" / "store", {});
    store::StoreOptions options = OptionsOf(dir / "data");
    options.file_system = calm.file_system();
    FIELDCOST_ASSIGN(const auto store, store::Store::Open(options));
    FIELDCOST_TRY(fleet.Run(*store, {.seed = plan.seed, .actions = 4, .operator_too = false}));
  }
  auto* const disk =
      new FaultyDirectory(dir / "data" / "store", plan);  // the engine may outlive this function
  auto* const working = new Fleet(fleet);
  auto* const result = new Status;
  static_cast<void>(RunUnlessEngineAborts([=, &dir] {
    store::StoreOptions options = OptionsOf(dir / "data");
    options.file_system = disk->file_system();
    auto store = store::Store::Open(options);
    if (store) {
      *result = working->Run(
          **store, {.seed = plan.seed + 1, .actions = kActions, .expire = plan.seed % 2 == 0});
      if (*result && disk->log_failed()) *result = ExpectFailed(**store);
    } else if (!disk->failed()) {
      *result = store.error();
    }
  }));
  disk->Freeze();
  FIELDCOST_TRY(Status(*result));
  const Fleet told(*working);
  FIELDCOST_TRY(CheckImage(disk->Current(), dir / "restarted", told, "a restart"));
  FIELDCOST_TRY(CheckImage(disk->AfterPowerLoss(), dir / "power", told, "a power loss"));
  return {};
}

// Every deletion fails and everything else works: obsolete file names remain.
Status WorkWithoutDeleting(std::uint64_t seed, const std::filesystem::path& dir) {
  FaultyDirectory disk(
      dir / "data" / "store",
      {.seed = seed, .fail_at = 1, .fail_kinds = kDeleteFile, .from_then_on = true});
  Fleet fleet(kAgents);
  {
    store::StoreOptions options = OptionsOf(dir / "data");
    options.checkpoint_seconds = 0;
    options.file_system = disk.file_system();
    FIELDCOST_ASSIGN(const auto store, store::Store::Open(options));
    for (std::uint64_t round = 0; round < 3; ++round) {
      FIELDCOST_TRY(
          fleet.Run(*store, {.seed = seed + round, .actions = kActions, .operator_too = false}));
      FIELDCOST_TRY(store->Checkpoint());
    }
    if (!disk.failed()) return Fail(ErrorCode::kInternal, "nothing was to be deleted");
  }
  // Uses the real files, because the disk model does not support writing to a file under two names.
  FIELDCOST_ASSIGN(const auto store, store::Store::Open(OptionsOf(dir / "data")));
  return fleet.Check(*store);
}

// Like some network and container file systems.
class WithoutLinks final : public rocksdb::FileSystemWrapper {
 public:
  explicit WithoutLinks(const std::shared_ptr<rocksdb::FileSystem>& target)
      : FileSystemWrapper(target) {}
  const char* Name() const override { return "WithoutLinks"; }
  rocksdb::IOStatus LinkFile(const std::string&, const std::string&, const rocksdb::IOOptions&,
                             rocksdb::IODebugContext*) override {
    return rocksdb::IOStatus::NotSupported("Links not supported by FS");
  }
};

Status WorkWithoutLinks(std::uint64_t seed, const std::filesystem::path& dir) {
  FaultyDirectory disk(dir / "data" / "store", {.seed = seed});
  Fleet fleet(kAgents);
  {
    store::StoreOptions options = OptionsOf(dir / "data");
    options.checkpoint_seconds = 0;
    options.file_system = std::make_shared<WithoutLinks>(disk.file_system());
    FIELDCOST_ASSIGN(const auto store, store::Store::Open(options));
    FIELDCOST_TRY(fleet.Run(*store, {.seed = seed, .actions = kActions}));
    FIELDCOST_TRY(store->Checkpoint());
    for (const auto& [name, bytes] : disk.Current()) {
      if (name.starts_with("checkpoint.")) return Fail(ErrorCode::kInternal, "{} is left", name);
    }
    // Before anything is closed.
    FIELDCOST_TRY(CheckImage(disk.AfterPowerLoss(), dir / "power", fleet, "a power loss"));
  }
  return CheckImage(disk.Current(), dir / "restarted", fleet, "a restart");
}

// From some moment on, no table can be flushed.
class FullForTables final : public rocksdb::FileSystemWrapper {
 public:
  FullForTables() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FullForTables"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    if (full && path.ends_with(".sst")) return rocksdb::IOStatus::NoSpace("planned");
    return FileSystemWrapper::NewWritableFile(path, options, file, debug);
  }
  std::atomic<bool> full{false};
};

Status BackUpAfterAFailureBehind(const std::filesystem::path& dir) {
  const auto files = std::make_shared<FullForTables>();
  store::StoreOptions options = OptionsOf(dir / "data");
  options.checkpoint_seconds = 0;
  options.file_system = files;
  FIELDCOST_ASSIGN(const auto store, store::Store::Open(options));
  store::TestBatch batch;
  store::MakeTestBatch(1, 1, batch, nullptr);
  FIELDCOST_TRY(store->Accept(batch.View()));
  FIELDCOST_TRY(store->Backup(dir / "backups"));
  files->full = true;
  if (store->Compact() || store->healthy()) return Fail(ErrorCode::kInternal, "it can be flushed");
  const Status status = store->Backup(dir / "backups");
  if (status) return Fail(ErrorCode::kCorrupt, "a store was copied after a failure");
  if (status.error().code != ErrorCode::kIo) return status;
  return {};
}

// A table file that can be created, but not written.
class FullTable final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  using FSWritableFileOwnerWrapper::FSWritableFileOwnerWrapper;
  rocksdb::IOStatus Append(const rocksdb::Slice& /*data*/, const rocksdb::IOOptions& /*options*/,
                           rocksdb::IODebugContext* /*debug*/) override {
    return rocksdb::IOStatus::NoSpace("planned");
  }
  rocksdb::IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions& options,
                           const rocksdb::DataVerificationInfo& /*info*/,
                           rocksdb::IODebugContext* debug) override {
    return Append(data, options, debug);
  }
};

// After some tables, the disk is full.
class FullAfterTables final : public rocksdb::FileSystemWrapper {
 public:
  FullAfterTables() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "FullAfterTables"; }
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* file,
                                    rocksdb::IODebugContext* debug) override {
    rocksdb::IOStatus status = FileSystemWrapper::NewWritableFile(path, options, file, debug);
    if (!status.ok() || !path.ends_with(".sst") || tables_left-- > 0) return status;
    is_full = true;
    *file = std::make_unique<FullTable>(std::move(*file));
    return status;
  }
  std::atomic<int> tables_left{INT_MAX};
  std::atomic<bool> is_full{false};
};

// Leaves an inbox from which entries were removed, then compacts the store; the disk is full after
// `tables` new files. Returns whether that many were needed.
Result<bool> CompactUntilFull(const std::filesystem::path& dir, int tables) {
  const auto files = std::make_shared<FullAfterTables>();
  store::StoreOptions options = OptionsOf(dir / "data");
  options.checkpoint_seconds = 0;
  options.file_system = files;
  FIELDCOST_ASSIGN(const auto store, store::Store::Open(options));
  for (const unsigned agent : {1U, 2U}) {
    store::TestBatch batch;
    store::MakeTestBatch(agent, 1, batch, nullptr);
    FIELDCOST_TRY(store->Accept(batch.View()));
    FIELDCOST_TRY(store->Checkpoint());
  }
  files->tables_left = tables;
  const Status status = store->Compact();
  if (!files->is_full) return status ? Result<bool>(false) : status.error();
  if (status || status.error().code != ErrorCode::kIo) {
    return Fail(ErrorCode::kInternal, "a compaction on a full disk did not fail");
  }
  return true;
}

class NthFailureTest : public ::testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(NthFailureTest, NeitherCrashesNorHangsNorLosesWhatWasAcknowledged) {
  const auto [no_space, from_then_on] = GetParam();
  const std::uint64_t seed = Seed();
  const std::uint64_t stride = LongForm() ? 1 : kShortStride;
  std::uint64_t failures = 0;
  for (std::uint64_t n = 1 + seed % stride; n <= kOperations; n += stride) {
    if (OnlyOperation() != 0) n = OnlyOperation();
    const testing::TempDir dir;
    const ChildResult result = RunInChild([&] {
      return FailAndCheck(
          {.seed = seed, .fail_at = n, .no_space = no_space, .from_then_on = from_then_on},
          dir.path());
    });
    EXPECT_TRUE(result.good) << "seed " << seed << ", operation " << n << ": " << result.trouble;
    ++failures;
    if (OnlyOperation() != 0) break;
  }
  std::cout << failures << " failures\n";
}

// A file that a checkpoint wrote and the engine adopted may still exist under its first name, too.
TEST(UndeletedFilesTest, FilesThatCannotBeDeletedAreNeverWrittenToAgain) {
  const testing::TempDir dir;
  const std::uint64_t seed = Seed();
  const ChildResult result = RunInChild([&] { return WorkWithoutDeleting(seed, dir.path()); });
  EXPECT_TRUE(result.good) << "seed " << seed << ": " << result.trouble;
}

TEST(NoLinksTest, ADiskWithoutSecondNamesForAFileWillDo) {
  const testing::TempDir dir;
  const std::uint64_t seed = Seed();
  const ChildResult result = RunInChild([&] { return WorkWithoutLinks(seed, dir.path()); });
  EXPECT_TRUE(result.good) << "seed " << seed << ": " << result.trouble;
}

TEST(FailedStoreTest, RefusesToBackUpAfterABackgroundFailure) {
  const testing::TempDir dir;
  const ChildResult result = RunInChild([&] { return BackUpAfterAFailureBehind(dir.path()); });
  EXPECT_TRUE(result.good) << result.trouble;
}

TEST(CompactionTest, FailsWithoutAbortingOnAFullDisk) {
  bool was_full = true;
  for (int tables = 0; was_full; ++tables) {
    const testing::TempDir dir;
    const ChildResult result = RunInChild([&]() -> Status {
      FIELDCOST_ASSIGN(const bool full, CompactUntilFull(dir.path(), tables));
      return full ? Status() : Fail(ErrorCode::kNotFound, "no further table was written");
    });
    was_full = result.good;
    if (was_full) continue;
    EXPECT_NE(result.trouble.find("no further table"), std::string::npos) << result.trouble;
    EXPECT_GT(tables, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, NthFailureTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Bool()),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param) ? "NoSpace" : "InputOutput") +
                                  (std::get<1>(test.param) ? "FromThenOn" : "Once");
                         });

}  // namespace
}  // namespace fieldcost::faults
