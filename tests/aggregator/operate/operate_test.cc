// The operator's commands, run as processes, with and without a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "aggregator/publish/publish_limits.h"
#include "tests/aggregator/operate/operate_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(OperateTest, CommandsWorkWithOrWithoutARunningServer) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":2"));
  EXPECT_THAT(MustRun({"backup", "--to", backups().string()}), HasSubstr("sequence=1"));
  EXPECT_THAT(MustRun({"compact"}), StartsWith("compacted"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900", "--json"}), HasSubstr("\"rows_left\":5"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900", "--yes", "--json"}),
              StartsWith(R"({"rows":0,"ledger_entries":0,"held_batches":0,"kept_batches":0})"));
  const std::string agent = key_.public_key().Hex();
  EXPECT_THAT(MustRun({"revoke", "--agent", agent}), StartsWith("revoked"));
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, ingest::TestContent(1, 2900))).status, 403);
  EXPECT_THAT(MustRun({"verify", "--json"}), HasSubstr("\"ok\":true"));
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=1 rows="));
  Stop();

  EXPECT_THAT(MustRun({"verify", "--json"}), HasSubstr("\"ok\":true"));
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":3"));
  EXPECT_THAT(MustRun({"backup", "--to", backups().string(), "--json"}),
              HasSubstr("\"sequence\":1"));
  EXPECT_THAT(MustRun({"compact", "--json"}), StartsWith("{}"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900"}), HasSubstr("rows_left=5"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900", "--yes"}),
              StartsWith("deleted all rows before week 2900 (from 2025-07-31): rows=0 "));
  EXPECT_THAT(MustRun({"revoke", "--agent", agent}), StartsWith("revoked"));
}

// An abuser is identified by the name in the log, revoked and removed as if it had never sent
// anything.
TEST_F(OperateTest, RevokesAnAgentByItsLogNameWithOrWithoutAServer) {
  const std::uint32_t week = WeekOf(SystemClock().Now());
  const auto abuser = [](char seed) { return crypto::PrivateKey::FromSeed(std::string(32, seed)); };
  wire::BatchContent poison = ingest::TestContent(3, week);
  poison.rows.push_back(poison.rows[0]);  // twice in one batch: no honest agent sends this
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  MustRun({"publish"});
  const std::vector<stats::StatRow> before = Download();
  std::vector<std::string> names;
  for (const char seed : {'x', 'y'}) {
    for (std::uint64_t sequence = 1; sequence <= 2; ++sequence) {
      for (wire::BatchRow& row : poison.rows) row.first_contribution = sequence == 1;
      ASSERT_EQ(MustSend(SignedRequest(abuser(seed), sequence, poison)).status, 200);
    }
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("abuse kind=implausible_rows", &line));
    names.push_back(line.substr(line.find("agent=") + 6, 16));
  }
  ASSERT_NE(names[0], names[1]);
  ExpectRefusal(Command({"revoke", "0123456789abcdef"}), ErrorCode::kNotFound, "no agent that");
  ExpectRefusal(Command({"revoke", "0123"}), ErrorCode::kInvalidArgument, "16 hex digits");
  EXPECT_EQ(Download(), before);
  const std::string shown = MustRun({"revoke", names[0], "--withdraw", "--dry-run", "--json"});
  EXPECT_THAT(shown, HasSubstr("\"batches\":2,\"held_batches\":0,\"not_kept\":0,\"rows\":3,"));
  EXPECT_THAT(shown, HasSubstr("contributions 3 -> 2\""));
  ASSERT_EQ(MustSend(SignedRequest(abuser('x'), 3, ingest::TestContent(1, week))).status, 200);
  EXPECT_THAT(MustRun({"revoke", names[0], "--withdraw"}), HasSubstr("batches=3 "));
  EXPECT_EQ(MustSend(SignedRequest(abuser('x'), 4, ingest::TestContent(1, week))).status, 403);
  // The abuser's batch is now reported as withdrawn.
  const http::Response gone = MustSend(ingest::WithdrawalRequest(
      abuser('x'), 3, *wire::EncodeBatch(ingest::TestContent(1, week)), ""));
  EXPECT_EQ(gone.status, 200) << gone.body;
  Stop();

  EXPECT_THAT(MustRun({"revoke", names[1], "--withdraw", "--dry-run"}), HasSubstr("batches=2 "));
  EXPECT_THAT(MustRun({"revoke", names[1], "--withdraw", "--json"}), HasSubstr("\"batches\":2,"));
  EXPECT_THAT(MustRun({"revoke", names[1], "--withdraw", "--json"}), HasSubstr("\"batches\":0,"));
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=1 "));
  ASSERT_NO_FATAL_FAILURE(Start());
  MustRun({"publish"});
  EXPECT_EQ(Download(), before) << "bit for bit";
  EXPECT_EQ(MustSend(SignedRequest(abuser('y'), 4, ingest::TestContent(1, week))).status, 403);
  Stop();
}

TEST_F(OperateTest, InvitationAdmitsOneAgentWithOrWithoutAServer) {
  WriteConfig(WithAdmin() + "[enrolment]\nmode = \"token\"\n");
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto token_of = [](const std::string& json) {
    const std::string name = "\"token\":\"";
    return json.substr(json.find(name) + name.size(), 32);
  };
  const auto enrol = [this](char seed, const std::string& token) {
    const auto key = crypto::PrivateKey::FromSeed(std::string(32, seed));
    return MustSend(ingest::EnrolmentRequest(key, token)).status;
  };
  const std::string first = token_of(MustRun({"invitation", "make", "--json"}));
  EXPECT_EQ(enrol('a', first), 200);
  EXPECT_EQ(enrol('b', first), 403);
  server_->Signal(SIGKILL);
  server_->Wait();
  const std::string second =
      token_of(MustRun({"invitation", "make", "--uses", "2", "--label", "two of us", "--json"}));
  const std::string listed = MustRun({"invitation", "list"});
  EXPECT_THAT(listed, HasSubstr(" uses=1 used=1 "));
  EXPECT_THAT(listed, HasSubstr(" uses=2 used=0 "));
  EXPECT_THAT(listed, HasSubstr("label=two of us\n"));
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(enrol('b', first), 403) << "uses before the kill are counted";
  EXPECT_EQ(enrol('a', first), 200);
  EXPECT_EQ(enrol('b', second), 200);
  const std::string name = listed.substr(0, 16);
  MustRun({"invitation", "remove", name});
  ExpectRefusal(Command({"invitation", "remove", name}), ErrorCode::kNotFound, "no invitation");
  EXPECT_THAT(MustRun({"invitation", "list", "--json"}), Not(HasSubstr(name)));
  ExpectRefusal(Command({"invitation", "make", "--uses", "0"}), ErrorCode::kInvalidArgument,
                "uses: expected 1 to");
  Stop();
}

TEST_F(OperateTest, WithoutAnAdminListenerTheErrorSaysWhatToDo) {
  WriteConfig(Config());
  ASSERT_NO_FATAL_FAILURE(Start());
  ExpectRefusal(Command({"compact"}), ErrorCode::kAlreadyExists, "configure [admin]");
  Stop();
}

TEST_F(OperateTest, ReportsThatAServiceWithoutAddressStartsOrIsAnother) {
  ASSERT_NO_FATAL_FAILURE(Start());
  std::filesystem::remove(dir_.path() / "admin_address");
  ExpectRefusal(Command({"compact"}), ErrorCode::kUnavailable,
                "it is starting, or runs with another");
  Stop();
}

TEST_F(OperateTest, ARestoredServerKnowsReplaysAndClientsTakeWhatItPublishes) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  const http::Response answer =
      MustSend(SignedRequest(key_, 2, ingest::TestContent(9, WeekOf(SystemClock().Now()))));
  MustRun({"publish"});
  PinRoot();
  MustRun({"backup", "--to", backups().string()});
  Send(3);
  for (int i = 0; i < 3; ++i) MustRun({"publish"});
  ASSERT_TRUE(Sync().has_value());
  Stop();

  std::filesystem::rename(data(), dir_.path() / "lost");
  ExpectRefusal(Command({"restore", "--from", (dir_.path() / "no").string()}), ErrorCode::kNotFound,
                "there is no backup");
  EXPECT_THAT(MustRun({"restore", "--from", backups().string()}), HasSubstr("sequence=2"));
  ExpectRefusal(Command({"restore", "--from", backups().string()}), ErrorCode::kAlreadyExists,
                "empty data directory");
  EXPECT_THAT(MustRun({"verify"}), HasSubstr("the ledger agrees: sequence=2 "));
  EXPECT_FALSE(std::filesystem::exists(data() / "keys/root.key"));
  for (const char* name : {"pseudonym.secret", "receipt.secret", "timestamp.key", "policy.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat((data() / "keys" / name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
  }
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(
      MustSend(SignedRequest(key_, 2, ingest::TestContent(9, WeekOf(SystemClock().Now())))).body,
      answer.body);
  EXPECT_GT(DownloadSnapshot().version, publish::kRestoredVersionGap);
  const auto synced = Sync();
  ASSERT_TRUE(synced.has_value()) << synced.error().message;
  EXPECT_EQ(synced->snapshot_version, DownloadSnapshot().version);
  Stop();
}

TEST_F(OperateTest, SigningKeysCanBeLeftOutAndMadeAnew) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  MustRun({"publish"});
  PinRoot();
  ASSERT_TRUE(Sync().has_value());
  MustRun({"backup", "--to", backups().string(), "--without-signing-keys"});
  Stop();
  std::filesystem::rename(data(), dir_.path() / "lost");
  const std::string output = MustRun({"restore", "--from", backups().string()});
  EXPECT_THAT(output, HasSubstr("timestamp.key"));
  ExpectRefusal(Command(), ErrorCode::kNotFound, "timestamp.key is missing");
  const std::string root_key = (dir_.path() / "lost/keys/root.key").string();
  for (const char* role : {"timestamp", "snapshot", "policy"}) {
    MustRun({"keys", "rotate", role, "--root-key", root_key});
  }
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto synced = Sync();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  Stop();
}

TEST_F(OperateTest, BackupContainsOnlyFilesOfTheStore) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  Stop();
  const std::string root_key = ReadFile(data() / "keys/root.key", 1024).value();
  std::filesystem::copy_file(data() / "keys/root.key", data() / "keys/copy of the root.key~");
  std::filesystem::copy_file(data() / "keys/timestamp.key", data() / "keys/timestamp.key.bak");
  std::ofstream(data() / "publish/root/1.AbCdEf") << "half a ro";
  MustRun({"backup", "--to", backups().string(), "--without-signing-keys"});
  const std::string timestamp_key = ReadFile(data() / "keys/timestamp.key", 1024).value();
  for (const auto& file : std::filesystem::directory_iterator(backups() / "files")) {
    EXPECT_NE(ReadFile(file.path(), 1 << 20).value(), root_key);
    EXPECT_NE(ReadFile(file.path(), 1 << 20).value(), timestamp_key);
  }
  std::filesystem::rename(data(), dir_.path() / "lost");
  EXPECT_THAT(MustRun({"restore", "--from", backups().string(), "--json"}),
              HasSubstr("\"missing_keys\":[\"" + (data() / "keys/timestamp.key").string() +
                        "\",\"" + (data() / "keys/snapshot.key").string() + "\"]}"));
}

TEST_F(OperateTest, BackupIsPrivateAndOutsideTheDataDirectory) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  std::filesystem::create_directory(backups());
  ASSERT_EQ(::chmod(backups().c_str(), 0755), 0);
  MustRun({"backup", "--to", backups().string()});
  for (const auto& folder : std::filesystem::directory_iterator(backups())) {
    EXPECT_TRUE(folder.is_directory());
    EXPECT_EQ(folder.status().permissions(), std::filesystem::perms::owner_all) << folder.path();
  }
  std::filesystem::create_directory_symlink(data() / "publish", dir_.path() / "link");
  for (const std::filesystem::path& place :
       {data(), data() / "publish", data() / "publish/fragments", data() / "store/x",
        data() / "keys", data() / "new/../keys", dir_.path() / "link/snapshots"}) {
    ExpectRefusal(Command({"backup", "--to", place.string()}), ErrorCode::kInvalidArgument,
                  "is part of the data directory");
  }
  MustRun({"backup", "--to", (data() / "backups").string()});
  Stop();
}

TEST_F(OperateTest, DamagedBackupsAreRefusedAndLeaveNoStore) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  Stop();
  MustRun({"backup", "--to", backups().string()});
  std::filesystem::rename(data(), dir_.path() / "lost");
  const auto secret = ReadFile(dir_.path() / "lost/keys/receipt.secret", 1024);
  for (const auto& file : std::filesystem::directory_iterator(backups() / "files")) {
    if (*ReadFile(file.path(), 1 << 20) == *secret) {
      std::ofstream(file.path(), std::ios::app) << "x";
    }
  }
  ExpectRefusal(Command({"restore", "--from", backups().string()}), ErrorCode::kCorrupt,
                "receipt.secret, is damaged");
  EXPECT_FALSE(std::filesystem::exists(data() / "store"));
  EXPECT_FALSE(std::filesystem::exists(data() / "keys"));
}

TEST_F(OperateTest, ReportsRestoringAnOlderBackupIfTheNewestHasNoList) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  MustRun({"backup", "--to", backups().string()});
  Send(2);
  MustRun({"backup", "--to", backups().string()});
  Stop();
  std::filesystem::rename(data(), dir_.path() / "lost");
  ASSERT_TRUE(std::filesystem::remove(backups() / "meta/2"));
  const std::string output = MustRun({"restore", "--from", backups().string()});
  EXPECT_THAT(output, HasSubstr("sequence=1 "));
  EXPECT_THAT(output, HasSubstr("passed_over=" + (backups() / "private/2").string()));
  EXPECT_THAT(output, HasSubstr("the previous one was restored"));
}

// When a backup is needed, there is no time to search for the damaged file.
TEST_F(OperateTest, NamesAnyDamagedFileOfABackup) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  Send(2);
  Stop();
  MustRun({"backup", "--to", backups().string()});
  const std::filesystem::path target = dir_.path() / "restored";
  WriteConfig(WithAdmin(target.string()));
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(backups())) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::filesystem::path file = entry.path();
    const std::string bytes = *ReadFile(file, 1 << 26);
    ASSERT_FALSE(bytes.empty()) << file;
    std::string flipped = bytes;
    flipped[bytes.size() / 2] = static_cast<char>(flipped[bytes.size() / 2] ^ 1);
    const std::string shorter = bytes.substr(0, bytes.size() / 2);
    for (const std::string* damaged :
         {&std::as_const(flipped), &shorter, static_cast<const std::string*>(nullptr)}) {
      SCOPED_TRACE(file.string() + (damaged == nullptr    ? " is missing"
                                    : damaged == &shorter ? " is too short"
                                                          : " has another byte"));
      std::filesystem::remove(file);
      if (damaged != nullptr) std::ofstream(file) << *damaged;
      const testing::ProcessResult result = Run({"restore", "--from", backups().string()});
      EXPECT_GT(result.exit_status, 1);
      EXPECT_THAT(result.errors, HasSubstr(file.string()));
      EXPECT_FALSE(std::filesystem::exists(target / "store"));
      std::filesystem::remove_all(target);
    }
    std::ofstream(file) << bytes;
  }
  EXPECT_GT(files, 10U);
  MustRun({"restore", "--from", backups().string()});
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=2 "));
}

}  // namespace
}  // namespace fieldcost::aggregator
