// Operation of a running service: monitoring, commands, shutdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "aggregator/admin/admin_requests.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/serve/health.h"
#include "tests/aggregator/service/service_fixture.h"
#include "tests/common/http/raw_connection.h"
#include "tests/support/notify_socket.h"
#include "tests/support/wait_until.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class OperationTest : public ServiceTest {
 protected:
  OperationTest() {
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "token", "sesame\n", 0600).has_value());
    WriteConfig(Config("port = 0", "data", kAdmin));
  }

  void StartWithAdmin() {
    ASSERT_NO_FATAL_FAILURE(Start());
    ConnectAdmin();
  }

  void ConnectAdmin() {
    auto url = ReadFile(dir_.path() / "admin-address", 1024);
    ASSERT_TRUE(url.has_value());
    ASSERT_THAT(*url, StartsWith("http://127.0.0.1:"));
    url->pop_back();
    admin_ = std::make_unique<http::Client>(std::move(*http::Client::Create({.url = *url})));
  }

  http::Response Ask(const http::Request& request) {
    auto response = admin_->Send(request);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? std::move(*response) : http::Response();
  }
  http::Response AskFor(const char* target) { return Ask({.target = target}); }
  http::Response Command(const char* target, const std::string& body = "",
                         const std::string& token = "sesame") {
    return Ask({.method = "POST",
                .target = target,
                .headers = {{"Authorization", "Bearer " + token}},
                .body = body});
  }
  using ServiceTest::Command;

  http::Response SendBatch(std::uint64_t sequence) {
    return MustSend(
        SignedRequest(key_, sequence, ingest::TestContent(4, WeekOf(SystemClock().Now()))));
  }

  // Opens a new connection, which uses the current certificate; this fails if the CA does not
  // match.
  Result<http::Response> Connect(const std::filesystem::path& ca_file) {
    FIELDCOST_ASSIGN(http::Client client, http::Client::Create({.url = url_, .ca_file = ca_file}));
    return client.Send({.target = wire::kRootPath});
  }

  static constexpr char kAdmin[] =
      "[admin]\nport = 0\naddress_file = \"admin-address\"\ntoken_files = [\"token\"]\n";
  std::unique_ptr<http::Client> admin_;
};

TEST_F(OperationTest, AdminListenerReportsHealth) {
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  EXPECT_EQ(AskFor(serve::kLivezPath).status, 200);
  EXPECT_EQ(AskFor(serve::kReadyzPath).status, 200);
  ASSERT_EQ(SendBatch(1).status, 200);
  ASSERT_EQ(SendBatch(1).status, 200);
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, std::string("garbage"))).status, 400);
  const std::string metrics = AskFor(serve::kMetricsPath).body;
  for (const char* line :
       {"fieldcost_ready 1\n", "fieldcost_ingest_accepted_batches_total 1\n",
        "fieldcost_ingest_replayed_batches_total 1\n", "fieldcost_ingest_accepted_rows_total 4\n",
        "fieldcost_ingest_refusals_total{reason=\"malformed\"} 1\n",
        "fieldcost_batch_duration_seconds_count 3\n", "fieldcost_store_sequence 1\n",
        "fieldcost_batch_stage_duration_seconds_count{stage=\"receive\"} 3\n",
        "fieldcost_batch_stage_duration_seconds_count{stage=\"queue\"} 3\n",
        "fieldcost_batch_stage_duration_seconds_count{stage=\"decode\"} 2\n",
        "fieldcost_batch_stage_duration_seconds_count{stage=\"ledger\"} 2\n",
        "fieldcost_batch_stage_duration_seconds_count{stage=\"fold\"} 1\n",
        "fieldcost_http_requests_total 3\n", "fieldcost_publication_runs_total 1\n"}) {
    EXPECT_THAT(metrics, HasSubstr(line));
  }
  EXPECT_THAT(metrics, HasSubstr("fieldcost_certificate_expiry_timestamp_seconds "));
  EXPECT_THAT(metrics, Not(HasSubstr("fieldcost_store_log_sync_duration_seconds_count 0\n")));
  EXPECT_THAT(metrics, Not(HasSubstr(key_.public_key().Hex())));
  EXPECT_EQ(Command(admin::kPublishPath, "", "guess").status, 401);
  EXPECT_THAT(Command(admin::kPublishPath).body, StartsWith(R"({"version":2,"store_sequence":1,)"));
  EXPECT_EQ(Download().size(), 4U);
  EXPECT_EQ(Command(admin::kCheckpointPath).body, R"({"sequence":1})");
  EXPECT_EQ(Command(admin::kCompactPath).body, "{}");
  EXPECT_EQ(Command(admin::kExpirePath).status, 400);
  EXPECT_EQ(Command(admin::kExpirePath, R"({"before":2900,"yes":true})").body,
            R"({"rows":0,"ledger_entries":0,"held_batches":0,"kept_batches":0})");
  EXPECT_THAT(AskFor(serve::kMetricsPath).body, HasSubstr("fieldcost_publication_version 2\n"));
  Stop();
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "admin-address"));
}

TEST_F(OperationTest, ReportsEverywhereThatRoomForNewAgentsRunsOut) {
  std::string config = Config("port = 0", "data", kAdmin);
  const std::string off = "probation_batches = 0";
  config.replace(config.find(off), off.size(),
                 "probation_batches = 3\nprobation_hours = 0\nheld_mib = 1");
  WriteConfig(config);
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  wire::BatchContent content = ingest::TestContent(0, WeekOf(SystemClock().Now()));
  for (unsigned row = 0; row < 4000; ++row) {
    content.rows.push_back(ingest::TestRow(0, WeekOf(SystemClock().Now())));
    content.rows.back().api.symbol = "function_" + std::to_string(row);
  }
  int agents = 0;
  for (; AskFor(serve::kReadyzPath).status == 200; ++agents) {
    ASSERT_LT(agents, 30);
    const auto key = crypto::PrivateKey::FromSeed(std::string(32, static_cast<char>('A' + agents)));
    const http::Response response = MustSend(SignedRequest(key, 1, content));
    ASSERT_EQ(response.status, 200) << response.body;
  }
  EXPECT_GT(agents, 10);
  const std::string why = "the space for batches of new agents (ingest.held_mib) is nearly used up";
  EXPECT_EQ(AskFor(serve::kReadyzPath).body, "not ready: " + why + "\n");
  const std::string metrics = AskFor(serve::kMetricsPath).body;
  EXPECT_THAT(metrics, HasSubstr("fieldcost_ready 0\n"));
  EXPECT_THAT(metrics, HasSubstr("fieldcost_store_held_room_bytes 1048576\n"));
  EXPECT_THAT(metrics, HasSubstr("fieldcost_store_evicted_batches_total 0\n"));
  EXPECT_TRUE(server_->WaitForLine(why));
  // The condition is checked twice per second and logged once per hour.
  client_.reset();
  admin_.reset();
  server_->Signal(SIGTERM);
  const testing::ProcessResult result = server_->Wait();
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_EQ(result.output.find(why), result.output.rfind(why));
  EXPECT_NE(result.output.find(why), std::string::npos);
}

TEST_F(OperationTest, AnAgentIsRevokedWhileTheServiceRuns) {
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  ASSERT_EQ(SendBatch(1).status, 200);
  EXPECT_EQ(Command(admin::kRevokePath, R"({"agent":"00ff"})").status, 400);
  const std::string body = "{\"agent\":\"" + key_.public_key().Hex() + "\"}";
  EXPECT_EQ(Command(admin::kRevokePath, body).status, 200);
  EXPECT_EQ(SendBatch(2).status, 403);
  Stop();
}

TEST_F(OperationTest, ANewCertificateIsTakenByItselfAndABadOneIsNot) {
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  const std::filesystem::path other = dir_.path() / "other";
  std::filesystem::create_directory(other);
  const testing::Certificates next = testing::MakeCertificates(other);
  EXPECT_TRUE(Connect(certificates_.ca).has_value());
  EXPECT_FALSE(Connect(next.ca).has_value());
  EXPECT_EQ(MustGet(wire::kRootPath).status, 200);  // on a connection that stays open

  // A key that does not match the certificate is refused on request and when the change is
  // detected.
  std::filesystem::copy_file(next.key, certificates_.key,
                             std::filesystem::copy_options::overwrite_existing);
  const http::Response refusal = Command(admin::kReloadPath);
  EXPECT_EQ(refusal.status, 400) << refusal.body;
  ASSERT_TRUE(server_->WaitForLine("cannot use the new certificate; the old one stays in force"));
  EXPECT_TRUE(Connect(certificates_.ca).has_value());
  EXPECT_THAT(AskFor(serve::kMetricsPath).body,
              HasSubstr("fieldcost_certificate_reload_failures_total 2\n"));

  std::filesystem::copy_file(next.certificate, certificates_.certificate,
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_TRUE(server_->WaitForLine("the certificate has changed"));
  EXPECT_TRUE(Connect(next.ca).has_value());
  EXPECT_FALSE(Connect(certificates_.ca).has_value());
  EXPECT_EQ(MustGet(wire::kRootPath).status, 200);  // the open connection still works
  Stop();
}

TEST_F(OperationTest, ASignalHasCertificateAndTokensReadAgain) {
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  ASSERT_TRUE(WriteFileAtomically(dir_.path() / "token", "other\n", 0600).has_value());
  EXPECT_EQ(Command(admin::kCheckpointPath, "", "other").status, 401);
  server_->Signal(SIGHUP);
  ASSERT_TRUE(server_->WaitForLine("reloaded certificate and tokens"));
  EXPECT_EQ(Command(admin::kCheckpointPath, "", "other").status, 200);
  EXPECT_EQ(Command(admin::kCheckpointPath, "", "sesame").status, 401);
  ASSERT_TRUE(std::filesystem::remove(dir_.path() / "token"));
  server_->Signal(SIGHUP);
  ASSERT_TRUE(server_->WaitForLine("reload failed; the previous settings stay in force"));
  EXPECT_EQ(Command(admin::kCheckpointPath, "", "other").status, 200);
  Stop();
}

TEST_F(OperationTest, BeforeTheEndItIsNotReadyButStillAnswers) {
  WriteConfig(Config("port = 0\ndrain_seconds = 60", "data", kAdmin));
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  server_->Signal(SIGTERM);
  ASSERT_TRUE(server_->WaitForLine("draining"));
  const http::Response refusal = AskFor(serve::kReadyzPath);
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.body, "not ready: draining\n");
  EXPECT_EQ(AskFor(serve::kLivezPath).status, 200);
  EXPECT_EQ(SendBatch(1).status, 200);
  EXPECT_EQ(Command(admin::kPublishPath).status, 503);
  Stop();  // the second signal stops it immediately
}

TEST_F(OperationTest, ADiskThatIsNearlyFullIsNotReady) {
  std::string config = Config("port = 0", "data", kAdmin);
  config.insert(config.find("data_dir"), "min_free_mib = 1073741824\n");
  WriteConfig(config);
  ExpectRefusal(ServiceTest::Command(), ErrorCode::kInvalidArgument, "min_free_mib");
  config.replace(config.find("1073741824"), 10, "1048576");  // 1 TiB
  WriteConfig(config);
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  const auto space = std::filesystem::space(dir_.path());
  const http::Response response = AskFor(serve::kReadyzPath);
  if (space.available >= std::uint64_t{1} << 40U) {
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(SendBatch(1).status, 200);
  } else {
    EXPECT_EQ(SendBatch(1).status, 507);
    EXPECT_EQ(response.body, "not ready: less than 1048576 MiB are free on the data disk\n");
    EXPECT_TRUE(server_->WaitForLine("the data disk is full: no batch is accepted"));
  }
  Stop();
}

TEST_F(OperationTest, AFailedWriteIsNotAcknowledgedAndEndsTheService) {
  testing::ProcessOptions command = ServiceTest::Command();
  // With SIGXFSZ ignored, exceeding the file size limit makes write(2) fail.
  command.arguments.insert(command.arguments.begin(),
                           {"sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"});
  server_ = std::make_unique<testing::BackgroundProcess>(command);
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("listening on ", &line));
  url_ = line.substr(line.find("https://"));
  client_ = std::make_unique<http::Client>(
      std::move(*http::Client::Create({.url = url_, .ca_file = certificates_.ca})));
  ingest::SetTestRootOf(DataDir());
  ASSERT_EQ(SendBatch(1).status, 200);
  const rlimit limit{1, 1};
  ASSERT_EQ(::prlimit(server_->pid(), RLIMIT_FSIZE, &limit, nullptr), 0);
  EXPECT_GE(SendBatch(2).status, 500);
  const testing::ProcessResult result = server_->Wait();
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kIo)) << result.output;
  EXPECT_THAT(result.output, HasSubstr("has failed; no batch is accepted"));
  server_.reset();

  ASSERT_NO_FATAL_FAILURE(Start());
  EXPECT_EQ(SendBatch(2).status, 200);
  Stop();
  EXPECT_THAT(testing::RunProcess(ServiceTest::Command({"verify"})).output,
              HasSubstr(" batches=2 "));
}

TEST_F(OperationTest, TheLogCanBeJson) {
  WriteConfig(Config("port = 0", "data", "[log]\nformat = \"json\"\n"));
  ASSERT_NO_FATAL_FAILURE(Start());
  ASSERT_EQ(SendBatch(1).status, 200);
  server_->Signal(SIGUSR1);
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("\"version\":2,", &line));
  EXPECT_THAT(line, StartsWith("{\"time\":\"20"));
  EXPECT_THAT(line,
              HasSubstr(R"("level":"info","event":"published snapshot","version":2,"rows":4,)"));
  Stop();
}

TEST_F(OperationTest, ASecondServiceLeavesTheFirstOnesAddressFilesAlone) {
  ASSERT_NO_FATAL_FAILURE(StartWithAdmin());
  const auto before = ReadFile(dir_.path() / "admin-address", 1024);
  ExpectRefusal(ServiceTest::Command(), ErrorCode::kAlreadyExists, "in use by another");
  EXPECT_EQ(ReadFile(dir_.path() / "admin-address", 1024).value(), before.value());
  EXPECT_TRUE(std::filesystem::exists(address_file()));
  Stop();
}

TEST_F(OperationTest, TheEndGoesBeforeOtherSignals) {
  ASSERT_NO_FATAL_FAILURE(Start());
  server_->Signal(SIGSTOP);
  const std::string status = fmt::format("/proc/{}/status", server_->pid());
  ASSERT_TRUE(testing::WaitUntil([&] {
    return ReadFile(status, 64 * kKiB).value_or("").find("State:\tT") != std::string::npos;
  }));
  for (const int number : {SIGHUP, SIGUSR1, SIGTERM}) server_->Signal(number);
  server_->Signal(SIGCONT);
  const testing::ProcessResult result = server_->Wait();
  EXPECT_EQ(result.exit_status, 0) << result.output;
  EXPECT_THAT(result.output, Not(HasSubstr("reloaded")));
  EXPECT_THAT(result.output, Not(HasSubstr("version=2"))) << "only the publication of the start";
  server_.reset();
}

class ManagerTest : public OperationTest {
 protected:
  // Returns the next message that is not a watchdog keep-alive; with `alive`, the next that is.
  std::string Message(bool alive = false) {
    std::string message = socket_.Next();
    while (!message.empty() && alive != message.starts_with("WATCHDOG=1")) message = socket_.Next();
    return message;
  }

  const testing::NotifySocket socket_{dir_.path() / "notify"};
};

TEST_F(ManagerTest, TheServiceManagerLearnsOfEachStep) {
  testing::ProcessOptions command = ServiceTest::Command();
  command.environment = {{"NOTIFY_SOCKET", socket_.path()}, {"WATCHDOG_USEC", "60000000"}};
  server_ = std::make_unique<testing::BackgroundProcess>(command);
  EXPECT_THAT(Message(), StartsWith("READY=1\n"));
  EXPECT_THAT(Message(true), StartsWith("WATCHDOG=1"));
  server_->Signal(SIGHUP);
  EXPECT_THAT(Message(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_THAT(Message(), StartsWith("READY=1\n"));
  server_->Signal(SIGTERM);
  EXPECT_THAT(Message(), StartsWith("STOPPING=1\n"));
  EXPECT_EQ(server_->Wait().exit_status, 0);
  server_.reset();
}

TEST_F(ManagerTest, AReloadBeforeItIsReadyDoesNotMakeItSo) {
  testing::ProcessOptions command = ServiceTest::Command();
  command.environment = {{"NOTIFY_SOCKET", socket_.path()}};
  sigset_t hangup;
  sigset_t before;
  sigemptyset(&hangup);
  sigaddset(&hangup, SIGHUP);
  ASSERT_EQ(::pthread_sigmask(SIG_BLOCK, &hangup, &before), 0);  // the process inherits this
  server_ = std::make_unique<testing::BackgroundProcess>(command);
  ASSERT_EQ(::pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  server_->Signal(SIGHUP);
  EXPECT_THAT(Message(), StartsWith("READY=1\n"));
  EXPECT_TRUE(std::filesystem::exists(address_file()));
  server_->Signal(SIGTERM);
  EXPECT_THAT(Message(), StartsWith("STOPPING=1\n"));
  EXPECT_EQ(server_->Wait().exit_status, 0);
  server_.reset();
}

TEST_F(OperationTest, WithTooFewOpenFilesItDoesNotStart) {
  testing::ProcessOptions command = Command();
  command.arguments.insert(command.arguments.begin(), {"prlimit", "--nofile=64:64"});
  ExpectRefusal(command, ErrorCode::kInvalidArgument, "only 64 open files are allowed, but ");
  ExpectRefusal(command, ErrorCode::kInvalidArgument, "LimitNOFILE=");
}

// A checkpoint that cannot open a file would stop the service.
TEST_F(OperationTest, HoweverManyConnectTheStoreKeepsItsDescriptors) {
  testing::ProcessOptions command = Command();
  command.arguments.insert(command.arguments.begin(), {"prlimit", "--nofile=1200:1200"});
  std::string line = "at most 80 connections instead of 4096";
  ASSERT_NO_FATAL_FAILURE(Start(command, &line));
  ConnectAdmin();
  const auto port = static_cast<std::uint16_t>(*ParseUint64(url_.substr(url_.rfind(':') + 1)));
  std::vector<std::unique_ptr<http::RawConnection>> silent;
  for (int i = 0; i < 250; ++i) {
    silent.push_back(
        std::make_unique<http::RawConnection>(port, "127.0.3." + std::to_string(i + 1)));
  }
  ASSERT_EQ(SendBatch(1).status, 200);
  EXPECT_EQ(Command(admin::kCheckpointPath).status, 200);
  EXPECT_EQ(Command(admin::kPublishPath).status, 200);
  const std::string metrics = AskFor(serve::kMetricsPath).body;
  const std::string name = "\nprocess_open_fds ";
  const std::size_t at = metrics.find(name) + name.size();
  EXPECT_LT(std::stod(metrics.substr(at)), 1200 - 512);
  Stop();
}

}  // namespace
}  // namespace fieldcost::aggregator
