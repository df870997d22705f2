// The real program with a damaged log: it reports the damage, changes nothing, and lets the
// operator decide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "tests/aggregator/operate/operate_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t kBatches = 12;
constexpr std::size_t kMaxFile = std::size_t{64} << 20;

class DamagedLogTest : public OperateTest {
 protected:
  void KillAfterBatches() {
    ASSERT_NO_FATAL_FAILURE(Start());
    for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) Send(sequence);
    server_->Signal(SIGKILL);
    server_->Wait();
    server_.reset();
    for (const auto& entry : std::filesystem::directory_iterator(data() / "store")) {
      const bool is_newer = entry.path().extension() == ".log" && entry.path() > log_;
      if (is_newer && entry.file_size() != 0) log_ = entry.path();
    }
    ASSERT_FALSE(log_.empty());
  }
  std::map<std::string, std::string> StoreFiles() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(data() / "store")) {
      files[entry.path().filename().string()] = ReadFile(entry.path(), kMaxFile).value();
    }
    return files;
  }
  void FlipBit(std::size_t at) {
    std::string bytes = ReadFile(log_, kMaxFile).value();
    bytes[at] ^= 1;
    ASSERT_TRUE(WriteFileAtomically(log_, bytes, 0600).has_value());
  }

  std::filesystem::path log_;
};

TEST_F(DamagedLogTest, DoesNotStartUntilTheOperatorDropsTheDamage) {
  ASSERT_NO_FATAL_FAILURE(KillAfterBatches());
  FlipBit(std::filesystem::file_size(log_) / 2);
  const auto damaged = StoreFiles();
  for (int i = 0; i < 2; ++i) {  // the first attempt must not remove the evidence
    for (const char* command : {"serve", "verify", "publish"}) {
      const testing::ProcessResult result = Run({command});
      EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kCorrupt)) << command;
      EXPECT_THAT(result.errors, HasSubstr(log_.string() + " is damaged at byte "));
      EXPECT_THAT(result.errors, HasSubstr("fieldcost-aggregator recover"));
    }
  }
  const testing::ProcessResult shown = Run({"recover"});
  EXPECT_EQ(shown.exit_status, 1) << shown.errors;
  EXPECT_THAT(shown.output, HasSubstr("epoch "));
  EXPECT_THAT(shown.output, HasSubstr(", batch 12\n"));
  EXPECT_THAT(shown.output, HasSubstr("would be lost"));
  EXPECT_EQ(StoreFiles(), damaged);

  const testing::ProcessResult dropped = Run({"recover", "--drop-damaged", "--json"});
  EXPECT_EQ(dropped.exit_status, 0) << dropped.errors;
  EXPECT_THAT(dropped.output, HasSubstr(R"("lost_withdrawals":0,)"));
  EXPECT_EQ(ReadFile(data() / "damaged.1" / log_.filename(), kMaxFile).value(),
            damaged.at(log_.filename().string()));
  EXPECT_THAT(MustRun({"recover"}), StartsWith("no log of the store is damaged"));
  EXPECT_THAT(MustRun({"verify"}), StartsWith("the store is good"));
  // An agent that still has the batches can send them again, and each counts once.
  ASSERT_NO_FATAL_FAILURE(Start());
  for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) Send(sequence);
  Stop();
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=12 "));
}

TEST_F(DamagedLogTest, AfterACleanEndNoBitOfALogMatters) {
  ASSERT_NO_FATAL_FAILURE(Start());
  for (std::uint64_t sequence = 1; sequence <= kBatches; ++sequence) Send(sequence);
  Stop();
  for (const auto& entry : std::filesystem::directory_iterator(data() / "store")) {
    if (entry.path().extension() != ".log") continue;
    EXPECT_EQ(entry.file_size(), 0U) << entry.path();
  }
}

}  // namespace
}  // namespace fieldcost::aggregator
