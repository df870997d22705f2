// The program itself: served over TLS, killed, backed up, asked by its operator.
#include <fstream>

#include "aggregator/probes/accounts/guessing.h"
#include "common/base/error.h"
#include "common/probe/batch.h"
#include "common/sqlite/sqlite.h"
#include "tests/aggregator/probes/event_batches.h"
#include "tests/aggregator/probes/server_fixture.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

class ProbeServerTest : public ServerTest {
 protected:
  http::Response SendBatch(const std::string& token, std::uint64_t sequence) {
    return SendBody(token, *probe::EncodeBatch(BatchOf(sequence, {.run = sequence})));
  }
  std::uint64_t Count(const std::filesystem::path& file, const std::string& sql) {
    auto database = sqlite::Database::Open(file, sqlite::Database::Access::kWrite);
    EXPECT_TRUE(database.has_value());
    return database->QueryInt(sql).value_or(~std::uint64_t{0});
  }
};

TEST_F(ProbeServerTest, WhatWasAcknowledgedSurvivesAKillAndIsThereOnce) {
  Start();
  const std::string token = Enrol();
  std::uint64_t sequence = 0;
  for (int kills = 0; kills < 3; ++kills) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(SendBatch(token, ++sequence).status, 200);
    Kill();
    Start();
    // As one whose answer got lost, all again.
    for (std::uint64_t again = 1; again <= sequence; ++again) {
      EXPECT_THAT(SendBatch(token, again).body, HasSubstr("\"duplicate\": true"));
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
    // Its answer is not waited for.
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

TEST_F(ProbeServerTest, ABackupMadeBesideItIsADatabaseToStartWith) {
  Start();
  const std::string token = Enrol();
  for (std::uint64_t i = 1; i <= 3; ++i) SendBatch(token, i);
  const std::filesystem::path backup = dir_.path() / "backup";
  const ProcessResult made = Run({"backup", backup.string()});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  for (std::uint64_t i = 4; i <= 5; ++i) SendBatch(token, i);
  EXPECT_EQ(Run({"backup", backup.string()}).exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  Kill();
  std::filesystem::remove_all(home() / "data");
  std::filesystem::create_directory(home() / "data");
  std::filesystem::copy_file(backup / "probe-server.db", database());
  EXPECT_EQ(std::filesystem::status(database()).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Start();
  EXPECT_THAT(SendBatch(token, 3).body, HasSubstr("true"));
  EXPECT_THAT(SendBatch(token, 4).body, HasSubstr("false"));
  Stop();
  EXPECT_EQ(Count(database(), "SELECT count(*) FROM event"), 4U);
}

TEST_F(ProbeServerTest, VerifySaysWhatIsWrong) {
  Start();
  SendBatch(Enrol(), 1);
  Stop();
  const ProcessResult good = Run({"verify"});
  EXPECT_EQ(good.exit_status, 0) << good.errors;
  EXPECT_THAT(good.output, HasSubstr("events=1 steps=4"));
  {
    auto database = sqlite::Database::Open(this->database(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(database->Execute("DELETE FROM hit WHERE sequence = 2"));
  }
  const ProcessResult bad = Run({"verify"});
  EXPECT_EQ(bad.exit_status, 1);
  EXPECT_THAT(bad.output, HasSubstr("there are 3 points, and the events tell of 4"));
}

TEST_F(ProbeServerTest, AnotherVersionsDatabaseIsNotTouched) {
  {
    auto database = sqlite::Database::Open(this->database(), sqlite::Database::Access::kWrite);
    ASSERT_TRUE(database->Execute("UPDATE server SET version = 99"));
  }
  const ProcessResult result = RunProcess(Command({}));
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kUnsupported));
  EXPECT_THAT(result.errors, HasSubstr("it has version 99, and this program knows 1"));
}

TEST_F(ProbeServerTest, ItsOperatorMakesAndRemovesUsersBesideIt) {
  Start();
  EXPECT_EQ(AddUser("bob").exit_status, 0);
  EXPECT_EQ(AddUser("bob").exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  EXPECT_EQ(Run({"user", "add", "carl"}, "too short\n").exit_status,
            ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_EQ(Run({"user", "add", "carl"}, "").exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  const std::string token = Enrol("bob");
  EXPECT_THAT(Run({"user", "list"}).output, HasSubstr("bob\t20"));
  EXPECT_THAT(Run({"device", "list"}).output, HasSubstr("1\tbob\tlaptop\t20"));
  EXPECT_EQ(SendBatch(token, 1).status, 200);
  EXPECT_EQ(Run({"device", "revoke", "1"}).exit_status, 0);
  EXPECT_EQ(Run({"device", "revoke", "2"}).exit_status, ExitStatus(ErrorCode::kNotFound));
  EXPECT_EQ(SendBatch(token, 2).status, 401);
  EXPECT_EQ(Run({"user", "remove", "bob"}).exit_status, 0);
  EXPECT_EQ(Run({"user", "password", "bob"}, "long enough word\n").exit_status,
            ExitStatus(ErrorCode::kNotFound));
  Stop();
}

TEST_F(ProbeServerTest, OldEventsAreRemovedOnRequest) {
  Start();
  SendBatch(Enrol(), 1);
  Stop();
  EXPECT_THAT(Run({"expire"}).output, HasSubstr("removed 0 events"));
  EXPECT_THAT(Run({"expire", "--days", "0"}).output, HasSubstr("removed "));
}

TEST_F(ProbeServerTest, TheOperatorsPortTellsHealthAndNumbers) {
  Start();
  SendBatch(Enrol(), 1);
  const std::string url = ReadFile(home() / "admin-address", kKiB).value_or("");
  auto admin = http::Client::Create({.url = url.substr(0, url.size() - 1)});
  ASSERT_TRUE(admin.has_value()) << url;
  EXPECT_EQ(admin->Send({.target = "/healthz"})->status, 200);
  const std::string metrics = admin->Send({.target = "/metrics"})->body;
  EXPECT_THAT(metrics, HasSubstr("\nfieldcost_probe_steps_total 4\n"));
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
