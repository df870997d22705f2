// The real program with a flipped bit in each file outside the store: published files, keys and
// secrets. The damage is detected, and what can be regenerated is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/aggregator/operate/operate_fixture.h"
#include "tests/support/wait_until.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kMaxFile = std::size_t{16} << 20;

class DamagedFilesTest : public OperateTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Start());
    Send(1, 20);
    MustRun({"publish"});
    Stop();
    PinRoot();
  }

  std::vector<std::filesystem::path> FilesIn(const std::string& folder) const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data() / folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    EXPECT_THAT(files, Not(IsEmpty()));
    return files;
  }

  // Returns the previous contents.
  static std::string FlipBit(const std::filesystem::path& path) {
    const std::string before = ReadFile(path, kMaxFile).value();
    std::string bytes = before;
    bytes[bytes.size() / 2] ^= 1;
    EXPECT_TRUE(WriteFileAtomically(path, bytes, 0600).has_value());
    return before;
  }

  std::map<std::string, std::string> AllFiles() const {
    std::map<std::string, std::string> files;
    for (const char* folder : {"publish", "keys", "store"}) {
      for (const auto& path : FilesIn(folder)) files[path] = ReadFile(path, kMaxFile).value();
    }
    return files;
  }

  void ExpectFoundByVerify(const std::filesystem::path& path) {
    const auto before = AllFiles();
    const testing::ProcessResult result = Run({"verify"});
    EXPECT_EQ(result.exit_status, 1) << path << result.output << result.errors;
    EXPECT_THAT(result.output, StartsWith("the data directory has a problem"));
    EXPECT_THAT(result.output, HasSubstr(path.string()));
    EXPECT_EQ(AllFiles(), before);
  }
};

TEST_F(DamagedFilesTest, NextStartRepairsPublishedFiles) {
  int tried = 0;
  for (const std::filesystem::path& path : FilesIn("publish")) {
    if (path.parent_path().filename() == "root") continue;
    if (!std::filesystem::exists(path)) continue;  // of a snapshot that was since removed
    SCOPED_TRACE(path);
    ++tried;
    FlipBit(path);
    ExpectFoundByVerify(path);
    ASSERT_NO_FATAL_FAILURE(Start());
    ASSERT_TRUE(fieldcost::testing::WaitUntil([&] { return Ask("/readyz").status == 200; }));
    ASSERT_TRUE(fieldcost::testing::WaitUntil([&] { return Run({"verify"}).exit_status == 0; }));
    ASSERT_TRUE(fieldcost::testing::WaitUntil([&] { return Ask("/readyz").status == 200; }));
    const auto synced = Sync();
    EXPECT_TRUE(synced.has_value()) << synced.error().message;
    Stop();
    EXPECT_THAT(MustRun({"verify"}), StartsWith("the store is good"));
  }
  EXPECT_GE(tried, 3);  // the timestamp, a snapshot, a fragment
}

TEST_F(DamagedFilesTest, NextStartPublishesMissingFilesAgain) {
  for (const char* folder : {"fragments", "snapshots"}) {
    for (const auto& path : FilesIn(std::string("publish/") + folder)) {
      std::filesystem::remove(path);
    }
    EXPECT_EQ(Run({"verify"}).exit_status, 1);
    ASSERT_NO_FATAL_FAILURE(Start());
    ASSERT_TRUE(fieldcost::testing::WaitUntil([&] { return Run({"verify"}).exit_status == 0; }));
    EXPECT_TRUE(Sync().has_value());
    Stop();
  }
}

TEST_F(DamagedFilesTest, KeysRootsAndSecretsAreNamedAndNeverReplaced) {
  std::vector<std::filesystem::path> files = FilesIn("keys");
  for (const auto& path : FilesIn("publish/root")) files.push_back(path);
  EXPECT_GE(files.size(), 8U);  // four keys, three secrets, a root
  for (const std::filesystem::path& path : files) {
    SCOPED_TRACE(path);
    const std::string before = FlipBit(path);
    ExpectFoundByVerify(path);
    const std::string damaged = ReadFile(path, kMaxFile).value();
    if (path.filename() == "root.key" || path.filename() == "policy.key") {
      // The service starts without these keys but is not ready.
      ASSERT_NO_FATAL_FAILURE(Start());
      ASSERT_TRUE(fieldcost::testing::WaitUntil([&] { return Ask("/readyz").status == 503; }));
      EXPECT_THAT(Ask("/readyz").body, HasSubstr(path.string()));
      EXPECT_THAT(Ask("/metrics").body, HasSubstr("fieldcost_damaged_files 1\n"));
      Stop();
    } else {
      const testing::ProcessResult result = Run({"serve"});
      EXPECT_THAT(result.exit_status,
                  AnyOf(ExitStatus(ErrorCode::kCorrupt), ExitStatus(ErrorCode::kUnauthenticated)))
          << result.errors;
      EXPECT_THAT(result.errors, HasSubstr(path.filename().string()));
    }
    EXPECT_EQ(ReadFile(path, kMaxFile).value(), damaged);
    ASSERT_TRUE(WriteFileAtomically(path, before, 0600).has_value());
    EXPECT_EQ(Run({"verify"}).exit_status, 0);
  }
}

}  // namespace
}  // namespace fieldcost::aggregator
