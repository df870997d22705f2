// A disk that returns altered bytes, fewer bytes, or no file.
#include <fstream>
#include <map>

#include "common/base/error.h"
#include "tests/aggregator/probe_server/program_fixture.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kMaxFileBytes = 64 << 20;
constexpr std::uint64_t kBatches = 30;

using Files = std::map<std::string, std::string>;  // contents by file name

class ProbeDamageTest : public ProbeServerTest {
 protected:
  // Leaves the files of a server that was killed after acknowledging kBatches batches.
  void SetUp() override {
    Start();
    const std::string token = Enrol();
    for (std::uint64_t i = 1; i <= kBatches; ++i) ASSERT_EQ(SendBatch(token, i).status, 200);
    Kill();
    good_ = ReadFiles();
    ASSERT_TRUE(good_.contains("probe-server.db-wal"));
  }

  std::filesystem::path data() const { return home() / "data"; }
  Files ReadFiles() const {
    Files files;
    for (const auto& entry : std::filesystem::directory_iterator(data())) {
      files[entry.path().filename().string()] =
          entry.is_regular_file() ? *ReadFile(entry.path(), kMaxFileBytes) : "a directory";
    }
    return files;
  }
  void WriteFiles(const Files& files) const {
    std::filesystem::remove_all(data());
    std::filesystem::create_directory(data());
    for (const auto& [name, bytes] : files) {
      std::ofstream(data() / name, std::ios::binary) << bytes;
    }
  }

  // Returns whether verify finds everything that was acknowledged. verify must change nothing, and
  // must fail if anything is missing.
  bool VerifyFindsAll(const std::string& what) const {
    const Files before = ReadFiles();
    const ProcessResult result = Run({"verify"});
    EXPECT_EQ(ReadFiles(), before) << what << ": verify changed a file";
    if (result.exit_status == 0) {
      EXPECT_THAT(result.output, HasSubstr("events=30 points=120")) << what;
      EXPECT_THAT(result.output, HasSubstr("devices=1 batches=30")) << what;
      return true;
    }
    EXPECT_TRUE(result.exit_status == 1 || result.exit_status == ExitStatus(ErrorCode::kCorrupt) ||
                result.exit_status == ExitStatus(ErrorCode::kNotFound))
        << what << ": " << result.exit_status << result.errors;
    return false;
  }

  // Writes damaged files; a program that then opens them must not hide what verify finds.
  void Try(const std::string& name, const std::string& what, const Files& files) {
    WriteFiles(files);
    const bool is_harmless = VerifyFindsAll(name + " " + what);
    const ProcessResult opened = Run({"user", "list"});
    const bool finds_all = VerifyFindsAll(name + " " + what + ", opened");
    if (is_harmless) {
      EXPECT_EQ(opened.exit_status, 0) << name << ' ' << what << ": " << opened.errors;
    }
    EXPECT_EQ(finds_all, is_harmless) << name << ' ' << what;
    ++(is_harmless ? harmless_ : detected_);
  }

  Files good_;
  int harmless_ = 0;
  int detected_ = 0;
};

TEST_F(ProbeDamageTest, EveryDamageOfEveryFileIsDetectedOrHarmless) {
  constexpr std::size_t kFlips = 24;
  for (const auto& [name, bytes] : good_) {
    for (std::size_t i = 0; i < kFlips && !bytes.empty(); ++i) {
      Files files = good_;
      const std::size_t at = (bytes.size() - 1) * i / (kFlips - 1);
      files[name][at] = static_cast<char>(files[name][at] ^ (1 << i % 8));
      Try(name, "flipped at " + std::to_string(at), files);
    }
    for (const std::size_t size : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      if (size >= bytes.size()) continue;
      Files files = good_;
      files[name].resize(size);
      Try(name, "cut to " + std::to_string(size), files);
    }
    Files files = good_;
    files.erase(name);
    Try(name, "removed", files);
  }
  EXPECT_GT(harmless_, 20);
  EXPECT_GT(detected_, 50);
}

TEST_F(ProbeDamageTest, TheServerRefusesAFlippedBitInTheLogAndKeepsTheEvidence) {
  for (const int percent : {20, 50, 80}) {
    Files files = good_;
    std::string& log = files["probe-server.db-wal"];
    const std::size_t at = log.size() * static_cast<std::size_t>(percent) / 100;
    log[at] = static_cast<char>(log[at] ^ 1);
    WriteFiles(files);
    const ProcessResult result = RunProcess(Command({}));
    EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kCorrupt)) << result.output;
    EXPECT_THAT(result.errors, HasSubstr("were acknowledged"));
    EXPECT_EQ(ReadFiles(), files);
  }
}

TEST_F(ProbeDamageTest, UnacknowledgedTornEndIsNotDamage) {
  Files files = good_;
  std::string& log = files["probe-server.db-wal"];
  // The beginning of a frame with this log's salts, cut off by the kill.
  log += log.substr(32, 24 + 1'000);
  WriteFiles(files);
  EXPECT_TRUE(VerifyFindsAll("torn"));
  Start();
  Stop();
  EXPECT_TRUE(VerifyFindsAll("torn, served"));
}

TEST_F(ProbeDamageTest, ALossIsAcceptedOnlyOnRequestAndAfterACopy) {
  Files files = good_;
  std::string& log = files["probe-server.db-wal"];
  log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 1);
  WriteFiles(files);
  const ProcessResult look = Run({"recover"});
  ASSERT_EQ(look.exit_status, 1);
  EXPECT_THAT(look.output, HasSubstr("were acknowledged\n"));
  const ProcessResult accepted = Run({"recover", "--accept-loss"});
  EXPECT_EQ(accepted.exit_status, 0) << accepted.errors;
  EXPECT_EQ(*ReadFile(data() / "damaged.1" / "probe-server.db-wal", kMaxFileBytes), log);
  EXPECT_EQ(Run({"verify"}).exit_status, 0);
  EXPECT_THAT(Run({"recover"}).output, HasSubstr("nothing to do"));
  Start();
  EXPECT_EQ(Run({"recover"}).exit_status, ExitStatus(ErrorCode::kUnavailable));
  EXPECT_EQ(Run({"verify"}).exit_status, 0);
  Stop();
}

TEST_F(ProbeDamageTest, ADamagedBackupIsNotRestored) {
  const std::filesystem::path backup = dir_.path() / "backup";
  ASSERT_EQ(Run({"backup", backup.string()}).exit_status, 0);
  std::filesystem::remove_all(data());
  const std::string good = *ReadFile(backup / "probe-server.db", kMaxFileBytes);
  for (int i = 0; i < 16; ++i) {
    std::string bad = good;
    const std::size_t at = (bad.size() - 1) * static_cast<std::size_t>(i) / 15;
    bad[at] = static_cast<char>(bad[at] ^ (1 << i % 8));
    ASSERT_TRUE(WriteFileAtomically(backup / "probe-server.db", bad, 0600));
    EXPECT_EQ(Run({"restore", backup.string()}).exit_status, ExitStatus(ErrorCode::kCorrupt)) << at;
    EXPECT_FALSE(std::filesystem::exists(database()));
  }
  ASSERT_TRUE(WriteFileAtomically(backup / "probe-server.db", good, 0600));
  EXPECT_EQ(Run({"restore", backup.string()}).exit_status, 0);
  EXPECT_TRUE(VerifyFindsAll("restored"));
}

}  // namespace
}  // namespace fieldcost::testing
