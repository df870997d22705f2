// Signing keys: shown, rotated and exported, with and without a running server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/aggregator/operate/operate_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

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
  Stop();
  EXPECT_THAT(MustRun({"keys", "rotate", "snapshot"}), HasSubstr("published=no"));
  ASSERT_NO_FATAL_FAILURE(Start());
  synced = Sync();
  EXPECT_TRUE(synced.has_value()) << synced.error().message;
  Stop();
}

// Keys that a running server does not need, kept offline, and what the server reports about them.
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
  // Stops the server and returns its remaining output.
  std::string StopAndRead() {
    client_.reset();
    server_->Signal(SIGTERM);
    const testing::ProcessResult result = server_->Wait();
    EXPECT_EQ(result.exit_status, 0);
    server_.reset();
    return result.output;
  }
  static constexpr char kWarning[] = "keys that this service does not need are on this machine";
};

TEST_F(OfflineKeysTest, EachStartReportsOnlineKeysUntilTheyAreExported) {
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

  // Commands that need the keys read them from the medium and write new ones there.
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
  refused("root", medium(), ErrorCode::kNotFound, "mount the medium for the keys");
  std::filesystem::create_directory(medium());
  refused("timestamp", medium(), ErrorCode::kInvalidArgument,
          "the timestamp key cannot go offline");
  refused("colour", medium(), ErrorCode::kInvalidArgument, "expected one of the roles");
  refused("root", data() / "keys", ErrorCode::kInvalidArgument, "is in the data directory");
  refused("root", data(), ErrorCode::kInvalidArgument, "is in the data directory");
  for (const std::string& there : {std::string("not a key"), Bytes(data() / "keys/policy.key")}) {
    ASSERT_TRUE(WriteFileAtomically(medium() / "root.key", there, 0600).has_value());
    refused("root", medium(), ErrorCode::kAlreadyExists, "it is not overwritten");
    EXPECT_EQ(Bytes(medium() / "root.key"), there);
  }
  ASSERT_TRUE(std::filesystem::remove(medium() / "root.key"));
  ASSERT_TRUE(std::filesystem::remove(data() / "keys/policy.key"));
  refused("policy", medium(), ErrorCode::kNotFound, "holds a policy key of root version 1");

  // The state left by an interruption between copying and removing.
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
  // A rotation interrupted before its root was written leaves a key that no root names.
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

  // Interrupted after the root was written: the waiting key is the one in force.
  MustRun({"keys", "rotate", "policy", "--offline", medium().string()});
  std::filesystem::rename(medium() / "policy.key", data() / "keys/policy.key.next");
  std::filesystem::create_directory(dir_.path() / "another");
  MustRun({"keys", "export-offline", "policy", "--to", (dir_.path() / "another").string()});
  EXPECT_TRUE(std::filesystem::exists(dir_.path() / "another/policy.key"));
}

// As in the systemd unit: root owns the keys that the service, running as another user, does not
// need.
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
  // Files that the operator creates as root for the service belong to the service's user.
  MustRun({"keys", "rotate", "timestamp"});
  struct stat info {};
  ASSERT_EQ(::stat((data() / "keys/timestamp.key").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kServiceUser);
  EXPECT_EQ(run({"publish"}, "published"), 0);
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

}  // namespace
}  // namespace fieldcost::aggregator
