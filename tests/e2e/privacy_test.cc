#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "common/base/file.h"
#include "common/http/http_server.h"
#include "common/wire/batch.h"
#include "common/wire/policy.h"
#include "common/wire/wire_requests.h"
#include "tests/e2e/house.h"

// Canaries in everything that the agent could see must appear in nothing that leaves the machine.
// The claims of agent/PRIVACY.md are based on these tests.

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;

const std::vector<std::string> kCanaries = {"canaryhost",  "canaryuser", "canaryargument",
                                            "canaryvalue", "CANARYNAME", "canarypath",
                                            "canaryshop",  "xx_CANARY"};
constexpr char kToken[] = "token-of-an-invitation";

// The only headers that a request may have: none about program, machine, language or time.
const std::set<std::string> kHeaders = {"Host",
                                        "User-Agent",
                                        "Content-Length",
                                        "Content-Type",
                                        "Connection",
                                        wire::kServiceHeader,
                                        wire::kAgentHeader,
                                        wire::kEpochHeader,
                                        wire::kSequenceHeader,
                                        wire::kSignatureHeader,
                                        wire::kTokenHeader,
                                        wire::kReceiptHeader};

class PrivacyTest : public HouseTest {
 protected:
  // A stand-in for the aggregator that records every byte of every request. It requires agents to
  // enrol, and publishes nothing.
  void StartWitness() {
    auto started = http::Server::Start(
        {.certificate_file = certificates().certificate, .private_key_file = certificates().key},
        [this](http::Request request, http::Respond respond) {
          const std::lock_guard lock(mutex_);
          respond(Answer(request));
          seen_.push_back(std::move(request));
        });
    ASSERT_TRUE(started) << started.error().message;
    witness_ = std::move(*started);
    WriteAgentConfig("https://localhost:" + std::to_string(witness_->port()));
  }

  http::Response Answer(const http::Request& request) {
    if (request.target == wire::kEnrolmentsPath) {
      enrolled_ = true;
      return {.status = 200, .body = "{}"};
    }
    if (request.target == wire::kWithdrawalsPath) {
      return {.status = 200, .body = wire::EncodeWithdrawalAnswer({.withdrawn_rows = 1})};
    }
    if (request.target != wire::kBatchesPath) return {.status = 404};
    if (!enrolled_) {
      return {.status = 401, .headers = {{wire::kEnrolmentHeader, wire::kEnrolmentRequired}}};
    }
    return {.status = 200, .body = wire::EncodeAnswer({.accepted_rows = 1, .receipt = "0a0b"})};
  }

  // The requests that sent batches, without the others.
  std::vector<http::Request> Batches() {
    std::vector<http::Request> batches = Requests();
    std::erase_if(batches,
                  [](const auto& request) { return request.target != wire::kBatchesPath; });
    return batches;
  }

  // All requests in order of time; stops the witness.
  std::vector<http::Request> Requests() {
    witness_->Stop(std::chrono::milliseconds(1000));
    const std::lock_guard lock(mutex_);
    return seen_;
  }

  // Pins a root of trust with a key for policies; without one, agents request no policy.
  void PinARoot() {
    StartAggregator();
    const ProcessResult sign =
        RunProcess({.arguments = {kAggregator, "policy", "sign", "--config",
                                  aggregator_config().string(), FIELDCOST_EXAMPLE_POLICY}});
    ASSERT_EQ(sign.exit_status, 0) << sign.errors;
    StopAggregator();
    const std::filesystem::path roots = server() / "data" / "publish" / "root";
    std::filesystem::path newest;
    for (int i = 1; std::filesystem::exists(roots / std::to_string(i)); ++i) {
      newest = roots / std::to_string(i);
    }
    std::filesystem::copy_file(newest, home() / "catalog_root",
                               std::filesystem::copy_options::overwrite_existing);
  }

  std::unique_ptr<http::Server> witness_;
  std::mutex mutex_;
  std::vector<http::Request> seen_;
  bool enrolled_ = false;
};

std::string Decompressed(const std::string& body) {
  const ProcessResult decoded = RunProcess({.arguments = {"zstd", "-dc"}, .input = body});
  EXPECT_EQ(decoded.exit_status, 0) << decoded.errors;
  return decoded.output;
}

std::string ContentOf(const std::filesystem::path& file) {
  auto content = ReadFile(file, std::size_t{1} << 26);
  EXPECT_TRUE(content) << content.error().message;
  return content ? *content : "";
}

wire::BatchContent Decoded(const std::string& body) {
  wire::BatchDecoder decoder;
  EXPECT_TRUE(decoder.Decode(body));
  wire::BatchContent content{.field_policy_version = decoder.field_policy_version(),
                             .hardware = decoder.hardware()};
  wire::UntrustedRow row;
  for (std::size_t i = 0; i < decoder.row_count(); ++i) {
    decoder.GetRow(i, row);
    content.rows.push_back({row.api, static_cast<stats::Metric>(row.metric_number), row.week,
                            row.first_contribution, row.histogram});
  }
  return content;
}

TEST_F(PrivacyTest, NoCanaryLeavesTheMachine) {
  ASSERT_NO_FATAL_FAILURE(PinARoot());
  StartWitness();
  // A host, user, path, argument, environment and private library full of canaries.
  const std::filesystem::path path = home() / "canarypath";
  const std::filesystem::path victims = std::filesystem::path(kVictim).parent_path();
  std::filesystem::create_directories(path);
  std::filesystem::copy(kVictim, path / "victim");
  std::filesystem::copy(victims / "libvictim.so.1", path / "libvictim.so.1");
  const std::string run = kFieldcost + " run -- " + (path / "victim").string();
  const std::string script =
      "set -e; hostname canaryhost; " + kFieldcost + " agent on; printf " + kToken + " | " +
      kFieldcost + " agent enrol --token-file -; " + run + " alloc canaryargument; " + kFieldcost +
      " agent preview --raw > preview; " + kFieldcostd + " --once --flush; " + kFieldcost +
      " agent log > log; " + kFieldcost + " agent log 1 >> log; " + kFieldcost +
      " agent log 1 --raw > kept; " + kFieldcost + " agent view --output view > /dev/null; " +
      kFieldcost + " sync --full || true; " + kFieldcost + " agent forget --yes";
  ProcessOptions options = Options({"unshare", "--uts", "/bin/sh", "-c", script});
  options.environment.insert(options.environment.end(), {{"USER", "canaryuser"},
                                                         {"LOGNAME", "canaryuser"},
                                                         {"CANARYNAME", "canaryvalue"},
                                                         {"LANG", "xx_CANARY"},
                                                         {"LANGUAGE", "xx_CANARY"},
                                                         {"LD_LIBRARY_PATH", path.string()}});
  options.directory = path;
  const ProcessResult result = RunProcess(options);
  if (result.errors.find("unshare failed") != std::string::npos) {
    GTEST_SKIP() << "needs the privilege to make a UTS namespace: " << result.errors;
  }
  ASSERT_EQ(result.exit_status, 0) << result.errors << result.output;

  const std::vector<http::Request> requests = Requests();
  std::map<std::string, const http::Request*> by_target;
  for (const http::Request& request : requests) {
    by_target[request.target] = &request;
    std::string text = request.method + " " + request.target + "\n" + request.body;
    // A withdrawal identifies its batch by headers alone.
    const std::string content = request.body.empty() ? "" : Decompressed(request.body);
    for (const auto& [name, value] : request.headers) {
      text += name + ": " + value + "\n";
      EXPECT_THAT(kHeaders, Contains(name)) << request.target;
      if (name == wire::kTokenHeader) {
        EXPECT_EQ(request.target, wire::kEnrolmentsPath);
      }
    }
    EXPECT_EQ(http::Find(request.headers, "User-Agent"), "fieldcost");
    for (const std::string& canary : kCanaries) {
      EXPECT_THAT(text, Not(HasSubstr(canary))) << request.target;
      EXPECT_THAT(content, Not(HasSubstr(canary))) << request.target;
    }
  }
  // All kinds of requests were made, and the search works: it finds permitted texts.
  ASSERT_THAT(by_target,
              AllOf(Contains(Key(wire::kBatchesPath)), Contains(Key(wire::kEnrolmentsPath)),
                    Contains(Key(wire::kWithdrawalsPath)), Contains(Key(wire::kPolicyPath)),
                    SizeIs(Ge(5U))));
  const std::string& body = by_target[wire::kBatchesPath]->body;
  EXPECT_THAT(Decompressed(body), AllOf(HasSubstr("victim_allocate"), HasSubstr("libvictim.so.1")));
  EXPECT_EQ(http::Find(by_target[wire::kEnrolmentsPath]->headers, wire::kTokenHeader), kToken);

  // The user saw exactly these bytes before, and sees them afterwards.
  EXPECT_EQ(ContentOf(path / "preview"), body);
  EXPECT_EQ(ContentOf(path / "kept"), body);
  // Output that users are likely to show to others contains no canaries either.
  for (const char* file : {"log", "view"}) {
    const std::string text = ContentOf(path / file);
    EXPECT_THAT(text, HasSubstr("victim_allocate"));
    for (const std::string& canary : kCanaries) EXPECT_THAT(text, Not(HasSubstr(canary))) << file;
  }
}

TEST_F(PrivacyTest, ABatchHoldsNothingButItsRowsAndTheMachinesClass) {
  ASSERT_NO_FATAL_FAILURE(PinARoot());
  StartWitness();
  enrolled_ = true;
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(Upload().exit_status, 0);
  const std::vector<http::Request> requests = Batches();
  ASSERT_THAT(requests, SizeIs(1));
  const std::string& body = requests[0].body;
  // Encoding the decoded content gives the same bytes: the batch contains nothing else.
  const wire::BatchContent content = Decoded(body);
  const auto again = wire::EncodeBatch(content);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, body);
  EXPECT_TRUE(wire::ValidateHardwareClass(content.hardware));
  // The service has no policy; the version of this machine's own policy is not sent.
  EXPECT_EQ(content.field_policy_version, 0U);
  // The service's name, and the root that all of its agents have pinned.
  const std::string root = ReadFile(home() / "catalog_root", 64 * kKiB).value();
  EXPECT_EQ(http::Find(requests[0].headers, wire::kServiceHeader),
            wire::ServiceId("localhost", wire::RootFingerprint(root)));

  std::set<stats::Metric> metrics;
  std::set<std::string> libraries;
  for (const wire::BatchRow& row : content.rows) {
    metrics.insert(row.metric);
    libraries.insert(row.api.soname);
    // The only time in it is the week.
    EXPECT_LE(WeekOf(SystemClock().Now()) - row.week, 1U);
  }
  EXPECT_EQ(libraries, std::set<std::string>{"libvictim.so.1"});
  // The values of a run besides its cells were included, too.
  EXPECT_THAT(metrics, AllOf(Contains(stats::Metric::kCallsPerRun),
                             Contains(stats::Metric::kFirstCallTime)));
}

// A library without a soname and package is measured only by --pick. Such a pick is not
// sent, neither then nor after its owner has permitted to send the library.
TEST_F(PrivacyTest, PicksOfOwnLibrariesStayLocalPermanently) {
  ASSERT_NO_FATAL_FAILURE(PinARoot());
  StartWitness();
  enrolled_ = true;
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  const std::string own = std::filesystem::path(kVictim).parent_path() / "canaryown";
  const auto pick_and_send = [&] {
    const ProcessResult picked = Fieldcost({"run", "--pick", "libcanaryown.so!*", "--", own});
    EXPECT_EQ(picked.exit_status, 3) << picked.errors;
    EXPECT_THAT(picked.errors, IsEmpty());
    EXPECT_EQ(RunVictim("alloc").exit_status, 0);
    EXPECT_THAT(Fieldcost({"agent", "preview"}).output, Not(HasSubstr("canary")));
    EXPECT_EQ(Upload().exit_status, 0);
  };
  pick_and_send();
  EXPECT_THAT(Fieldcost({"top", "--local"}).output, HasSubstr("libcanaryown.so (local only)"));
  const std::filesystem::path config = home() / "agent.toml";
  std::string settings = ContentOf(config);
  const std::string list = "extra_modules = [";
  settings.insert(settings.find(list) + list.size(), "\"libcanaryown.so\", ");
  std::ofstream(config) << settings;
  pick_and_send();

  const std::vector<http::Request> requests = Batches();
  ASSERT_THAT(requests, SizeIs(2));
  for (const http::Request& request : requests) {
    const std::string content = Decompressed(request.body);
    EXPECT_THAT(content, AllOf(HasSubstr("victim_allocate"), Not(HasSubstr("canary"))));
  }
}

TEST_F(PrivacyTest, OffAndLocalSendNoRequests) {
  ASSERT_NO_FATAL_FAILURE(PinARoot());
  StartWitness();
  for (const std::string mode : {"off", "local"}) {
    ASSERT_EQ(Fieldcost({"agent", mode}).exit_status, 0);
    ASSERT_EQ(RunVictim("alloc").exit_status, 0);
    ASSERT_EQ(Upload().exit_status, 0);
    for (const std::string look : {"status", "preview", "log"}) {
      EXPECT_EQ(Fieldcost({"agent", look}).exit_status, 0) << look;
    }
    EXPECT_EQ(Fieldcost({"agent", "view", "--output", "-"}).exit_status, 0);
    EXPECT_EQ(Fieldcost({"agent", "forget", "--yes"}).exit_status, 0);
    EXPECT_EQ(Fieldcost({"top", "--local"}).exit_status, 0);
  }
  EXPECT_THAT(Requests(), IsEmpty());
}

TEST_F(PrivacyTest, TheServiceKeepsNoAddress) {
  StartAggregator();
  // A different address of loopback, to distinguish it from the server's own.
  const std::string address = "127.77.66.55";
  BackgroundProcess proxy(
      {.arguments = {"python3", FIELDCOST_SUPPORT_DIR "/connect_proxy.py", address}});
  std::string port;
  ASSERT_TRUE(proxy.WaitForLine("port ", &port));
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ProcessOptions upload = Options({kFieldcostd, "--once", "--flush"});
  upload.environment.emplace_back("HTTPS_PROXY", "http://127.0.0.1:" + port.substr(5));
  const ProcessResult sent = RunProcess(upload);
  ASSERT_EQ(sent.exit_status, 0) << sent.errors;
  ASSERT_TRUE(proxy.WaitForLine("tunnel to "));
  // As text, and as bytes in either order.
  const auto expect_none = [&](const std::string& content, const std::string& where) {
    for (const std::string& form :
         {address, std::string("\x7f\x4d\x42\x37"), std::string("\x37\x42\x4d\x7f")}) {
      EXPECT_EQ(content.find(form), std::string::npos) << where;
    }
  };
  const auto search_files = [&] {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(server() / "data")) {
      if (!entry.is_regular_file()) continue;
      const auto content = ReadFile(entry.path(), std::size_t{1} << 26);
      if (!content) continue;  // replaced by the service meanwhile
      ++files;
      expect_none(*content, entry.path().string());
      if (content->starts_with("\x28\xb5\x2f\xfd")) {
        expect_none(Decompressed(*content), entry.path().string() + ", decompressed");
      }
    }
    EXPECT_GT(files, 3U);
  };
  // A batch is first in the store's log, which, unlike tables, is not compressed.
  search_files();
  Publish();
  expect_none(StopAggregator(), "its output");
  search_files();
}

}  // namespace
}  // namespace fieldcost::testing
