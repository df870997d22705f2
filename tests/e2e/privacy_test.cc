#include <mutex>
#include <set>

#include "common/http/server.h"
#include "common/wire/batch.h"
#include "tests/e2e/house.h"

// Canaries in everything the agent could see must appear in nothing that leaves the machine.

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PrivacyTest : public HouseTest {
 protected:
  // Stands in for the aggregator, only to see every byte of every request.
  void StartWitness() {
    auto started = http::Server::Start(
        {.certificate_file = certificates().certificate, .private_key_file = certificates().key},
        [this](http::Request request, http::Respond respond) {
          const std::lock_guard lock(mutex_);
          seen_.push_back(std::move(request));
          respond({.status = 200, .body = wire::EncodeAnswer({.accepted_rows = 1})});
        });
    ASSERT_TRUE(started) << started.error().message;
    witness_ = std::move(*started);
    WriteAgentConfig("https://localhost:" + std::to_string(witness_->port()));
  }

  std::unique_ptr<http::Server> witness_;
  std::mutex mutex_;
  std::vector<http::Request> seen_;
};

TEST_F(PrivacyTest, NoCanaryLeavesTheMachine) {
  const std::vector<std::string> canaries = {"canaryhost",  "canaryuser", "canaryargument",
                                             "canaryvalue", "CANARYNAME", "canarypath"};
  StartWitness();
  // A machine, a user, a path, an argument and an environment full of canaries.
  const std::filesystem::path path = home() / "canarypath";
  std::filesystem::create_directories(path);
  std::filesystem::copy(kVictim, path / "victim");
  std::filesystem::copy(std::filesystem::path(kVictim).parent_path() / "libvictim.so.1",
                        path / "libvictim.so.1");
  const std::string script = "hostname canaryhost && " + kFieldcost + " agent on && " + kFieldcost +
                             " run -- " + (path / "victim").string() + " alloc canaryargument && " +
                             kFieldcost + " agent preview --raw > " + (path / "preview").string() +
                             " && " + kFieldcostd + " --once --flush";
  ProcessOptions options = Options({"unshare", "--uts", "/bin/sh", "-c", script});
  options.environment.insert(options.environment.end(), {{"USER", "canaryuser"},
                                                         {"LOGNAME", "canaryuser"},
                                                         {"CANARYNAME", "canaryvalue"},
                                                         {"LD_LIBRARY_PATH", path.string()}});
  options.directory = path;
  const ProcessResult result = RunProcess(options);
  if (result.errors.find("unshare failed") != std::string::npos) {
    GTEST_SKIP() << "needs the privilege to make a UTS namespace: " << result.errors;
  }
  ASSERT_EQ(result.exit_status, 0) << result.errors;

  witness_->Stop(std::chrono::milliseconds(1000));
  ASSERT_EQ(seen_.size(), 1U);
  const http::Request& request = seen_[0];
  const ProcessResult decoded = RunProcess({.arguments = {"zstd", "-dc"}, .input = request.body});
  ASSERT_EQ(decoded.exit_status, 0) << decoded.errors;
  // The search works: what may be there is found.
  EXPECT_THAT(decoded.output, HasSubstr("victim_allocate"));
  EXPECT_THAT(decoded.output, HasSubstr("libvictim.so.1"));
  for (const std::string& canary : canaries) {
    EXPECT_THAT(decoded.output, Not(HasSubstr(canary)));
    EXPECT_THAT(request.body, Not(HasSubstr(canary)));
    EXPECT_THAT(request.target, Not(HasSubstr(canary)));
    for (const auto& [name, value] : request.headers) {
      EXPECT_THAT(name + ": " + value, Not(HasSubstr(canary)));
    }
  }
  // And the user saw these very bytes before.
  EXPECT_EQ(RunProcess({.arguments = {"cat", (path / "preview").string()}}).output, request.body);

  wire::BatchDecoder decoder;
  ASSERT_TRUE(decoder.Decode(request.body));
  // What a run says beside its cells was there, too.
  std::set<std::uint32_t> metrics;
  wire::UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    metrics.insert(row.metric_number);
  }
  EXPECT_TRUE(metrics.contains(static_cast<std::uint32_t>(stats::Metric::kCallsPerRun)));
  EXPECT_TRUE(metrics.contains(static_cast<std::uint32_t>(stats::Metric::kFirstCallTime)));
}

}  // namespace
}  // namespace fieldcost::testing
