// The operator's commands, run as processes: beside a running server, and without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/limits.h"
#include "common/base/file.h"
#include "common/catalog/sync.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class OperateTest : public ServiceTest {
 protected:
  OperateTest() {
    WriteConfig(WithAdmin());
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "admin.token", "a-token\n", 0600).has_value());
  }

  std::string WithAdmin(const std::string& data_dir = "data") const {
    std::string config = Config("port = 0", data_dir,
                                "[admin]\nport = 0\naddress_file = \"admin_address\"\n"
                                "token_files = [\"admin.token\"]\n");
    const std::string store = "[store]\n";
    return config.insert(config.find(store) + store.size(), "retention_weeks = 20\n");
  }
  std::filesystem::path data() const { return dir_.path() / "data"; }
  std::filesystem::path backups() const { return dir_.path() / "backups"; }

  testing::ProcessResult Run(const std::vector<std::string>& words) {
    return testing::RunProcess(Command(words));
  }
  // Its standard output.
  std::string MustRun(const std::vector<std::string>& words) {
    const testing::ProcessResult result = Run(words);
    EXPECT_EQ(result.exit_status, 0) << words[0] << ": " << result.errors;
    return result.output;
  }
  void Send(std::uint64_t sequence, unsigned rows = 5) {
    const http::Response answer = MustSend(
        SignedRequest(key_, sequence, ingest::TestContent(rows, WeekOf(SystemClock().Now()))));
    ASSERT_EQ(answer.status, 200) << answer.body;
  }
  Result<catalog::SyncReport> Sync() {
    return catalog::Sync({.catalog_file = dir_.path() / "catalog.db",
                          .root_file = dir_.path() / "pinned",
                          .server = {.url = url_, .ca_file = certificates_.ca},
                          .full = true},
                         SystemClock());
  }
  void PinRoot() { std::filesystem::copy_file(data() / "publish/root/1", dir_.path() / "pinned"); }
};

TEST_F(OperateTest, CommandsWorkBesideARunningServerAndWithoutOne) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":1"));
  EXPECT_THAT(MustRun({"backup", "--to", backups().string()}), HasSubstr("sequence=1"));
  EXPECT_THAT(MustRun({"compact"}), StartsWith("compacted"));
  EXPECT_THAT(MustRun({"expire", "--json"}), HasSubstr("\"rows\":0"));
  const std::string agent = key_.public_key().Hex();
  EXPECT_THAT(MustRun({"revoke", "--agent", agent}), StartsWith("revoked"));
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, ingest::TestContent(1, 2900))).status, 403);
  EXPECT_THAT(MustRun({"verify", "--json"}), HasSubstr("\"ok\":true"));
  EXPECT_THAT(MustRun({"verify"}), HasSubstr(" batches=1 rows="));
  Stop();

  EXPECT_THAT(MustRun({"verify", "--json"}), HasSubstr("\"ok\":true"));
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":2"));
  EXPECT_THAT(MustRun({"backup", "--to", backups().string(), "--json"}),
              HasSubstr("\"sequence\":1"));
  EXPECT_THAT(MustRun({"compact", "--json"}), StartsWith("{}"));
  EXPECT_THAT(MustRun({"expire"}), HasSubstr("rows=0"));
  EXPECT_THAT(MustRun({"revoke", "--agent", agent}), StartsWith("revoked"));
}

TEST_F(OperateTest, WithoutAnAdminListenerTheErrorSaysWhatToDo) {
  WriteConfig(Config());
  ASSERT_NO_FATAL_FAILURE(Start());
  ExpectRefusal(Command({"compact"}), ErrorCode::kAlreadyExists, "configure [admin]");
  Stop();
  ExpectRefusal(Command({"expire"}), ErrorCode::kInvalidArgument, "store.retention_weeks");
}

TEST_F(OperateTest, AServiceWithoutAnAddressIsSaidToBeStartingOrAnother) {
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
  EXPECT_THAT(MustRun({"verify"}), HasSubstr("accepted: sequence=2 "));
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

TEST_F(OperateTest, OnlyWhatBelongsToTheStoreIsInABackupWhateverElseLiesBesideIt) {
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

TEST_F(OperateTest, ABackupIsForItsOwnerOnlyAndNotAmongWhatItIsOf) {
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

TEST_F(OperateTest, KeysAreShownRotatedAndFollowedWhileTheServerRuns) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  MustRun({"publish"});
  PinRoot();
  ASSERT_TRUE(Sync().has_value());
  const std::string before = MustRun({"keys", "show", "--json"});
  EXPECT_THAT(before, StartsWith("{\"root_version\":1,"));
  EXPECT_THAT(before, HasSubstr("\"role\":\"policy\""));
  EXPECT_THAT(MustRun({"keys", "show"}), HasSubstr("timestamp.key"));

  EXPECT_THAT(MustRun({"keys", "rotate", "timestamp", "--json"}), HasSubstr("\"published\":true"));
  auto synced = Sync();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  EXPECT_THAT(MustRun({"keys", "rotate", "root", "--keys", "3", "--threshold", "2"}),
              HasSubstr("root-3-1.key"));
  EXPECT_THAT(MustRun({"keys", "show"}), HasSubstr("2 of 3 root keys"));
  EXPECT_THAT(MustRun({"keys", "renew"}), HasSubstr("root_version=4"));
  synced = Sync();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  ExpectRefusal(
      Command({"keys", "rotate", "snapshot", "--root-key", (data() / "keys/root.key").string()}),
      ErrorCode::kUnauthenticated, "not a root key of root version 4");
  ExpectRefusal(Command({"keys", "rotate", "colour"}), ErrorCode::kInvalidArgument,
                "timestamp, snapshot, policy, root");
  for (const char* option : {"--keys=2", "--threshold=2"}) {
    ExpectRefusal(Command({"keys", "rotate", "snapshot", option}), ErrorCode::kInvalidArgument,
                  "are for the root");
  }
  ExpectRefusal(Command({"keys", "add-policy"}), ErrorCode::kAlreadyExists, "names a policy key");
  Stop();
  EXPECT_THAT(MustRun({"keys", "rotate", "snapshot"}), HasSubstr("published=no"));
  ASSERT_NO_FATAL_FAILURE(Start());
  synced = Sync();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
