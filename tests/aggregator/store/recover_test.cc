// A log that is damaged in the middle or truncated: it is refused, and the lost batches are named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "aggregator/store/log_scan.h"
#include "aggregator/store/store.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "tests/aggregator/store/batches.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

using ::testing::HasSubstr;
using testing::TempDir;

constexpr std::uint64_t kBatches = 20;
constexpr std::size_t kMaxFile = 64 * kMiB;

// Two agents send in turn; a checkpoint follows the first `summed` batches of each. Then the disk
// is copied as a kill would leave it.
class RecoverTest : public ::testing::Test {
 protected:
  void Fill(std::uint64_t summed) {
    const StoreOptions options{.data_dir = dir_.path() / "first", .checkpoint_seconds = 0};
    auto store = Store::Open(options);
    ASSERT_TRUE(store.has_value());
    TestBatch batch;
    for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
      for (const unsigned agent : {1U, 2U}) {
        MakeTestBatch(agent, sequence, batch, nullptr);
        ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
      }
      if (sequence != summed) continue;
      ASSERT_TRUE((*store)->Checkpoint().has_value());
    }
    std::filesystem::create_directories(options_.data_dir);
    CopyAtOneMoment(options.data_dir / "store");
    // Use the newest log: a retired one may still exist.
    for (const auto& entry : std::filesystem::directory_iterator(store_dir_)) {
      if (entry.path().extension() == ".log") log_ = std::max(log_, entry.path());
    }
    ASSERT_FALSE(log_.empty());
    LogScanner scanner([this](const LogRecord& record) { starts_.push_back(record.offset); });
    std::string bytes = Log();
    ASSERT_LT(bytes.size(), 4 * kLogBlockBytes);
    std::string_view rest = bytes;
    for (; rest.size() > kLogBlockBytes; rest.remove_prefix(kLogBlockBytes)) {
      scanner.Take(rest.substr(0, kLogBlockBytes));
    }
    scanner.Take(rest);
  }
  // Copies the directory, repeating the copy as long as the engine removes obsolete files
  // meanwhile.
  void CopyAtOneMoment(const std::filesystem::path& from) {
    const auto sizes = [&from] {
      std::map<std::string, std::uintmax_t> found;
      std::error_code gone;
      for (const auto& entry : std::filesystem::directory_iterator(from)) {
        found[entry.path().filename().string()] = entry.file_size(gone);
      }
      return found;
    };
    std::error_code error;
    for (auto before = decltype(sizes()){}; error || before != sizes();) {
      before = sizes();
      std::filesystem::remove_all(store_dir_);
      std::filesystem::copy(from, store_dir_, error);
    }
  }
  std::string Log() const { return ReadFile(log_, kMaxFile).value(); }
  void SetLog(const std::string& bytes) {
    ASSERT_TRUE(WriteFileAtomically(log_, bytes, 0600).has_value());
  }
  void FlipBitOfRecord(std::size_t record) {
    std::string bytes = Log();
    bytes[starts_[record] + 30] ^= 4;
    SetLog(bytes);
  }
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(store_dir_)) {
      files[entry.path().filename().string()] = ReadFile(entry.path(), kMaxFile).value();
    }
    return files;
  }

  // Neither opening nor verifying changes anything; both name the log.
  void ExpectRefused() {
    const auto before = Files();
    const auto opened = Store::Open(options_);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(opened.error().message, HasSubstr(log_.string()));
    const auto verified = Store::VerifyStopped(options_);
    ASSERT_FALSE(verified.has_value());
    EXPECT_EQ(verified.error().message, opened.error().message);
    EXPECT_EQ(Files(), before);
  }

  // What both agents had sent before the damage remains; they can send the rest again.
  void ExpectRecovered(const std::vector<std::string>& lost, std::uint64_t left) {
    const auto shown = Store::Recover(options_, false);
    ASSERT_TRUE(shown.has_value()) << shown.error().message;
    EXPECT_TRUE(shown->kept_in.empty());
    const std::string log = Log();
    const auto report = Store::Recover(options_, true);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_EQ(report->lost, shown->lost);
    EXPECT_EQ(report->problem, "");
    std::vector<std::string> texts;
    for (const LostWrite& write : report->lost) {
      texts.push_back((write.agent_id == TestAgent(1) ? "1 " : "2 ") +
                      std::to_string(write.sequence));
    }
    EXPECT_EQ(texts, lost);
    EXPECT_EQ(ReadFile(report->kept_in / log_.filename(), kMaxFile).value(), log);
    const auto store = Store::Open(options_);
    ASSERT_TRUE(store.has_value()) << store.error().message;
    EXPECT_EQ((*store)->Verify()->expected.batches, left);
    Sums sums;
    TestBatch batch;
    for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) {
      for (const unsigned agent : {1U, 2U}) {
        MakeTestBatch(agent, sequence, batch, &sums);
        ASSERT_TRUE((*store)->Accept(batch.View()).has_value());
      }
    }
    EXPECT_EQ(AllRows(**store), sums);
    EXPECT_TRUE((*store)->Verify()->ok());
  }

  const TempDir dir_;
  const StoreOptions options_{.data_dir = dir_.path() / "data", .checkpoint_seconds = 0};
  const std::filesystem::path store_dir_ = options_.data_dir / "store";
  std::filesystem::path log_;
  std::vector<std::uint64_t> starts_;
};

std::vector<std::string> From(std::uint64_t first, bool with_first_of_one = true) {
  std::vector<std::string> lost;
  for (const char* agent : {"1 ", "2 "}) {
    for (std::uint64_t sequence = first; sequence <= kBatches; ++sequence) {
      if (agent[0] == '1' && sequence == first && !with_first_of_one) continue;
      lost.push_back(agent + std::to_string(sequence));
    }
  }
  return lost;
}

TEST_F(RecoverTest, RefusesAFlippedBitAndNamesTheRecordsAfterIt) {
  Fill(0);
  FlipBitOfRecord(starts_.size() - 10);  // a record of agent 1, which sends again
  ExpectRefused();
  ExpectRecovered(From(kBatches - 4), 2 * kBatches - 10);
}

TEST_F(RecoverTest, RecoversAcrossACheckpointWithoutCountingTwice) {
  Fill(10);
  FlipBitOfRecord(starts_.size() - 10);
  ExpectRefused();
  ExpectRecovered(From(kBatches - 4), 2 * kBatches - 10);
}

TEST_F(RecoverTest, ALogThatHasLostItsEndIsRefused) {
  Fill(10);
  SetLog(Log().substr(0, starts_[starts_.size() - 2]));
  ExpectRefused();
  const auto report = Store::Recover(options_, true);
  ASSERT_TRUE(report.has_value()) << report.error().message;
  EXPECT_THAT(report->damage, HasSubstr("ends at byte"));
  const auto store = Store::Open(options_);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->Verify()->expected.batches, 2 * kBatches - 2);
}

TEST_F(RecoverTest, DistinguishesADamagedLastRecordFromATornOne) {
  Fill(10);
  FlipBitOfRecord(starts_.size() - 1);
  ExpectRefused();
}

TEST_F(RecoverTest, ALogThatIsMissingIsRefused) {
  Fill(10);
  std::filesystem::remove(log_);
  ExpectRefused();
  const auto recovered = Store::Recover(options_, true);
  ASSERT_TRUE(recovered.has_value()) << recovered.error().message;
  EXPECT_EQ(recovered->problem, "");
  EXPECT_EQ(Store::Open(options_).value()->Verify()->expected.batches, 20U);
}

TEST_F(RecoverTest, AnEndThatWasNeverSyncedIsTakenOffAndNothingIsLost) {
  Fill(10);
  const std::string whole = Log();
  SetLog(whole + whole.substr(starts_[3], 50));
  const auto before = Files();
  const auto verified = Store::VerifyStopped(options_);
  ASSERT_TRUE(verified.has_value());
  EXPECT_EQ(verified->torn_bytes, 50U);
  EXPECT_EQ(verified->problems, 1U);
  EXPECT_THAT(verified->first_problem, HasSubstr(log_.string()));
  EXPECT_EQ(Files(), before);
  EXPECT_EQ(Store::Recover(options_, true)->damage, "");
  EXPECT_EQ(Files(), before);
  const auto store = Store::Open(options_);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->Verify()->expected.batches, 2 * kBatches);
}

// If a store's mark was removed, records after the damage reveal it.
TEST_F(RecoverTest, DetectsDamageByTheRecordsAfterItWithoutAMark) {
  Fill(10);
  std::filesystem::remove(log_.string() + ".synced");
  FlipBitOfRecord(starts_.size() - 10);
  ExpectRefused();
}

TEST_F(RecoverTest, AfterACheckpointTheLogIsNotNeeded) {
  Fill(kBatches);
  std::string damaged = Log();
  for (char& c : damaged) c = static_cast<char>(c ^ 1);
  SetLog(damaged);
  if (!damaged.empty()) ExpectRefused();
  EXPECT_EQ(Store::Recover(options_, true)->problem, "");
  EXPECT_EQ(Store::Open(options_).value()->Verify()->expected.batches, 2 * kBatches);
}

// A kill between the mark that retires a log and its removal leaves both.
TEST_F(RecoverTest, IgnoresALeftoverRetiredLog) {
  Fill(10);
  const std::string log = Log();
  const std::filesystem::path retired = store_dir_ / "000001.log";
  ASSERT_LT(retired, log_);
  std::string damaged = log;
  for (char& c : damaged) c = static_cast<char>(c ^ 1);
  const std::string synced = EncodeMark({.bytes = log.size()});
  const auto put = [&](const std::string& marks) {
    ASSERT_TRUE(WriteFileAtomically(retired, damaged, 0600).has_value());
    ASSERT_TRUE(WriteFileAtomically(retired.string() + ".synced", marks, 0600).has_value());
  };
  put(synced);
  EXPECT_FALSE(Store::Open(options_).has_value());
  put(synced + EncodeMark({.retired = true}));
  const auto store = Store::Open(options_);
  ASSERT_TRUE(store.has_value()) << store.error().message;
  EXPECT_EQ((*store)->Verify()->expected.batches, 2 * kBatches);
}

}  // namespace
}  // namespace fieldcost::store
