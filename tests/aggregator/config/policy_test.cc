// The operator's policy texts, and the program that signs and displays them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>

#include "aggregator/config/policy_toml.h"
#include "aggregator/publish/file_server.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/publish/policy_publisher.h"
#include "common/base/file.h"
#include "tests/support/fake_clock.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PolicyTest : public ::testing::Test {
 protected:
  std::filesystem::path Write(const std::string& text, const std::string& name = "policy.toml") {
    std::ofstream(dir_.path() / name) << text;
    return dir_.path() / name;
  }

  void ExpectRefusal(const std::string& text, const std::string& message) {
    const auto policy = LoadPolicyText(Write(text));
    ASSERT_FALSE(policy.has_value()) << text;
    EXPECT_EQ(policy.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(policy.error().message, HasSubstr(message));
  }

  std::filesystem::path data_dir() const { return dir_.path() / "data"; }

  wire::RootMetadata MakeRoot() {
    const auto keys = publish::KeyRing::LoadOrCreate(data_dir() / "keys",
                                                     data_dir() / "publish" / "root", {}, clock_);
    EXPECT_TRUE(keys.has_value()) << keys.error().message;
    return keys->root();
  }

  Result<wire::PolicyMetadata> Publish(const wire::PolicyMetadata& policy) {
    return publish::PublishPolicy(data_dir(), policy, std::chrono::days(7), clock_);
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(20000))};
};

TEST_F(PolicyTest, TheShippedExampleIsGoodAndSoIsEachOfItsCommentedKeys) {
  const std::filesystem::path path =
      std::filesystem::path(FIELDCOST_SOURCE_DIR) / "deploy/config/policy.toml";
  const auto shipped = LoadPolicyText(path);
  ASSERT_TRUE(shipped.has_value()) << shipped.error().message;
  EXPECT_EQ(shipped->policy, wire::PolicyMetadata());
  EXPECT_EQ(shipped->lifetime, std::chrono::days(90));
  std::ifstream file(path);
  std::string all;
  for (std::string line; std::getline(file, line);) {
    const bool is_key = line.starts_with("# ") && std::islower(line[2]) != 0 &&
                        line.find(' ', 2) == line.find(" = ");
    all += (is_key ? line.substr(2) : line) + "\n";
  }
  const auto full = LoadPolicyText(Write(all));
  ASSERT_TRUE(full.has_value()) << full.error().message;
  for (const wire::PolicyNumber& number : wire::PolicyNumbers()) {
    EXPECT_TRUE((full->policy.*number.member).has_value()) << number.name;
  }
}

TEST_F(PolicyTest, ListsAreReadInAnyOrderAndSorted) {
  const auto text =
      LoadPolicyText(Write("[policy]\nlifetime_days = 7\nmax_programs = 0\n"
                           "modules = [\"libz.so.1\", \"libsqlite3.so.0 libsqlite3-0\"]\n"
                           "weights = [\"libz.so.1!crc32 0\", \"libz.so.1!adler32 65536\"]\n"));
  ASSERT_TRUE(text.has_value()) << text.error().message;
  const wire::PolicyMetadata expected{
      .max_programs = 0,
      .modules = {{"libsqlite3.so.0", "libsqlite3-0"}, {"libz.so.1", ""}},
      .weights = {{"libz.so.1", "adler32", 65536}, {"libz.so.1", "crc32", 0}}};
  EXPECT_EQ(text->policy, expected);
  EXPECT_EQ(text->lifetime, std::chrono::days(7));
}

TEST_F(PolicyTest, EachMistakeIsNamedWithItsPlace) {
  ExpectRefusal("[policy]\nmax_progams = 1\n", "policy.toml:2:1: policy.max_progams");
  ExpectRefusal("[policy]\nselection_per_65536 = 65537\n", "policy.toml:2:23");
  ExpectRefusal("[policy]\nlifetime_days = 0\n", "policy.toml:2:17");
  ExpectRefusal("[policy]\npicks_per_run = \"1\"\n", "policy.toml:2:17");
  ExpectRefusal("[policy]\nmodules = [\"a/b.so\"]\n", "policy.toml:2:11: policy.modules");
  ExpectRefusal("[policy]\nmodules = [\"a.so\", \"a.so p\"]\n", "policy.toml:2:11");
  ExpectRefusal("[policy]\nmodules = [\"a.so A_B\"]\n", "package");
  ExpectRefusal("[policy]\nweights = [\"a.so!f\"]\n", "policy.toml:2:11: policy.weights: 'a.so!f'");
  ExpectRefusal("[policy]\nweights = [\"a.so!f 65537\"]\n", "policy.toml:2:11");
  ExpectRefusal("[policy]\nweights = [\"f 1\"]\n", "policy.toml:2:11");
  ExpectRefusal("[policy]\nweights = [\"a.so!f 1\", \"a.so!f 2\"]\n", "policy.toml:2:11");
  ExpectRefusal("[policy\n", "not TOML");
}

TEST_F(PolicyTest, ShownPolicyCanBeSignedAgain) {
  wire::PolicyMetadata policy{.version = 4,
                              .expires = clock_.Now() + std::chrono::days(30),
                              .published = clock_.Now(),
                              .selection_per_65536 = 4096,
                              .max_batch_age_hours = 12,
                              .modules = {{"lib\"odd\\.so", "pack"}, {"libz.so.1", ""}},
                              .weights = {{"libz.so.1", "crc32", 7}}};
  const std::string shown = ShowPolicy(policy, clock_.Now());
  EXPECT_THAT(shown, StartsWith("# version 4, published 2024-10-04T00:00:00Z, expires 2024-11-03"));
  const auto text = LoadPolicyText(Write(shown));
  ASSERT_TRUE(text.has_value()) << text.error().message << shown;
  EXPECT_EQ(text->lifetime, std::chrono::days(30));
  EXPECT_THAT(ShowPolicy(policy, policy.expires), HasSubstr("EXPIRED"));
  EXPECT_EQ(ShowPolicyJson(policy, clock_.Now()),
            R"({"version":4,"published":"2024-10-04T00:00:00Z","expires":"2024-11-03T00:00:00Z",)"
            R"("expired":false,"numbers":{"selection_per_65536":4096,"max_batch_age_hours":12},)"
            R"("modules":[{"soname":"lib\"odd\\.so","package":"pack"},)"
            R"({"soname":"libz.so.1","package":""}],)"
            R"("weights":[{"soname":"libz.so.1","symbol":"crc32","per_65536":7}]})"
            "\n");
  policy.version = 0;
  policy.published = policy.expires = {};
  EXPECT_EQ(text->policy, policy);
}

TEST_F(PolicyTest, EachPolicyHasTheNextVersionAndTheRootVouchesForIt) {
  const wire::RootMetadata root = MakeRoot();
  EXPECT_EQ(root.policy_keys.size(), 1U);
  EXPECT_EQ(publish::PublishedPolicy(data_dir()).value(), std::nullopt);
  const publish::FileServer files(data_dir() / "publish", root.version);
  EXPECT_EQ(files.Handle({.method = "GET", .target = wire::kPolicyPath}).status, 404);
  for (const std::uint64_t version : {1U, 2U, 3U}) {
    const auto signed_policy = Publish({.max_programs = 2});
    ASSERT_TRUE(signed_policy.has_value()) << signed_policy.error().message;
    EXPECT_EQ(signed_policy->version, version);
    EXPECT_EQ(signed_policy->expires, clock_.Now() + std::chrono::days(7));
    const http::Response response = files.Handle({.method = "GET", .target = wire::kPolicyPath});
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(wire::VerifyPolicy(response.body, root).value(), *signed_policy);
    EXPECT_EQ(http::Find(response.headers, "Cache-Control"), "no-cache");
    http::Request again{.method = "GET", .target = wire::kPolicyPath};
    again.headers.emplace_back("If-None-Match", http::Find(response.headers, "ETag"));
    EXPECT_EQ(files.Handle(again).status, 304);
    EXPECT_EQ(publish::PublishedPolicy(data_dir()).value(), *signed_policy);
  }
}

TEST_F(PolicyTest, WithoutRootKeyOrValidValuesNothingIsSigned) {
  EXPECT_EQ(Publish({}).error().code, ErrorCode::kNotFound);
  MakeRoot();
  EXPECT_EQ(Publish({.max_programs = 65}).error().code, ErrorCode::kCorrupt);
  const std::filesystem::path key = data_dir() / "keys" / publish::kPolicyKey;
  std::filesystem::rename(key, dir_.path() / "elsewhere");
  EXPECT_EQ(Publish({}).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(crypto::PrivateKey::LoadOrCreate(key).has_value());
  EXPECT_EQ(Publish({}).error().code, ErrorCode::kUnauthenticated);
  EXPECT_FALSE(std::filesystem::exists(data_dir() / "publish" / publish::kPolicyFile));
  std::filesystem::rename(dir_.path() / "elsewhere", key);
  ASSERT_TRUE(Publish({}).has_value());
  Write("garbage", "data/publish/policy");
  EXPECT_EQ(Publish({}).error().code, ErrorCode::kCorrupt);
}

TEST_F(PolicyTest, ARootWithoutPolicyKeysKeepsWorkingAndSignsNone) {
  MakeRoot();
  const auto root_key = crypto::PrivateKey::LoadOrCreate(data_dir() / "keys" / "root.key");
  wire::RootMetadata root = MakeRoot();
  root.policy_keys.clear();
  ASSERT_TRUE(WriteFileAtomically(data_dir() / "publish" / "root" / "1",
                                  wire::SignRoot(root, {*root_key}), 0644)
                  .has_value());
  EXPECT_EQ(MakeRoot(), root);
  const auto refused = Publish({});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(refused.error().message, HasSubstr("root version 1 names no policy key"));
}

TEST_F(PolicyTest, VersionsContinueAfterAChangeOfKeys) {
  wire::RootMetadata root = MakeRoot();
  ASSERT_EQ(Publish({}).value().version, 1U);
  ASSERT_EQ(Publish({}).value().version, 2U);
  const auto root_key = crypto::PrivateKey::LoadOrCreate(data_dir() / "keys" / "root.key");
  std::filesystem::remove(data_dir() / "keys" / publish::kPolicyKey);
  root.policy_keys = {
      crypto::PrivateKey::LoadOrCreate(data_dir() / "keys" / publish::kPolicyKey)->public_key()};
  root.version = 2;
  ASSERT_TRUE(WriteFileAtomically(data_dir() / "publish" / "root" / "2",
                                  wire::SignRoot(root, {*root_key}), 0644)
                  .has_value());
  EXPECT_EQ(Publish({}).value().version, 3U);
}

TEST_F(PolicyTest, TheProgramSignsAndShows) {
  MakeRoot();
  const std::filesystem::path config =
      Write("[server]\ncertificate = \"x\"\nprivate_key = \"x\"\n[store]\ndata_dir = \"data\"\n",
            "aggregator.toml");
  const std::filesystem::path policy = Write("[policy]\nmax_programs = 3\n");
  const auto run = [&](std::vector<std::string> words) {
    testing::ProcessOptions options;
    options.arguments = {FIELDCOST_AGGREGATOR};
    options.arguments.insert(options.arguments.end(), words.begin(), words.end());
    return testing::RunProcess(options);
  };
  const std::string config_option = "--config=" + config.string();
  const auto none = run({"policy", "show", config_option});
  EXPECT_EQ(none.exit_status, ExitStatus(ErrorCode::kNotFound));
  EXPECT_THAT(none.errors, HasSubstr("no policy is in force"));
  const auto signed_policy = run({"policy", "sign", config_option, policy.string()});
  EXPECT_EQ(signed_policy.exit_status, 0) << signed_policy.errors;
  EXPECT_THAT(signed_policy.output, StartsWith("# version 1, "));
  EXPECT_EQ(run({"policy", "show", config_option}).output, signed_policy.output);
  EXPECT_THAT(run({"policy", "show", "--json", config_option}).output,
              StartsWith(R"({"version":1,)"));
  Write("[policy]\nmax_programs = 65\n");
  const auto bad = run({"policy", "sign", config_option, policy.string()});
  EXPECT_EQ(bad.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(bad.errors, HasSubstr("policy.toml:2:16"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"policy", config_option},
                                                {"policy", "sign", config_option},
                                                {"policy", "shw", config_option},
                                                {"policy", "show", "extra", config_option},
                                                {"verify", "--agent", "00", config_option},
                                                {"revoke", config_option}}) {
    EXPECT_EQ(run(wrong).exit_status, ExitStatus(ErrorCode::kInvalidArgument)) << wrong[0];
  }
}

}  // namespace
}  // namespace fieldcost::aggregator
