// The program itself: serves over TLS, is killed, and is used by its operator.
#include "common/base/error.h"
#include "common/probe/event_batch.h"
#include "common/sqlite/sqlite.h"
#include "tests/aggregator/probe_server/program_fixture.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

TEST_F(ProbeServerTest, StoresAcknowledgedBatchesExactlyOnceDespiteKills) {
  Start();
  const std::string token = Enrol();
  std::uint64_t sequence = 0;
  for (int kills = 0; kills < 3; ++kills) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(SendBatch(token, ++sequence).status, 200);
    Kill();
    Start();
    // Send everything again, like a client that lost the responses.
    for (std::uint64_t again = 1; again <= sequence; ++again) {
      EXPECT_THAT(SendBatch(token, again).body, HasSubstr("\"duplicate\":true"));
    }
  }
  Stop();
  EXPECT_EQ(Count(database(), "SELECT count(*) FROM hit"), sequence * 4);
  EXPECT_EQ(Run({"verify"}).exit_status, 0);
}

TEST_F(ProbeServerTest, ABatchInFlightAtAKillIsThereWholeOrNotAtAll) {
  Start();
  const std::string token = Enrol();
  std::string body = *probe::EncodeBatch(BatchOf(1, {.steps = 4'000}));
  for (int round = 0; round < 3; ++round) {
    // This client does not wait for the response.
    auto hasty = http::Client::Create({.url = url_,
                                       .ca_file = home() / "ca.pem",
                                       .request_timeout = std::chrono::milliseconds(1)});
    ASSERT_TRUE(hasty.has_value());
    (void)hasty->Send({.method = "POST",
                       .target = "/v1/probes",
                       .headers = {{"Authorization", "Bearer " + token}},
                       .body = body});
    Kill();
    const std::uint64_t hits = Count(database(), "SELECT count(*) FROM hit");
    EXPECT_TRUE(hits == 0 || hits == 4'001) << hits;
    EXPECT_EQ(Count(database(), "SELECT count(*) FROM ledger"), hits == 0 ? 0U : 1U);
    Start();
  }
  EXPECT_EQ(SendBody(token, body).status, 200);
  Stop();
  EXPECT_EQ(Count(database(), "SELECT count(*) FROM hit"), 4'001U);
}

TEST_F(ProbeServerTest, AnotherVersionsDatabaseIsNotTouched) {
  Execute("UPDATE server SET version = 99");
  const ProcessResult result = RunProcess(Command({}));
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kUnsupported));
  EXPECT_THAT(result.errors, HasSubstr("it has version 99, but this program knows 1"));
}

TEST_F(ProbeServerTest, AdminPortCountsPointsForLocalClientsOnly) {
  Start();
  SendBatch(Enrol(), 1);
  const std::string url = ReadFile(home() / "admin-address", kKiB).value_or("");
  auto admin = http::Client::Create({.url = url.substr(0, url.size() - 1)});
  ASSERT_TRUE(admin.has_value()) << url;
  const std::string port = url.substr(url.rfind(':') + 1, url.size() - url.rfind(':') - 2);
  const ProcessResult rebound = RunProcess(
      {.arguments = {"bash", "-c",
                     "exec 3<>/dev/tcp/127.0.0.1/" + port +
                         R"(; printf 'GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n' >&3)" +
                         "; head -1 <&3"}});
  EXPECT_THAT(rebound.output, HasSubstr("403"));
  const std::string metrics = admin->Send({.target = "/metrics"})->body;
  EXPECT_THAT(metrics, HasSubstr("\nfieldcost_probe_points_total 4\n"));
  EXPECT_EQ(admin->Send({.target = "/v1/events"})->status, 404);
  EXPECT_EQ(MustSend({.target = "/metrics"}).status, 404);
  Stop();
}

TEST_F(ProbeServerTest, ABodyThatIsTooLargeIsRefusedByItsLength) {
  Start();
  EXPECT_EQ(SendBody(Enrol(), std::string(300 * kKiB, 'x')).status, 413);
  Stop();
}

TEST_F(ProbeServerTest, ANewCertificateIsTakenOnSighup) {
  Start();
  const ProcessResult made = RunProcess(
      {.arguments = {FIELDCOST_PROBE_SERVER, "init", "--dir", (dir_.path() / "other").string(),
                     "--host", "localhost", "--host", "127.0.0.1"}});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  for (const char* name : {"certificate.pem", "private_key.pem", "ca.pem"}) {
    std::filesystem::copy_file(dir_.path() / "other" / name, home() / name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  server_->Signal(SIGHUP);
  ASSERT_TRUE(server_->WaitForLine("reloaded the certificate"));
  auto client = http::Client::Create({.url = url_, .ca_file = home() / "ca.pem"});
  EXPECT_EQ(client->Send({.target = "/login"})->status, 200);
  Stop();
}

}  // namespace
}  // namespace fieldcost::testing
