// The store against SIGKILL: a real process is killed at random moments and inside checkpoints.
// Afterwards the store must hold, bit for bit, the sums of all acknowledged batches without the
// withdrawn ones, and at most the requests in flight in addition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <random>
#include <set>
#include <sstream>

#include "tests/aggregator/store/batches.h"
#include "tests/aggregator/store/publish_all.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::store {
namespace {

constexpr unsigned kAgents = 3;
constexpr int kRandomKills = 24;
constexpr int kKillsOfPublications = 6;

class Fleet {
 public:
  explicit Fleet(std::filesystem::path data_dir) : data_dir_(std::move(data_dir)) { next_.fill(1); }

  testing::ProcessOptions Command(const std::vector<std::string>& more = {}) const {
    testing::ProcessOptions options;
    options.arguments = {FIELDCOST_STORE_WRITER, data_dir_.string(), std::to_string(kAgents)};
    for (const std::uint64_t next : next_) options.arguments.push_back(std::to_string(next));
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return options;
  }

  // Records what the killed writer had acknowledged.
  void ReadAcknowledged(const std::string& output) {
    std::istringstream lines(output.substr(0, output.rfind('\n') + 1));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string ack;
      unsigned agent = 0;
      std::uint64_t sequence = 0;
      if (line.starts_with("published ")) published_ = std::stoull(line.substr(10));
      if (!(words >> ack >> agent >> sequence)) continue;
      if (ack == "gone") gone_.insert({agent, sequence});
      if (ack != "ack") continue;
      ASSERT_EQ(sequence, next_.at(agent)) << output;
      Note(agent);
    }
  }

  // Opens the store; each agent repeats its unanswered request, as a real agent does.
  void ExpectExactSums() {
    auto store = Store::Open({.data_dir = data_dir_, .checkpoint_seconds = 0});
    ASSERT_TRUE(store.has_value()) << store.error().message;
    for (unsigned agent = 0; agent < kAgents; ++agent) {
      if (next_[agent] > 1) {
        MakeTestBatch(agent, next_[agent] - 1, batch_, nullptr);
        const auto replay = (*store)->Accept(batch_.View());
        ASSERT_TRUE(replay.has_value());
        ASSERT_TRUE(replay->replay) << "an acknowledged batch is unknown";
        ASSERT_EQ(replay->answer, batch_.answer);
      }
      MakeTestBatch(agent, next_[agent], batch_, nullptr);
      ASSERT_TRUE((*store)->Accept(batch_.View()).has_value());
      Note(agent);
    }
    // Each agent repeats its unanswered withdrawals, and once more the acknowledged ones.
    for (const auto& [agent, sequence] : to_withdraw_) {
      MakeTestBatch(agent, sequence, batch_, nullptr);
      const auto gone = (*store)->Withdraw(batch_.Undo());
      ASSERT_TRUE(gone.has_value()) << gone.error().message;
      ASSERT_EQ(gone->withdrawn_rows, batch_.rows.row_count());
      if (gone_.contains({agent, sequence})) {
        ASSERT_EQ(gone->kind, WithdrawalKind::kRepeated) << "an acknowledged withdrawal is unknown";
      }
    }
    withdrawn_ += to_withdraw_.size();
    to_withdraw_.clear();
    ASSERT_EQ(AllRows(**store), sums_);
    const auto report = (*store)->Verify();
    ASSERT_TRUE(report.has_value());
    ASSERT_TRUE(report->ok()) << report->first_problem;
    ASSERT_EQ(report->expected.batches, acknowledged_ - withdrawn_);
  }

  // The published units are those of one publication, with a mark for each withdrawal since then.
  void ExpectWholePublications() {
    auto store = Store::Open({.data_dir = data_dir_, .checkpoint_seconds = 0});
    ASSERT_TRUE(store.has_value()) << store.error().message;
    const std::uint64_t version = (*store)->GetNumber("version").value();
    ASSERT_GE(version, published_);
    const auto found = (*store)->Verify();
    ASSERT_TRUE(found.has_value());
    ASSERT_TRUE(found->ok()) << found->first_problem;
    marked_ += found->marked_withdrawals;
    const Status again = PublishAll(**store, version + 1);
    ASSERT_TRUE(again.has_value()) << again.error().message;
    const auto after = (*store)->Verify();
    ASSERT_TRUE(after.has_value());
    ASSERT_TRUE(after->ok()) << after->first_problem;
    ASSERT_EQ(after->marked_withdrawals, 0U);
    published_ = version + 1;
  }

  std::uint64_t withdrawn() const { return withdrawn_; }
  std::uint64_t published() const { return published_; }
  std::uint64_t marked() const { return marked_; }

 private:
  // Records that the agent's next batch is stored. Batches to be withdrawn are not part of the
  // expected sums.
  void Note(unsigned agent) {
    const std::uint64_t sequence = next_[agent]++;
    ++acknowledged_;
    if (IsToBeWithdrawn(agent, sequence)) {
      to_withdraw_.insert({agent, sequence});
    } else {
      MakeTestBatch(agent, sequence, batch_, &sums_);
    }
  }

  using Batch = std::pair<unsigned, std::uint64_t>;
  std::filesystem::path data_dir_;
  std::array<std::uint64_t, kAgents> next_{};
  std::set<Batch> to_withdraw_;
  std::set<Batch> gone_;  // acknowledged withdrawals
  std::uint64_t withdrawn_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t published_ = 0;  // the last version that is known to be complete
  std::uint64_t marked_ = 0;     // marks found after kills
  Sums sums_;
  TestBatch batch_;
};

TEST(StoreCrashTest, EveryAcknowledgedBatchSurvivesAKillAtAnyMoment) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const testing::TempDir dir;
  Fleet fleet(dir.path() / "data");
  for (int cycle = 0; cycle < kRandomKills; ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    testing::BackgroundProcess writer(fleet.Command());
    for (std::uint64_t left = random() % 40; left > 0; --left) {
      ASSERT_TRUE(writer.WaitForLine("ack "));
    }
    writer.Signal(SIGKILL);
    const testing::ProcessResult result = writer.Wait();
    ASSERT_EQ(result.signal, SIGKILL) << result.output;
    ASSERT_NO_FATAL_FAILURE(fleet.ReadAcknowledged(result.output));
    ASSERT_NO_FATAL_FAILURE(fleet.ExpectExactSums());
  }
  EXPECT_GT(fleet.withdrawn(), 0U);
}

TEST(StoreCrashTest, PublishedUnitsAndMarksAgreeWithTheRowsAfterAKillAtAnyMoment) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::cout << "seed " << seed << "\n";
  std::mt19937_64 random(seed);
  const testing::TempDir dir;
  Fleet fleet(dir.path() / "data");
  for (int cycle = 0; cycle < kKillsOfPublications; ++cycle) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    testing::BackgroundProcess writer(fleet.Command({"publish", "0"}));
    for (std::uint64_t left = 1 + random() % 5; left > 0; --left) {
      ASSERT_TRUE(writer.WaitForLine("published "));
    }
    for (std::uint64_t left = random() % 8; left > 0; --left) {
      ASSERT_TRUE(writer.WaitForLine("ack "));
    }
    writer.Signal(SIGKILL);
    const testing::ProcessResult result = writer.Wait();
    ASSERT_EQ(result.signal, SIGKILL) << result.output;
    ASSERT_NO_FATAL_FAILURE(fleet.ReadAcknowledged(result.output));
    ASSERT_NO_FATAL_FAILURE(fleet.ExpectWholePublications());
    ASSERT_NO_FATAL_FAILURE(fleet.ExpectExactSums());
  }
  EXPECT_GT(fleet.published(), static_cast<std::uint64_t>(kKillsOfPublications));
  EXPECT_GT(fleet.marked(), 0U);
}

TEST(StoreCrashTest, AKillInsideACheckpointLosesAndDoublesNothing) {
  const testing::TempDir dir;
  Fleet fleet(dir.path() / "data");
  for (const char* stage : {"frozen", "written"}) {
    for (const char* count : {"1", "2", "4"}) {
      SCOPED_TRACE(std::string(stage) + " " + count);
      testing::BackgroundProcess writer(fleet.Command({stage, count}));
      const testing::ProcessResult result = writer.Wait();
      ASSERT_EQ(result.signal, SIGKILL) << result.output;
      ASSERT_NO_FATAL_FAILURE(fleet.ReadAcknowledged(result.output));
      ASSERT_NO_FATAL_FAILURE(fleet.ExpectExactSums());
    }
  }
}

TEST(StoreCrashTest, AfterAFailedWriteNothingIsAcceptedAndNothingAcknowledgedIsLost) {
  for (const char* count : {"0", "5", "30"}) {
    SCOPED_TRACE(count);
    // Each run starts with an empty store: with more data, engine builds with assertions may abort
    // after a background failure. tests/faults covers that.
    const testing::TempDir dir;
    Fleet fleet(dir.path() / "data");
    testing::BackgroundProcess writer(fleet.Command({"full", count}));
    const testing::ProcessResult result = writer.Wait();
    ASSERT_EQ(result.exit_status, 3) << result.output;
    const std::string refused =
        "refused " + std::to_string(static_cast<int>(ErrorCode::kIo)) + " failed\n";
    const std::size_t first = result.output.find(refused);
    ASSERT_NE(first, std::string::npos) << result.output;
    ASSERT_NE(result.output.find(refused, first + 1), std::string::npos) << result.output;
    EXPECT_FALSE(std::filesystem::exists(dir.path() / "data.backups"));
    ASSERT_NO_FATAL_FAILURE(fleet.ReadAcknowledged(result.output));
    ASSERT_NO_FATAL_FAILURE(fleet.ExpectExactSums());
  }
}

}  // namespace
}  // namespace fieldcost::store
