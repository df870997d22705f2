// Shows that the faults take effect: a program that does not sync correctly loses data on this
// disk.
#include <gtest/gtest.h>
#include <rocksdb/file_system.h>

#include "tests/faults/store/fault_file_system.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::faults {
namespace {

constexpr std::uint64_t kSeeds = 200;
constexpr std::size_t kPage = 4096;

// A small program on an empty disk.
class Program {
 public:
  explicit Program(const FaultPlan& plan) : disk_(dir_.path(), plan), files_(disk_.file_system()) {}

  std::unique_ptr<rocksdb::FSWritableFile> Create(const std::string& name) {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    EXPECT_TRUE(files_->NewWritableFile((dir_.path() / name).string(), {}, &file, nullptr).ok());
    return file;
  }
  void Write(const std::string& name, const std::string& bytes, bool sync) {
    const auto file = Create(name);
    EXPECT_TRUE(file->Append(bytes, {}, nullptr).ok());
    if (sync) {
      EXPECT_TRUE(file->Sync({}, nullptr).ok());
    }
    EXPECT_TRUE(file->Close({}, nullptr).ok());
  }
  void Rename(const std::string& from, const std::string& to) {
    EXPECT_TRUE(
        files_->RenameFile((dir_.path() / from).string(), (dir_.path() / to).string(), {}, nullptr)
            .ok());
  }
  void Delete(const std::string& name) {
    EXPECT_TRUE(files_->DeleteFile((dir_.path() / name).string(), {}, nullptr).ok());
  }
  void SyncDirectory() {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    EXPECT_TRUE(files_->NewDirectory(dir_.path().string(), {}, &directory, nullptr).ok());
    EXPECT_TRUE(directory->Fsync({}, nullptr).ok());
  }
  FaultyDirectory& disk() { return disk_; }

 private:
  const testing::TempDir dir_;
  FaultyDirectory disk_;
  std::shared_ptr<rocksdb::FileSystem> files_;
};

// Returns four different pages.
std::string Pages() {
  std::string bytes;
  for (const char c : {'a', 'b', 'c', 'd'}) bytes.append(kPage, c);
  return bytes;
}

TEST(FaultFileSystemTest, SyncedFileInASyncedDirectorySurvives) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    program.Write("file", Pages(), true);
    program.SyncDirectory();
    EXPECT_EQ(program.disk().AfterPowerLoss(), (DiskImage{{"file", Pages()}})) << seed;
  }
}

TEST(FaultFileSystemTest, ASyncedFileHasTheNameItWasMadeWith) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    program.Write("file", "x", true);
    EXPECT_EQ(program.disk().AfterPowerLoss(), (DiskImage{{"file", "x"}})) << seed;
  }
}

TEST(FaultFileSystemTest, UnsyncedWritesAreDroppedTornOrReordered) {
  int dropped = 0;
  int kept = 0;
  int torn = 0;
  int reordered = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    program.Write("file", Pages(), false);
    program.SyncDirectory();
    const std::string left = program.disk().AfterPowerLoss().at("file");
    ASSERT_LE(left.size(), Pages().size());
    dropped += left.empty() ? 1 : 0;
    kept += left == Pages() ? 1 : 0;
    torn += !left.empty() && left != Pages() && Pages().starts_with(left) ? 1 : 0;
    const bool last = left.size() == Pages().size() && left.ends_with(std::string(kPage, 'd'));
    reordered += last && left != Pages() ? 1 : 0;
  }
  EXPECT_GT(dropped, 0);
  EXPECT_GT(kept, 0);
  EXPECT_GT(torn, 0);
  EXPECT_GT(reordered, 0);
}

TEST(FaultFileSystemTest, UnsyncedWritesDoNotHarmSyncedOnes) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    const auto file = program.Create("file");
    ASSERT_TRUE(file->Append(Pages().substr(0, 100), {}, nullptr).ok());
    ASSERT_TRUE(file->Sync({}, nullptr).ok());
    ASSERT_TRUE(file->Append(Pages(), {}, nullptr).ok());
    program.SyncDirectory();
    EXPECT_TRUE(program.disk().AfterPowerLoss().at("file").starts_with(Pages().substr(0, 100)));
  }
}

TEST(FaultFileSystemTest, WithoutTheDirectoryNewNamesAreLostAndDeletedOnesComeBack) {
  int lost = 0;
  int back = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    program.Write("old", "x", true);
    program.SyncDirectory();
    program.Write("new", "y", false);
    program.Delete("old");
    const DiskImage left = program.disk().AfterPowerLoss();
    lost += left.contains("new") ? 0 : 1;
    back += left.contains("old") ? 1 : 0;
  }
  EXPECT_GT(lost, 0);
  EXPECT_GT(back, 0);
}

TEST(FaultFileSystemTest, ARenamedFileIsTheOldOneOrTheNewOne) {
  int old_ones = 0;
  int new_ones = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program({.seed = seed});
    program.Write("file", "old", true);
    program.SyncDirectory();
    program.Write("file.new", "new", true);
    program.Rename("file.new", "file");
    const std::string left = program.disk().AfterPowerLoss().at("file");
    old_ones += left == "old" ? 1 : 0;
    new_ones += left == "new" ? 1 : 0;
  }
  EXPECT_GT(old_ones, 0);
  EXPECT_GT(new_ones, 0);
  EXPECT_EQ(old_ones + new_ones, static_cast<int>(kSeeds));
}

TEST(FaultFileSystemTest, AfterTheLossEverythingFailsAndTheDiskStaysAsItWas) {
  Program program({.seed = 1, .power_loss_at = 3});  // create, write; the sync does not return
  const auto file = program.Create("file");
  ASSERT_TRUE(file->Append("x", {}, nullptr).ok());
  EXPECT_FALSE(file->Sync({}, nullptr).ok());
  const DiskImage left = program.disk().AfterPowerLoss();
  EXPECT_FALSE(file->Append("y", {}, nullptr).ok());
  EXPECT_FALSE(file->Sync({}, nullptr).ok());
  EXPECT_EQ(program.disk().AfterPowerLoss(), left);
}

TEST(FaultFileSystemTest, LaterSyncDoesNotRestoreWhatAFailedOneLost) {
  Program program({.fail_at = 1, .fail_kinds = kSyncFile});
  const auto file = program.Create("file");
  ASSERT_TRUE(file->Append("xx", {}, nullptr).ok());
  EXPECT_FALSE(file->Sync({}, nullptr).ok());
  ASSERT_TRUE(file->Append("yy", {}, nullptr).ok());
  EXPECT_TRUE(file->Sync({}, nullptr).ok());
  program.SyncDirectory();
  EXPECT_EQ(program.disk().Current().at("file"), "xxyy");
  EXPECT_EQ(program.disk().AfterPowerLoss().at("file"), std::string("\0\0yy", 4));
}

TEST(FaultFileSystemTest, ThePlannedOperationFailsOnceOrFromThenOn) {
  for (const bool from_then_on : {false, true}) {
    Program program(
        {.fail_at = 2, .fail_kinds = kWriteFile, .no_space = true, .from_then_on = from_then_on});
    const auto file = program.Create("file");
    EXPECT_TRUE(file->Append("x", {}, nullptr).ok());
    EXPECT_TRUE(file->Append("x", {}, nullptr).IsNoSpace());
    EXPECT_EQ(file->Append("x", {}, nullptr).ok(), !from_then_on);
  }
}

}  // namespace
}  // namespace fieldcost::faults
