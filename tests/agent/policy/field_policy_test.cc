// Tests the service's policy against a real HTTPS server with signed files.

#include "agent/policy/field_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>

#include "agent/runs/policy_writer.h"
#include "agent/volunteer/agent.h"
#include "common/base/file.h"
#include "common/catalog/root_chain.h"
#include "common/shm/policy_file.h"
#include "tests/common/catalog/publisher.h"
#include "tests/support/fake_clock.h"

namespace fieldcost::policy {
namespace {

using std::chrono::hours;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr WallTime kNow{std::chrono::microseconds(1'750'000'000'000'000)};
constexpr hours kDay{24};

class FieldPolicyTest : public ::testing::Test {
 protected:
  FieldPolicyTest() {
    const catalog::SyncOptions options = publisher_.Client(directory_.path());
    paths_.config_file = directory_.path() / "agent.toml";
    paths_.state_dir = directory_.path() / "state";
    paths_.catalog_file = directory_.path() / "catalog.db";
    paths_.catalog_root_file = directory_.path() / "pinned";
    paths_.system_file = directory_.path() / "system.toml";
    std::filesystem::copy_file(options.root_file, paths_.catalog_root_file);
    config_.url = options.server.url;
    config_.ca_file = options.server.ca_file;
    EXPECT_TRUE(MakeDirectories(paths_.state_dir, 0700));
    EXPECT_TRUE(
        settings::SaveConsent(paths_.consent_file(), {.mode = settings::Mode::kOn, .since = kNow}));
    PublishRoot({policy_key_.public_key()});
  }

  // The next root, with these keys for policies.
  void PublishRoot(const std::vector<crypto::PublicKey>& policy_keys) {
    wire::RootMetadata root = publisher_.root;
    ++root.version;
    root.policy_keys = policy_keys;
    publisher_.PublishRoot(root, {publisher_.root_key});
  }

  static wire::PolicyMetadata Policy(std::uint64_t version) {
    wire::PolicyMetadata policy;
    policy.version = version;
    policy.published = kNow;
    policy.expires = kNow + kDay * 30;
    policy.picks_per_run = 2;
    return policy;
  }
  void Serve(const wire::PolicyMetadata& policy, const crypto::PrivateKey& key) {
    publisher_.Set(wire::kPolicyPath, wire::SignPolicy(policy, key));
  }
  void Serve(const wire::PolicyMetadata& policy) { Serve(policy, policy_key_); }

  // A day later.
  Result<bool> Fetch() {
    clock_.Advance(kDay);
    return FetchFieldPolicy(paths_, config_, clock_.Now());
  }
  void ExpectRefused(const std::string& why) {
    const auto fetched = Fetch();
    ASSERT_FALSE(fetched) << why;
    EXPECT_THAT(fetched.error().message, HasSubstr(why));
    EXPECT_THAT(Load().problem, HasSubstr(why));
  }
  FieldPolicy Load() const { return LoadFieldPolicy(paths_, clock_.Now()); }
  std::uint64_t InForce() const {
    const FieldPolicy policy = Load();
    return policy.in_force ? policy.in_force->version : 0;
  }

  testing::TempDir directory_;
  testing::FakeClock clock_{kNow};
  testing::Publisher publisher_{kNow};
  const crypto::PrivateKey policy_key_ = crypto::PrivateKey::Generate();
  settings::AgentPaths paths_;
  settings::AgentConfig config_;
};

TEST_F(FieldPolicyTest, ComesByTheRootsChainAndStaysUntilItExpires) {
  EXPECT_EQ(InForce(), 0U);
  Serve(Policy(3));
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(Load().in_force, Policy(3));
  EXPECT_EQ(Load().problem, "");
  EXPECT_FALSE(*Fetch()) << "nothing new";
  clock_.Advance(kDay * 27);
  EXPECT_EQ(InForce(), 3U);
  clock_.Advance(kDay * 2);
  EXPECT_EQ(InForce(), 0U);
  EXPECT_THAT(Load().problem, HasSubstr("expired"));
}

TEST_F(FieldPolicyTest, AsksTheServiceAtMostOncePerDay) {
  Serve(Policy(1));
  ASSERT_TRUE(*Fetch());
  EXPECT_THAT(publisher_.TakeRequests(), Contains(wire::kPolicyPath));
  clock_.Advance(kDay - std::chrono::seconds(1));
  EXPECT_FALSE(*FetchFieldPolicy(paths_, config_, clock_.Now()));
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  publisher_.Set(wire::kPolicyPath, "nonsense");
  EXPECT_FALSE(Fetch());
  publisher_.TakeRequests();
  EXPECT_FALSE(*FetchFieldPolicy(paths_, config_, clock_.Now()));
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  // A damaged record of the last check counts as none.
  ASSERT_TRUE(WriteFileAtomically(paths_.state_dir / kFieldPolicyCheckName,
                                  "18446744073709551615 \n", 0600));
  EXPECT_FALSE(FetchFieldPolicy(paths_, config_, clock_.Now()));
  EXPECT_THAT(publisher_.TakeRequests(), Contains(wire::kPolicyPath));
  // A clock that was ten years ahead does not prevent requests.
  clock_.Advance(-kDay * 3650);
  EXPECT_FALSE(FetchFieldPolicy(paths_, config_, clock_.Now()));
  EXPECT_THAT(publisher_.TakeRequests(), Contains(wire::kPolicyPath));
}

TEST_F(FieldPolicyTest, DoesNotFetchAnUncheckableOrUnwantedPolicy) {
  Serve(Policy(1));
  settings::AgentConfig unwanted = config_;
  unwanted.download_policy = false;
  EXPECT_FALSE(*FetchFieldPolicy(paths_, unwanted, clock_.Now()));
  settings::AgentConfig nowhere = config_;
  nowhere.url.clear();
  EXPECT_FALSE(*FetchFieldPolicy(paths_, nowhere, clock_.Now()));
  std::filesystem::remove(paths_.catalog_root_file);
  EXPECT_FALSE(*Fetch());
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(FieldPolicyTest, ModesOffAndLocalNeverAsk) {
  Serve(Policy(1));
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                  "[aggregator]\nurl = \"" + config_.url + "\"\nca_file = \"" +
                                      config_.ca_file.string() + "\"\n",
                                  0600));
  auto agent = volunteer::Agent::Open(paths_, clock_);
  ASSERT_TRUE(agent) << agent.error().message;
  for (const settings::Mode mode : {settings::Mode::kOff, settings::Mode::kLocal}) {
    ASSERT_TRUE(agent->SetMode(mode));
    EXPECT_FALSE(*agent->RefreshFieldPolicy());
    EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
  }
  ASSERT_TRUE(agent->SetMode(settings::Mode::kOn));
  EXPECT_TRUE(*agent->RefreshFieldPolicy());
  EXPECT_EQ(agent->GetStatus()->field_policy.version, 1U);
  EXPECT_EQ(agent->GetStatus()->field_policy.expires, Policy(1).expires);
}

TEST_F(FieldPolicyTest, DoesNotFetchOnceSendingIsSwitchedOff) {
  Serve(Policy(1));
  // Simulates that consent is withdrawn after RefreshFieldPolicy() has checked it.
  ASSERT_TRUE(
      settings::SaveConsent(paths_.consent_file(), {.mode = settings::Mode::kOff, .since = kNow}));
  ExpectRefused("sending was switched off in the meantime");
  EXPECT_THAT(publisher_.TakeRequests(), IsEmpty());
}

TEST_F(FieldPolicyTest, RefusesOlderVersionsPermanently) {
  Serve(Policy(5));
  ASSERT_TRUE(*Fetch());
  Serve(Policy(4));
  ExpectRefused("rollback");
  EXPECT_EQ(InForce(), 5U);
  // Not even after the service has had none for a while.
  publisher_.Remove(wire::kPolicyPath);
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(InForce(), 0U);
  Serve(Policy(4));
  ExpectRefused("rollback");
  Serve(Policy(6));
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(InForce(), 6U);
}

TEST_F(FieldPolicyTest, OneVersionHasOneContent) {
  Serve(Policy(5));
  ASSERT_TRUE(*Fetch());
  wire::PolicyMetadata other = Policy(5);
  other.picks_per_run = 3;
  Serve(other);
  ExpectRefused("different content");
  EXPECT_EQ(Load().in_force, Policy(5));
}

TEST_F(FieldPolicyTest, BeingHeldBackShows) {
  wire::PolicyMetadata stale = Policy(7);
  stale.expires = kNow + hours(1);
  Serve(stale);
  ExpectRefused("expired");
  EXPECT_EQ(InForce(), 0U);
  Serve(Policy(6));
  EXPECT_TRUE(*Fetch()) << "a version that never was in force does not count as seen";
}

TEST_F(FieldPolicyTest, PolicyOfAnotherKeyIsRefused) {
  Serve(Policy(1));
  ASSERT_TRUE(*Fetch());
  for (const crypto::PrivateKey& key :
       {crypto::PrivateKey::Generate(), publisher_.root_key, publisher_.timestamp_key}) {
    Serve(Policy(2), key);
    const auto fetched = Fetch();
    ASSERT_FALSE(fetched);
    EXPECT_EQ(fetched.error().code, ErrorCode::kUnauthenticated);
    EXPECT_EQ(InForce(), 1U);
  }
}

TEST_F(FieldPolicyTest, EndlessAnswersAreCutOff) {
  publisher_.Set(wire::kPolicyPath, std::string(wire::kMaxPolicyBytes + 1, 'x'));
  const auto policy = Fetch();
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().code, ErrorCode::kTooLarge);
  publisher_.Set(wire::RootVersionPath(3), std::string(catalog::kMaxRootBytes + 1, 'x'));
  const auto root = Fetch();
  ASSERT_FALSE(root);
  EXPECT_EQ(root.error().code, ErrorCode::kTooLarge);
}

TEST_F(FieldPolicyTest, NewPolicyKeyTakesOverAndVersionsOfTheOldAreForgotten) {
  Serve(Policy(1'000'000));  // signed by a thief
  ASSERT_TRUE(*Fetch());
  const auto new_key = crypto::PrivateKey::Generate();
  PublishRoot({new_key.public_key()});
  Serve(Policy(2), new_key);
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(InForce(), 2U);
  Serve(Policy(3));
  EXPECT_FALSE(Fetch()) << "signed by the old key";
  EXPECT_EQ(InForce(), 2U);
}

TEST_F(FieldPolicyTest, KeysThatReturnForgetTheVersionsOfTheirFirstTime) {
  Serve(Policy(1'000'000));  // signed by a thief
  ASSERT_TRUE(*Fetch());
  PublishRoot({crypto::PrivateKey::Generate().public_key()});
  PublishRoot({policy_key_.public_key()});
  Serve(Policy(2));
  const auto fetched = Fetch();
  ASSERT_TRUE(fetched) << fetched.error().message;
  EXPECT_EQ(InForce(), 2U);
}

TEST_F(FieldPolicyTest, AnInvalidRootDoesNotDiscardItsPredecessor) {
  Serve(Policy(1));
  PublishRoot({policy_key_.public_key()});
  publisher_.Set(wire::RootVersionPath(4), "no root");
  ExpectRefused("root metadata version 4");
  publisher_.Remove(wire::RootVersionPath(3));
  publisher_.Remove(wire::RootVersionPath(4));
  publisher_.TakeRequests();
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(InForce(), 1U);
  EXPECT_THAT(publisher_.TakeRequests(),
              ElementsAre(wire::RootVersionPath(4), std::string(wire::kPolicyPath)));
}

TEST_F(FieldPolicyTest, StatusesOfObjectStoresMeanThatThereIsNothingNewer) {
  for (const int status : {403, 404, 410}) {
    SCOPED_TRACE(status);
    Serve(Policy(1));
    publisher_.RespondToMissing(status);
    ASSERT_TRUE(Fetch());
    EXPECT_EQ(InForce(), 1U);
    publisher_.Remove(wire::kPolicyPath);
    ASSERT_TRUE(*Fetch());
    EXPECT_EQ(InForce(), 0U);
    EXPECT_EQ(Load().problem, "");
  }
  Serve(Policy(1));
  publisher_.RespondToMissing(500);
  ExpectRefused("answered 500");
}

TEST_F(FieldPolicyTest, APackageCanBringANewerRoot) {
  Serve(Policy(5));
  ASSERT_TRUE(*Fetch());
  PublishRoot({policy_key_.public_key()});
  ASSERT_TRUE(WriteFileAtomically(paths_.catalog_root_file,
                                  publisher_.Get(wire::RootVersionPath(3)), 0600));
  EXPECT_EQ(InForce(), 5U);
  Serve(Policy(4));
  ExpectRefused("rollback");
  EXPECT_EQ(InForce(), 5U);
}

TEST_F(FieldPolicyTest, DropsThePolicyOfAReplacedKeyEvenWithoutANewOne) {
  Serve(Policy(1));
  ASSERT_TRUE(*Fetch());
  PublishRoot({crypto::PrivateKey::Generate().public_key()});
  EXPECT_FALSE(Fetch());
  EXPECT_EQ(InForce(), 0U);
}

TEST_F(FieldPolicyTest, RootOfAStrangerIsRefusedAndAllStaysAsItWas) {
  Serve(Policy(1));
  ASSERT_TRUE(*Fetch());
  const auto before = ReadFile(paths_.state_dir / kFieldPolicyName, 1 << 20);
  const auto stranger = crypto::PrivateKey::Generate();
  wire::RootMetadata root = publisher_.root;
  ++root.version;
  root.root_keys = {stranger.public_key()};
  root.policy_keys = {stranger.public_key()};
  publisher_.PublishRoot(root, {stranger});
  Serve(Policy(2), stranger);
  const auto fetched = Fetch();
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().code, ErrorCode::kUnauthenticated);
  EXPECT_EQ(*ReadFile(paths_.state_dir / kFieldPolicyName, 1 << 20), *before);
  EXPECT_EQ(InForce(), 1U);
}

TEST_F(FieldPolicyTest, AnotherPinnedRootIsAnotherService) {
  Serve(Policy(9));
  ASSERT_TRUE(*Fetch());
  const testing::Publisher other(kNow);
  ASSERT_TRUE(std::filesystem::copy_file(other.Client(directory_.path()).root_file,
                                         paths_.catalog_root_file,
                                         std::filesystem::copy_options::overwrite_existing));
  EXPECT_EQ(InForce(), 0U);
}

TEST_F(FieldPolicyTest, DamagedFileIsNotInForceUntilFetchedAgain) {
  Serve(Policy(1));
  ASSERT_TRUE(*Fetch());
  const auto file = paths_.state_dir / kFieldPolicyName;
  const auto good = ReadFile(file, 1 << 20);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    std::string bytes = *good;
    bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    if (i % 4 == 0) bytes.resize(random() % bytes.size());
    ASSERT_TRUE(WriteFileAtomically(file, bytes, 0600));
    const FieldPolicy policy = Load();
    // The changed byte may belong to the highest version, or to data that is compared only on
    // fetching.
    if (policy.in_force) {
      EXPECT_EQ(policy.in_force, Policy(1));
    }
  }
  ASSERT_TRUE(WriteFileAtomically(file, "nonsense", 0600));
  EXPECT_EQ(InForce(), 0U);
  EXPECT_THAT(Load().problem, HasSubstr(file.string()));
  ASSERT_TRUE(*Fetch());
  EXPECT_EQ(InForce(), 1U);
}

TEST_F(FieldPolicyTest, ReachesMeasuredProgramsByThePolicyFile) {
  wire::PolicyMetadata policy = Policy(1);
  policy.selection_per_65536 = 8192;
  policy.modules = {{.soname = "liba.so.1", .package = ""},
                    {.soname = "libb.so.2", .package = "b"}};
  policy.weights = {{.soname = "liba.so.1", .symbol = "f", .weight_per_65536 = 1000}};
  Serve(policy);
  ASSERT_TRUE(*Fetch());
  ASSERT_TRUE(WriteFileAtomically(paths_.config_file,
                                  "[selection]\npicks_per_run = 7\n"
                                  "[modules]\nextra_modules = [\"libmine.so.1\"]\n",
                                  0600));
  auto agent = volunteer::Agent::Open(paths_, clock_);
  ASSERT_TRUE(agent) << agent.error().message;
  ASSERT_TRUE(agent->SetMode(settings::Mode::kLocal));
  const auto bytes = ReadFile(paths_.policy_file(), runs::kMaxPolicyBytes);
  ASSERT_TRUE(bytes);
  shm::PolicyHeader header;
  std::memcpy(&header, bytes->data(), sizeof header);
  EXPECT_EQ(header.selection_per_65536, 8192U);
  EXPECT_EQ(header.picks_per_run, 7U) << "the user's word";
  EXPECT_EQ(header.weight_count, 1U);
  EXPECT_EQ(header.weights_policy, 1U);
  EXPECT_THAT(runs::AllowedModules(agent->config()),
              ElementsAre("liba.so.1", "libb.so.2", "libmine.so.1"));
  // The user decides whether there are public modules at all, and whether to follow policies.
  for (const char* stricter :
       {"[modules]\nbuiltin_modules = false\n", "[aggregator]\ndownload_policy = false\n"}) {
    ASSERT_TRUE(WriteFileAtomically(paths_.config_file, stricter, 0600));
    EXPECT_THAT(runs::AllowedModules(*LoadConfigInForce(paths_, clock_.Now())),
                ::testing::Not(Contains("libb.so.2")));
  }
}

TEST(KeptPolicyTest, HasThisFormat) {
  const KeptPolicy kept{
      .highest_version = 12, .roots = {{1, "ROOT"}, {3, "ROOT3"}}, .policy = "POLICY"};
  const std::string bytes = "fieldcost field policy 1\n12 2 6\n1 4\nROOT3 5\nROOT3POLICY";
  EXPECT_EQ(EncodeKeptPolicy(kept), bytes);
  EXPECT_EQ(*DecodeKeptPolicy(bytes), kept);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeKeptPolicy(bytes.substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeKeptPolicy(bytes + "x"));
  for (const char* bad :
       {"12 0 6\nPOLICY", "12 2 6\n3 5\nROOT31 4\nROOTPOLICY", "12 2 6\n1 4\nROOT1 4\nROOTPOLICY",
        "12 2 6 1\n1 4\nROOT3 5\nROOT3POLICY", "12 2\n1 4\nROOT3 5\nROOT3POLICY",
        "12 1 6\n1 18446744073709551615\nPOLICY"}) {
    EXPECT_FALSE(DecodeKeptPolicy(std::string("fieldcost field policy 1\n") + bad)) << bad;
  }
}

TEST(ApplyPolicyTest, CeilingsLimitEveryPolicy) {
  std::mt19937_64 random(11);
  const auto any = [&]() -> std::optional<std::uint32_t> {
    switch (random() % 4) {
      case 0:
        return std::nullopt;
      case 1:
        return static_cast<std::uint32_t>(random() % 3);
      case 2:
        return static_cast<std::uint32_t>(random());
      default:
        return static_cast<std::uint32_t>(random() % 100'000);
    }
  };
  for (int i = 0; i < 20'000; ++i) {
    wire::PolicyMetadata policy;
    for (auto member :
         {&wire::PolicyMetadata::selection_per_65536, &wire::PolicyMetadata::picks_per_run,
          &wire::PolicyMetadata::alloc_per_65536, &wire::PolicyMetadata::io_per_65536,
          &wire::PolicyMetadata::cycles_per_65536, &wire::PolicyMetadata::max_programs,
          &wire::PolicyMetadata::max_load_per_core_percent,
          &wire::PolicyMetadata::max_cpu_pressure_percent,
          &wire::PolicyMetadata::overhead_per_65536, &wire::PolicyMetadata::max_run_files,
          &wire::PolicyMetadata::phase_seconds, &wire::PolicyMetadata::max_phases,
          &wire::PolicyMetadata::sampling_log2, &wire::PolicyMetadata::max_batch_bytes,
          &wire::PolicyMetadata::max_batch_age_hours,
          &wire::PolicyMetadata::min_upload_interval_seconds}) {
      policy.*member = any();
    }
    const settings::AgentConfig config = ApplyPolicy(settings::AgentConfig{}, policy);
    EXPECT_LE(config.selection_probability, 0.25);
    EXPECT_GE(config.selection_probability, 0);
    EXPECT_TRUE(config.picks_per_run >= 1 && config.picks_per_run <= 8);
    for (const double share :
         {config.alloc_probability, config.io_probability, config.cycles_probability}) {
      EXPECT_TRUE(share >= 0 && share <= 1);
    }
    EXPECT_TRUE(config.max_programs >= 1 && config.max_programs <= 16);
    EXPECT_TRUE(config.max_load_per_core_percent >= 1 && config.max_load_per_core_percent <= 100);
    EXPECT_TRUE(config.max_cpu_pressure_percent >= 1 && config.max_cpu_pressure_percent <= 50);
    EXPECT_TRUE(config.overhead_percent > 0 && config.overhead_percent <= 2);
    EXPECT_TRUE(config.max_run_files >= 1 && config.max_run_files <= 256);
    EXPECT_TRUE(config.phase_minutes == 0 || config.phase_minutes >= 10);
    EXPECT_LE(config.phase_minutes, kMaxPolicyPhaseMinutes);
    EXPECT_TRUE(config.max_phases >= 1 && config.max_phases <= 96);
    EXPECT_TRUE(std::has_single_bit(config.sampling) && config.sampling <= 16384);
    EXPECT_TRUE(config.max_batch_bytes >= 1024 && config.max_batch_bytes <= 128 * 1024);
    EXPECT_TRUE(config.max_batch_age_hours >= 1 && config.max_batch_age_hours <= 24 * 28);
    EXPECT_TRUE(config.min_upload_interval >= hours(1) && config.min_upload_interval <= kDay * 7);
    if (::testing::Test::HasFailure()) break;
  }
}

TEST(ApplyPolicyTest, AppliesValuesBelowCeilingsUnlessTheUserSetThem) {
  wire::PolicyMetadata policy;
  policy.version = 4;
  policy.selection_per_65536 = 6554;
  policy.picks_per_run = 3;
  policy.overhead_per_65536 = 328;
  policy.phase_seconds = 601;
  policy.sampling_log2 = 5;
  policy.min_upload_interval_seconds = 7200;
  const settings::AgentConfig config = ApplyPolicy(settings::AgentConfig{}, policy);
  EXPECT_NEAR(config.selection_probability, 0.1, 1e-4);
  EXPECT_EQ(config.picks_per_run, 3U);
  EXPECT_NEAR(config.overhead_percent, 0.5, 1e-3);
  EXPECT_EQ(config.phase_minutes, 11U);
  EXPECT_EQ(config.sampling, 32U);
  EXPECT_EQ(config.min_upload_interval, hours(2));
  EXPECT_EQ(config.max_programs, settings::AgentConfig{}.max_programs) << "left to the agent";
  settings::AgentConfig of_user;
  of_user.selection_probability = 1;
  of_user.written = {"selection.selection_probability"};
  EXPECT_EQ(ApplyPolicy(of_user, policy).selection_probability, 1);
  EXPECT_EQ(ApplyPolicy(of_user, policy).picks_per_run, 3U);
}

}  // namespace
}  // namespace fieldcost::policy
