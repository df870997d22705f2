// The operator's commands, run as processes: beside a running server, and without one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/limits.h"
#include "tests/aggregator/operate/operate_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(OperateTest, CommandsWorkBesideARunningServerAndWithoutOne) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Send(1);
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":1"));
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
  EXPECT_THAT(MustRun({"publish", "--json"}), HasSubstr("\"version\":2"));
  EXPECT_THAT(MustRun({"backup", "--to", backups().string(), "--json"}),
              HasSubstr("\"sequence\":1"));
  EXPECT_THAT(MustRun({"compact", "--json"}), StartsWith("{}"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900"}), HasSubstr("rows_left=5"));
  EXPECT_THAT(MustRun({"expire", "--before", "2900", "--yes"}),
              StartsWith("deleted what was before week 2900 (from 2025-07-31): rows=0 "));
  EXPECT_THAT(MustRun({"revoke", "--agent", agent}), StartsWith("revoked"));
}

// An abuser is found by the name in the log, turned away, and taken out as if it had never come.
TEST_F(OperateTest, AnAgentIsTakenOutByItsNameInTheLogBesideAServerAndWithoutOne) {
  const std::uint32_t week = WeekOf(SystemClock().Now());
  const auto abuser = [](char seed) { return crypto::PrivateKey::FromSeed(std::string(32, seed)); };
  wire::BatchContent poison = ingest::TestContent(3, week);
  poison.rows.push_back(poison.rows[0]);  // twice in a batch: what no honest agent sends
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
  // Its owner finds it withdrawn.
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

TEST_F(OperateTest, WithoutAnAdminListenerTheErrorSaysWhatToDo) {
  WriteConfig(Config());
  ASSERT_NO_FATAL_FAILURE(Start());
  ExpectRefusal(Command({"compact"}), ErrorCode::kAlreadyExists, "configure [admin]");
  Stop();
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
  EXPECT_THAT(MustRun({"verify"}), HasSubstr("knows the same: sequence=2 "));
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

TEST_F(OperateTest, RestoringAnOlderBackupBecauseTheNewestHasNoListIsSaid) {
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
  EXPECT_THAT(output, HasSubstr("this is the one before"));
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

// What a running server tells of itself, and of the keys that it does not need.
class OfflineKeysTest : public OperateTest {
 protected:
  std::filesystem::path medium() const { return dir_.path() / "medium"; }
  std::string Bytes(const std::filesystem::path& file) const {
    return ReadFile(file, 1024).value();
  }
  std::string PresentKeys() {
    const std::string url = Trimmed(dir_.path() / "admin_address");
    auto client = http::Client::Create({.url = url});
    EXPECT_TRUE(client.has_value());
    const auto answer = client->Send({.target = "/metrics"});
    EXPECT_TRUE(answer.has_value());
    const std::string name = "\nfieldcost_offline_keys_present ";
    const std::size_t at = answer->body.find(name);
    return at == std::string::npos ? "none" : answer->body.substr(at + name.size(), 1);
  }
  static std::string Trimmed(const std::filesystem::path& file) {
    std::string text = ReadFile(file, 1024).value();
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  // What the server has said until it ended.
  std::string StopAndRead() {
    client_.reset();
    server_->Signal(SIGTERM);
    const testing::ProcessResult result = server_->Wait();
    EXPECT_EQ(result.exit_status, 0);
    server_.reset();
    return result.output;
  }
  static constexpr char kWarning[] = "keys that this service does not need lie beside it";
};

TEST_F(OfflineKeysTest, EachStartSaysThatKeysLieThereUntilTheyAreExported) {
  std::filesystem::create_directory(medium());
  for (int start = 0; start < 2; ++start) {
    ASSERT_NO_FATAL_FAILURE(Start());
    EXPECT_EQ(PresentKeys(), "2");
    const std::string said = StopAndRead();
    EXPECT_THAT(said, HasSubstr(kWarning));
    EXPECT_THAT(said, HasSubstr("root.key"));
    EXPECT_THAT(said, HasSubstr("policy.key"));
  }
  ASSERT_NO_FATAL_FAILURE(Start());
  PinRoot();
  MustRun({"keys", "export-offline", "root", "--to", medium().string()});
  EXPECT_EQ(PresentKeys(), "1");
  MustRun({"keys", "export-offline", "policy", "--to", medium().string()});
  EXPECT_EQ(PresentKeys(), "0");
  Stop();
  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(PresentKeys(), "0");

  // What needs the keys takes them from there, and makes new ones there.
  Send(1);
  MustRun({"publish"});
  EXPECT_TRUE(Sync().has_value());
  ExpectRefusal(Command({"keys", "rotate", "snapshot"}), ErrorCode::kNotFound, "--offline DIR");
  MustRun({"keys", "rotate", "snapshot", "--offline", medium().string()});
  MustRun({"keys", "renew", "--offline", medium().string()});
  MustRun({"keys", "rotate", "policy", "--offline", medium().string()});
  MustRun({"keys", "rotate", "root", "--offline", medium().string()});
  MustRun({"keys", "renew", "--offline", medium().string()});
  std::ofstream(dir_.path() / "policy.toml") << "[policy]\nmax_programs = 3\n";
  const std::string policy = (dir_.path() / "policy.toml").string();
  ExpectRefusal(Command({"policy", "sign", policy}), ErrorCode::kNotFound, "policy.key is missing");
  MustRun({"policy", "sign", policy, "--offline", medium().string()});
  EXPECT_TRUE(Sync().has_value());
  EXPECT_EQ(PresentKeys(), "0");
  EXPECT_THAT(StopAndRead(), Not(HasSubstr(kWarning)));
}

TEST_F(OfflineKeysTest, AKeyIsRemovedOnlyWhenItsCopyIsGood) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  const std::filesystem::path root_key = data() / "keys/root.key";
  const std::string bytes = Bytes(root_key);
  const auto refused = [&](const std::string& role, const std::filesystem::path& to, ErrorCode code,
                           const std::string& message) {
    SCOPED_TRACE(message);
    ExpectRefusal(Command({"keys", "export-offline", role, "--to", to.string()}), code, message);
    EXPECT_EQ(Bytes(root_key), bytes);
  };
  refused("root", medium(), ErrorCode::kNotFound, "mount what the keys go to");
  std::filesystem::create_directory(medium());
  refused("timestamp", medium(), ErrorCode::kInvalidArgument, "the timestamp key stays");
  refused("colour", medium(), ErrorCode::kInvalidArgument, "a role is one of");
  refused("root", data() / "keys", ErrorCode::kInvalidArgument, "lies in the data directory");
  refused("root", data(), ErrorCode::kInvalidArgument, "lies in the data directory");
  for (const std::string& there : {std::string("not a key"), Bytes(data() / "keys/policy.key")}) {
    ASSERT_TRUE(WriteFileAtomically(medium() / "root.key", there, 0600).has_value());
    refused("root", medium(), ErrorCode::kAlreadyExists, "nothing is overwritten");
    EXPECT_EQ(Bytes(medium() / "root.key"), there);
  }
  ASSERT_TRUE(std::filesystem::remove(medium() / "root.key"));
  ASSERT_TRUE(std::filesystem::remove(data() / "keys/policy.key"));
  refused("policy", medium(), ErrorCode::kNotFound, "holds a policy key of root version 1");

  // As an interruption between copy and removal leaves it.
  ASSERT_TRUE(WriteFileAtomically(medium() / "root.key", bytes, 0600).has_value());
  const testing::ProcessResult result =
      Run({"keys", "export-offline", "root", "--to", medium().string()});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("is on the file system of the data directory"));
  EXPECT_FALSE(std::filesystem::exists(root_key));
  EXPECT_EQ(Bytes(medium() / "root.key"), bytes);
  struct stat info {};
  ASSERT_EQ(::stat((medium() / "root.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600U);
}

TEST_F(OfflineKeysTest, AllRootKeysGoAndWhatWaitsForARotationGoesToo) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  std::filesystem::create_directory(medium());
  MustRun({"keys", "rotate", "root", "--keys", "3", "--threshold", "2"});
  const std::string policy = Bytes(data() / "keys/policy.key");
  // Interrupted before its root was written: a key that nothing names yet.
  ASSERT_TRUE(
      WriteFileAtomically(data() / "keys/policy.key.next", std::string(64, 'a') + "\n", 0600)
          .has_value());
  for (const char* role : {"root", "policy"}) {
    MustRun({"keys", "export-offline", role, "--to", medium().string()});
  }
  std::set<std::string> left;
  for (const auto& file : std::filesystem::directory_iterator(data() / "keys")) {
    left.insert(file.path().filename());
  }
  EXPECT_THAT(left, ::testing::ElementsAre("abuse_names.secret", "pseudonym.secret",
                                           "receipt.secret", "snapshot.key", "timestamp.key"));
  std::set<std::string> moved;
  for (const auto& file : std::filesystem::directory_iterator(medium())) {
    moved.insert(file.path().filename());
  }
  EXPECT_THAT(moved, ::testing::ElementsAre("policy.key", "policy.key.next", "root-2-1.key",
                                            "root-2-2.key", "root-2-3.key", "root.key"));
  EXPECT_EQ(Bytes(medium() / "policy.key"), policy);

  // Interrupted after it: the key that waits is the one in force.
  MustRun({"keys", "rotate", "policy", "--offline", medium().string()});
  std::filesystem::rename(medium() / "policy.key", data() / "keys/policy.key.next");
  std::filesystem::create_directory(dir_.path() / "another");
  MustRun({"keys", "export-offline", "policy", "--to", (dir_.path() / "another").string()});
  EXPECT_TRUE(std::filesystem::exists(dir_.path() / "another/policy.key"));
}

// As the unit leaves it: root owns the keys that the service, another user, does not need.
TEST_F(OfflineKeysTest, AServiceThatCannotReadThemServesAndBacksUp) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make another user's files";
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  constexpr uid_t kServiceUser = 1;
  ASSERT_EQ(::chown(dir_.path().c_str(), kServiceUser, kServiceUser), 0);
  for (const auto& file : std::filesystem::recursive_directory_iterator(dir_.path())) {
    const std::string name = file.path().filename();
    const bool offline = name == "root.key" || name == "policy.key";
    ASSERT_EQ(::lchown(file.path().c_str(), offline ? 0 : kServiceUser, kServiceUser), 0);
  }
  const auto as_service = [this](std::vector<std::string> more) {
    testing::ProcessOptions options = Command(std::move(more));
    const std::vector<std::string> user = {"setpriv", "--reuid=1", "--regid=1", "--clear-groups"};
    options.arguments.insert(options.arguments.begin(), user.begin(), user.end());
    return options;
  };
  testing::BackgroundProcess server(as_service({}));
  std::string line;
  ASSERT_TRUE(server.WaitForLine("listening on ", &line));
  EXPECT_EQ(PresentKeys(), "2");
  const auto run = [&](const std::vector<std::string>& words, const std::string& says) {
    const testing::ProcessResult result = testing::RunProcess(as_service(words));
    EXPECT_THAT(result.output + result.errors, HasSubstr(says));
    return result.exit_status;
  };
  EXPECT_EQ(run({"publish"}, "published"), 0);
  EXPECT_EQ(run({"backup", "--to", backups().string()}, "backed up"), 0);
  EXPECT_NE(run({"keys", "rotate", "timestamp"}, "root.key"), 0);
  // The operator, as root: what he makes for the service is the service's.
  MustRun({"keys", "rotate", "timestamp"});
  struct stat info {};
  ASSERT_EQ(::stat((data() / "keys/timestamp.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kServiceUser);
  EXPECT_EQ(run({"publish"}, "published"), 0);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

// Whoever needs a backup has no time to look for the file that is damaged.
TEST_F(OperateTest, WhateverFileOfABackupIsDamagedIsNamed) {
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
