// Backups of a store that receives batches, and what is restored from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "aggregator/store/store.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using fieldcost::testing::TempDir;
using ::testing::HasSubstr;

class BackupTest : public ::testing::Test {
 protected:
  std::filesystem::path data() const { return dir_.path() / "data"; }
  std::filesystem::path backups() const { return dir_.path() / "backups"; }

  static std::unique_ptr<Store> MustOpen(const std::filesystem::path& data_dir) {
    auto store = Store::Open({.data_dir = data_dir, .checkpoint_seconds = 0});
    EXPECT_TRUE(store.has_value()) << store.error().message;
    return std::move(*store);
  }
  static void Feed(Store& store, unsigned agent, std::uint64_t first, std::uint64_t last,
                   Sums* sums) {
    for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
      TestBatch batch;
      MakeTestBatch(agent, sequence, batch, sums);
      ASSERT_TRUE(store.Accept(batch.View()).has_value());
    }
  }
  void MustBackUp(Store& store, std::string_view attachment = {}) {
    const Status status = store.Backup(backups(), attachment);
    ASSERT_TRUE(status.has_value()) << status.error().message;
  }
  std::unique_ptr<Store> MustRestore(const std::string& name) {
    const Status status = Store::RestoreBackup(backups(), dir_.path() / name);
    EXPECT_TRUE(status.has_value()) << status.error().message;
    return MustOpen(dir_.path() / name);
  }
  static void ExpectGood(Store& store) {
    const auto report = store.Verify();
    ASSERT_TRUE(report.has_value());
    EXPECT_TRUE(report->ok()) << report->first_problem;
  }

  const TempDir dir_;
};

TEST_F(BackupTest, TheNewestBackupComesBackWithItsAttachmentAndOlderOnesShareFiles) {
  Sums sums;
  {
    const auto store = MustOpen(data());
    Feed(*store, 1, 1, 10, &sums);
    ASSERT_TRUE(store->Compact().has_value());
    MustBackUp(*store, "first");
    Feed(*store, 1, 11, 20, &sums);
    MustBackUp(*store, "second");
    ASSERT_TRUE(store->PutNumber("published_version", 17).has_value());
    MustBackUp(*store, "third");
    Feed(*store, 1, 21, 30, nullptr);
  }
  std::string attachment;
  ASSERT_TRUE(Store::RestoreBackup(backups(), dir_.path() / "copy",
                                   [&](std::string_view untrusted_attachment) -> Status {
                                     attachment = untrusted_attachment;
                                     return {};
                                   })
                  .has_value());
  EXPECT_EQ(attachment, "third");
  const auto copy = MustOpen(dir_.path() / "copy");
  EXPECT_EQ(AllRows(*copy), sums);
  ExpectGood(*copy);
  EXPECT_EQ(copy->GetNumber("published_version").value(), 17U);
  EXPECT_EQ(copy->Restorations().value(), 1U);
  // The restored store recognises a batch from before the backup as a replay.
  TestBatch batch;
  MakeTestBatch(1, 15, batch, nullptr);
  EXPECT_TRUE(copy->Accept(batch.View()).value().replay);
  std::size_t shared = 0;
  std::size_t backups_kept = 0;
  for (const auto& file : std::filesystem::directory_iterator(backups() / "shared_checksum")) {
    shared += file.path().extension() == ".sst" ? 1 : 0;
  }
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator(backups() / "meta")) {
    ++backups_kept;
  }
  EXPECT_EQ(backups_kept, 3U);
  EXPECT_LT(shared, 3 * 5U);
}

TEST_F(BackupTest, ACopyMadeWhileWritersWriteHasAllFromBeforeAndNothingHalf) {
  constexpr unsigned kWriters = 3;
  constexpr std::uint64_t kBatches = 120;
  const auto store = MustOpen(data());
  std::array<std::atomic<std::uint64_t>, kWriters> acknowledged{};
  std::vector<std::thread> writers;
  for (unsigned writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
        TestBatch batch;
        MakeTestBatch(writer, sequence, batch, nullptr);
        ASSERT_TRUE(store->Accept(batch.View()).has_value());
        acknowledged[writer] = sequence;
        if (writer != 0 || sequence % 20 != 0) continue;
        ASSERT_TRUE(store->Checkpoint().has_value());
      }
    });
  }
  for (int round = 0; round < 4; ++round) {
    std::array<std::uint64_t, kWriters> before{};
    for (unsigned writer = 0; writer < kWriters; ++writer) before[writer] = acknowledged[writer];
    MustBackUp(*store);
    const auto copy = MustRestore("copy" + std::to_string(round));
    ExpectGood(*copy);
    // For each writer the copy has a sequence of batches from 1 on; the rows are exactly their
    // sums.
    Sums sums;
    for (unsigned writer = 0; writer < kWriters; ++writer) {
      std::uint64_t known = 0;
      TestBatch batch;
      for (; known < kBatches; ++known) {
        MakeTestBatch(writer, known + 1, batch, nullptr);
        Withdrawal probe = batch.Undo();
        probe.may_come = false;  // a pure query: adds no tombstone
        bool delivered = false;
        probe.rows = [&](const std::optional<std::string>&) -> Result<const AcceptedRows*> {
          delivered = true;
          return Fail(ErrorCode::kNotFound, "only asked");
        };
        static_cast<void>(copy->Withdraw(probe));
        if (!delivered) break;
        MakeTestBatch(writer, known + 1, batch, &sums);
      }
      EXPECT_GE(known, before[writer]);
    }
    EXPECT_EQ(AllRows(*copy), sums);
  }
  for (std::thread& writer : writers) writer.join();
}

// Runs a callback when a thread lists a directory. During a backup, this happens after the engine
// has noted its list of files and before it determines the length of its log.
class ListingObserver final : public rocksdb::FileSystemWrapper {
 public:
  ListingObserver() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "ListingObserver"; }
  // Runs `act` once, on this thread's next listing.
  void AtNextListing(std::function<void()> act) {
    const std::lock_guard lock(mutex_);
    act_ = std::move(act);
    thread_ = std::this_thread::get_id();
  }
  rocksdb::IOStatus GetChildren(const std::string& directory, const rocksdb::IOOptions& options,
                                std::vector<std::string>* names,
                                rocksdb::IODebugContext* debug) override {
    std::function<void()> act;
    {
      const std::lock_guard lock(mutex_);
      if (thread_ == std::this_thread::get_id()) act = std::exchange(act_, {});
    }
    if (act) act();
    return FileSystemWrapper::GetChildren(directory, options, names, debug);
  }

 private:
  std::mutex mutex_;
  std::function<void()> act_;
  std::thread::id thread_;
};

TEST_F(BackupTest, ACheckpointBetweenTheListOfFilesAndTheLogIsNotMissing) {
  const auto files = std::make_shared<ListingObserver>();
  auto opened = Store::Open({.data_dir = data(), .checkpoint_seconds = 0, .file_system = files});
  ASSERT_TRUE(opened.has_value());
  Store& store = **opened;
  Sums sums;
  Feed(store, 1, 1, 10, &sums);
  ASSERT_TRUE(store.Checkpoint().has_value());
  Feed(store, 1, 11, 20, &sums);
  bool happened = false;
  files->AtNextListing([&] {
    ASSERT_TRUE(store.Checkpoint().has_value());
    Feed(store, 1, 21, 25, &sums);
    ASSERT_TRUE(store.Compact().has_value());  // also makes a checkpoint
    Feed(store, 1, 26, 28, &sums);
    happened = true;
  });
  MustBackUp(store);
  ASSERT_TRUE(happened);
  const auto copy = MustRestore("copy");
  EXPECT_EQ(AllRows(*copy), sums);
  ExpectGood(*copy);
  // The next checkpoint removes what was kept in the inbox for the backup.
  Feed(store, 1, 29, 29, &sums);
  EXPECT_EQ(AllRows(store), sums);
  MustBackUp(store);
  EXPECT_EQ(AllRows(*MustRestore("later")), sums);
}

TEST_F(BackupTest, AnInterruptedBackupLeavesTheOlderOnesUsable) {
  Sums sums;
  const auto store = MustOpen(data());
  Feed(*store, 1, 1, 10, &sums);
  MustBackUp(*store);
  Feed(*store, 1, 11, 20, nullptr);
  // A crash during a copy leaves files but no list of them.
  MustBackUp(*store);
  ASSERT_TRUE(std::filesystem::remove(backups() / "meta" / "2"));
  EXPECT_EQ(AllRows(*MustRestore("copy")), sums);
  MustBackUp(*store);
  EXPECT_NE(AllRows(*MustRestore("later")), sums);
}

// The receipts for lost batches stay valid, and the sums of others would be large enough to
// subtract them.
TEST_F(BackupTest, NeverSubtractsLostBatchesFromTheSumsOfOthers) {
  Sums sums;
  {
    const auto store = MustOpen(data());
    Feed(*store, 1, 1, 3, &sums);
    MustBackUp(*store);
    Feed(*store, 1, 4, 6, nullptr);
    Feed(*store, 1, 40, 40, nullptr);
  }
  const auto copy = MustRestore("copy");
  Feed(*copy, 1, 7, 39, &sums);
  Feed(*copy, 1, 41, 160, &sums);
  for (unsigned agent = 2; agent < 12; ++agent) {
    for (const std::uint64_t sequence : {4U, 5U, 6U, 40U}) {
      TestBatch same;
      MakeTestBatch(1, sequence, same, nullptr);
      same.agent_id = TestAgent(agent);
      ASSERT_TRUE(copy->Accept(same.View()).has_value());
    }
  }
  const Sums before = AllRows(*copy);
  for (const std::uint64_t lost : {4U, 5U, 6U, 40U}) {
    TestBatch batch;
    MakeTestBatch(1, lost, batch, nullptr);
    for (int again = 0; again < 2; ++again) {
      const auto result = copy->Withdraw(batch.Undo());
      ASSERT_TRUE(result.has_value()) << result.error().message;
      EXPECT_EQ(result->kind, WithdrawalKind::kNeverDelivered) << lost;
      EXPECT_EQ(result->withdrawn_rows, 0U);
    }
  }
  EXPECT_EQ(AllRows(*copy), before);
  // Batches that are there can be withdrawn as usual.
  for (const std::uint64_t kept : {1U, 3U, 7U, 39U, 41U, 160U}) {
    TestBatch batch;
    MakeTestBatch(1, kept, batch, nullptr);
    EXPECT_EQ(copy->Withdraw(batch.Undo()).value().kind, WithdrawalKind::kWithdrawn) << kept;
  }
  ExpectGood(*copy);
}

TEST_F(BackupTest, DamageIsNoticedAndNothingIsRestored) {
  const auto store = MustOpen(data());
  Feed(*store, 1, 1, 30, nullptr);
  ASSERT_TRUE(store->Compact().has_value());
  MustBackUp(*store);
  std::filesystem::path largest;
  for (const auto& file : std::filesystem::directory_iterator(backups() / "shared_checksum")) {
    if (largest.empty() || file.file_size() > std::filesystem::file_size(largest)) {
      largest = file.path();
    }
  }
  {
    std::fstream file(largest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x5a');
    file.put('\xa5');
  }
  const Status changed = Store::RestoreBackup(backups(), dir_.path() / "copy");
  ASSERT_FALSE(changed.has_value());
  EXPECT_EQ(changed.error().code, ErrorCode::kCorrupt) << changed.error().message;
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "copy" / "store"));
  std::filesystem::resize_file(largest, 50);
  const Status shortened = Store::RestoreBackup(backups(), dir_.path() / "copy");
  ASSERT_FALSE(shortened.has_value());
  EXPECT_EQ(shortened.error().code, ErrorCode::kCorrupt) << shortened.error().message;
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "copy" / "store"));
}

TEST_F(BackupTest, AnotherStoresBackupsAnExistingStoreAndAnEmptyPlaceAreRefused) {
  const auto store = MustOpen(data());
  Feed(*store, 1, 1, 1, nullptr);
  MustBackUp(*store);
  const auto other = MustOpen(dir_.path() / "other");
  const Status mixed = other->Backup(backups());
  ASSERT_FALSE(mixed.has_value());
  EXPECT_EQ(mixed.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(mixed.error().message, HasSubstr("another store"));
  const auto restore = [&](const std::filesystem::path& from, const std::filesystem::path& to) {
    const Status status = Store::RestoreBackup(from, to);
    return status ? ErrorCode::kInternal : status.error().code;
  };
  EXPECT_EQ(restore(backups(), data()), ErrorCode::kAlreadyExists);  // and the directory is in use
  EXPECT_EQ(restore(dir_.path() / "nothing", dir_.path() / "copy"), ErrorCode::kNotFound);
  const auto copy = MustRestore("copy");
  EXPECT_EQ(restore(backups(), dir_.path() / "copy"), ErrorCode::kAlreadyExists);
}

TEST_F(BackupTest, FailedBackupLeavesTheStoreRunning) {
  Sums sums;
  const auto store = MustOpen(data());
  Feed(*store, 1, 1, 3, &sums);
  std::ofstream(dir_.path() / "file") << "in the way";
  EXPECT_FALSE(store->Backup(dir_.path() / "file" / "backups").has_value());
  EXPECT_TRUE(store->healthy());
  Feed(*store, 1, 4, 6, &sums);
  MustBackUp(*store);
  EXPECT_EQ(AllRows(*MustRestore("copy")), sums);
}

TEST_F(BackupTest, RestoredStoreContinuesItsBackupDirectory) {
  Sums sums;
  {
    const auto store = MustOpen(data());
    Feed(*store, 1, 1, 5, &sums);
    MustBackUp(*store);
    Feed(*store, 1, 6, 9, nullptr);
  }
  {
    const auto copy = MustRestore("copy");
    Feed(*copy, 1, 6, 12, &sums);
    MustBackUp(*copy);
  }
  const auto again = MustRestore("again");
  EXPECT_EQ(AllRows(*again), sums);
  EXPECT_EQ(again->Restorations().value(), 2U);
}

TEST_F(BackupTest, CompactingWhileBatchesComeChangesNoSum) {
  Sums sums;
  const auto store = MustOpen(data());
  Feed(*store, 1, 1, 20, &sums);
  std::thread writer([&] { Feed(*store, 1, 21, 60, &sums); });
  int heard = 0;
  EXPECT_TRUE(
      store->Compact([&](int done, int total) { heard += done == total ? 1 : 0; }).has_value());
  writer.join();
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(AllRows(*store), sums);
  ExpectGood(*store);
}

TEST_F(BackupTest, NumbersAndGaugesSayWhatIsThere) {
  {
    const auto store = MustOpen(data());
    EXPECT_EQ(store->GetNumber("a").value(), 0U);
    ASSERT_TRUE(store->PutNumber("a", 1).has_value());
    ASSERT_TRUE(store->PutNumber("b", ~std::uint64_t{0}).has_value());
    ASSERT_TRUE(store->PutNumber("a", 2).has_value());
    Feed(*store, 1, 1, 8, nullptr);
    StoreGauges gauges = store->Gauges();
    EXPECT_EQ(gauges.sequence, 8U);
    EXPECT_GT(gauges.dirty_rows, 0U);
    EXPECT_GT(gauges.dirty_bytes, 0U);
    EXPECT_EQ(gauges.checkpoints, 0U);
    ASSERT_TRUE(store->Compact().has_value());
    gauges = store->Gauges();
    EXPECT_EQ(gauges.dirty_rows, 0U);
    EXPECT_EQ(gauges.checkpoints, 1U);
    EXPECT_GT(gauges.checkpoint_microseconds, 0U);
    std::uint64_t sizes = 0;
    for (const auto& file : std::filesystem::directory_iterator(dir_.path() / "data/store")) {
      std::error_code gone;  // the engine may still be removing files that it no longer needs
      const std::uintmax_t size = file.file_size(gone);
      if (!gone) sizes += size;
    }
    EXPECT_GE(store->StoredBytes(), sizes);
    EXPECT_LT(store->StoredBytes(), sizes + 64 * kMiB) << "space reserved by the log";
  }
  const auto store = MustOpen(data());
  EXPECT_EQ(store->GetNumber("a").value(), 2U);
  EXPECT_EQ(store->GetNumber("b").value(), ~std::uint64_t{0});
  EXPECT_EQ(store->Restorations().value(), 0U);
}

}  // namespace
}  // namespace fieldcost::store
