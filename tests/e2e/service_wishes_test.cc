#include <sys/stat.h>

#include <fstream>

#include "common/base/file.h"
#include "common/shm/policy_file.h"
#include "tests/e2e/house.h"

// The requirements of a service for its agents: a token, and a policy. Both with the real programs.

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

class ServiceWishesTest : public HouseTest {
 protected:
  void AddToAggregatorConfig(const std::string& lines) const {
    std::ofstream(aggregator_config(), std::ios::app) << lines;
  }

  std::filesystem::path WriteSecret(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = server() / name;
    std::ofstream(file) << text;
    EXPECT_EQ(::chmod(file.c_str(), 0600), 0);
    return file;
  }

  ProcessResult SignPolicy(const std::string& lines) const {
    const std::filesystem::path file = server() / "policy.toml";
    std::ofstream(file) << "[policy]\n" << lines;
    return RunProcess({.arguments = {kAggregator, "policy", "sign", "--config",
                                     aggregator_config().string(), file.string()}});
  }

  std::string PolicyOfPrograms() const {
    return ReadFile(home() / "state" / shm::kPolicyFileName, 1 << 20).value_or("");
  }

  boost::json::object Status() const {
    const ProcessResult status = Fieldcost({"agent", "status", "--json"});
    EXPECT_EQ(status.exit_status, 0) << status.errors;
    return boost::json::parse(status.output).as_object();
  }
};

TEST_F(ServiceWishesTest, AServiceThatWantsATokenGetsNothingWithoutIt) {
  WriteSecret("token", "a-token-of-the-service\n");
  AddToAggregatorConfig("[enrolment]\nmode = \"token\"\ntoken_files = [\"token\"]\n");
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);

  const ProcessResult without = Upload();
  EXPECT_NE(without.exit_status, 0);
  EXPECT_THAT(without.output + without.errors, HasSubstr("fieldcost agent enrol --token-file"));
  EXPECT_EQ(Status().at("sent_batches").to_number<int>(), 0);

  const std::filesystem::path wrong = WriteSecret("wrong", "another-token\n");
  ASSERT_EQ(Fieldcost({"agent", "enrol", "--token-file", wrong.string()}).exit_status, 0);
  EXPECT_NE(Upload().exit_status, 0);
  EXPECT_EQ(Status().at("quarantined_batches").to_number<int>(), 0) << "no data is lost by it";

  ProcessOptions enrol = Options({kFieldcost, "agent", "enrol", "--token-file", "-"});
  enrol.input = "a-token-of-the-service\n";
  ASSERT_EQ(RunProcess(enrol).exit_status, 0);
  const ProcessResult with = Upload();
  EXPECT_EQ(with.exit_status, 0) << with.errors;
  Publish();
  SyncAll();
  EXPECT_EQ(Published("victim_allocate").at("wall_time").at("count").to_number<std::int64_t>(),
            3000);
  StopAggregator();
}

TEST_F(ServiceWishesTest, ASignedPolicyIsFollowedButNoOlderOneAfterIt) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(SignPolicy("phase_seconds = 600\n").exit_status, 0);
  const std::filesystem::path published = server() / "data" / "publish" / "policy";
  ASSERT_TRUE(std::filesystem::exists(published));
  std::filesystem::copy_file(published, server() / "first");
  ASSERT_EQ(Upload().exit_status, 0);
  const std::string fetched = PolicyOfPrograms();
  ASSERT_FALSE(fetched.empty());
  ASSERT_EQ(Upload().exit_status, 0);  // writes the current policy for programs
  EXPECT_EQ(PolicyOfPrograms(), fetched) << "programs follow it as soon as it has been fetched";
  EXPECT_EQ(Status().at("field_policy_version").to_number<int>(), 1);
  EXPECT_EQ(Status().at("field_policy_problem").as_string(), "");

  // An agent asks once a day, after it has sent something; here, that day has passed.
  const auto ask_again = [this] {
    std::filesystem::remove(home() / "state" / "field_policy_check");
    EXPECT_EQ(RunVictim("calls").exit_status, 0);
    EXPECT_EQ(Upload().exit_status, 0);
    return Status();
  };
  ASSERT_EQ(SignPolicy("phase_seconds = 700\n").exit_status, 0);
  EXPECT_EQ(Status().at("field_policy_version").to_number<int>(), 1);
  EXPECT_EQ(ask_again().at("field_policy_version").to_number<int>(), 2);

  std::filesystem::copy_file(server() / "first", published,
                             std::filesystem::copy_options::overwrite_existing);
  const boost::json::object after = ask_again();
  EXPECT_EQ(after.at("field_policy_version").to_number<int>(), 2);
  EXPECT_NE(after.at("field_policy_problem").as_string(), "");
  StopAggregator();
}

}  // namespace
}  // namespace fieldcost::testing
