// The operator's commands, with and without a running server.
#include "common/base/error.h"
#include "tests/aggregator/probe_server/program_fixture.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProbeServerTest, OnlineBackupIsADatabaseToStartWith) {
  Start();
  const std::string token = Enrol();
  for (std::uint64_t i = 1; i <= 3; ++i) SendBatch(token, i);
  const std::filesystem::path backup = dir_.path() / "backup";
  const ProcessResult made = Run({"backup", backup.string()});
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  for (std::uint64_t i = 4; i <= 5; ++i) SendBatch(token, i);
  EXPECT_EQ(Run({"backup", backup.string()}).exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  Kill();
  EXPECT_EQ(Run({"restore", backup.string()}).exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  std::filesystem::remove_all(home() / "data");
  const ProcessResult restored = Run({"restore", backup.string()});
  EXPECT_EQ(restored.exit_status, 0) << restored.errors;
  EXPECT_EQ(Run({"verify"}).exit_status, 0);
  EXPECT_EQ(std::filesystem::status(database()).permissions() & std::filesystem::perms::all,
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  Start();
  EXPECT_THAT(SendBatch(token, 3).body, HasSubstr("true"));
  EXPECT_THAT(SendBatch(token, 4).body, HasSubstr("false"));
  Stop();
  EXPECT_EQ(Count(database(), "SELECT count(*) FROM event"), 4U);
}

TEST_F(ProbeServerTest, VerifyNamesTheProblem) {
  Start();
  SendBatch(Enrol(), 1);
  Stop();
  const ProcessResult good = Run({"verify"});
  EXPECT_EQ(good.exit_status, 0) << good.errors;
  EXPECT_THAT(good.output, HasSubstr("events=1 points=4"));
  Execute("DELETE FROM hit WHERE sequence = 2");
  const ProcessResult bad = Run({"verify"});
  EXPECT_EQ(bad.exit_status, 1);
  EXPECT_THAT(bad.output, HasSubstr("there are 3 points, but the events have 4"));
}

TEST_F(ProbeServerTest, OperatorAddsAndRemovesUsersWhileItRuns) {
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

TEST_F(ProbeServerTest, OperatorUnlocksUsersWhileItRuns) {
  Start();
  const auto enrol = [this](const std::string& password) {
    return MustSend({.method = "POST",
                     .target = "/v1/devices",
                     .body = R"({"user":"alice","password":")" + password + R"(","name":"x"})"})
        .status;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(enrol("wrong password"), 401);
  EXPECT_EQ(enrol(kServerPassword), 429);
  const ProcessResult unlocked = Run({"user", "unlock", "alice"});
  EXPECT_EQ(unlocked.output, "unlocked user alice\n") << unlocked.errors;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(enrol("wrong password"), 401);
  EXPECT_EQ(enrol(kServerPassword), 429);
  EXPECT_EQ(Run({"user", "password", "alice"}, "another passphrase\n").exit_status, 0);
  EXPECT_EQ(enrol("another passphrase"), 200);
  EXPECT_THAT(Run({"user", "unlock", "alice", "--address", "192.0.2.7"}).output,
              HasSubstr("logins from 192.0.2.7"));
  EXPECT_EQ(Run({"user", "unlock", "alice", "--address", "x"}).exit_status,
            ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_EQ(Run({"user", "unlock", "zebra"}).exit_status, ExitStatus(ErrorCode::kNotFound));
  Stop();
}

TEST_F(ProbeServerTest, CountsClientsOfATrustedProxyByThemselves) {
  const auto configure = [this](const std::string& proxies) {
    std::string text = *ReadFile(config(), kKiB);
    text.insert(text.find("[admin]"), "trusted_proxies = [" + proxies + "]\n");
    ASSERT_TRUE(WriteFileAtomically(config(), text, 0600));
  };
  configure("\"127.0.0.1/32\", \"::1\"");
  Start();
  const auto enrol = [this](const std::string& client, const std::string& password) {
    return MustSend({.method = "POST",
                     .target = "/v1/devices",
                     .headers = {{"Forwarded", "for=" + client}},
                     .body = R"({"user":"alice","password":")" + password + R"(","name":"x"})"})
        .status;
  };
  for (int i = 0; i < 5; ++i) EXPECT_EQ(enrol("192.0.2.1", "wrong password"), 401);
  EXPECT_EQ(enrol("192.0.2.1", kServerPassword), 429);
  EXPECT_EQ(enrol("192.0.2.2", kServerPassword), 200);
  Stop();
  configure("");  // the same setting twice
  EXPECT_EQ(Run({"--check-config"}).exit_status, ExitStatus(ErrorCode::kInvalidArgument));
}

TEST_F(ProbeServerTest, ANewPasswordRevokesDevicesUnlessTheyAreToStay) {
  Start();
  const std::string token = Enrol();
  EXPECT_EQ(
      Run({"user", "password", "alice", "--keep-devices"}, "another passphrase\n").exit_status, 0);
  EXPECT_EQ(SendBatch(token, 1).status, 200);
  const ProcessResult changed = Run({"user", "password", "alice"}, "a third passphrase\n");
  EXPECT_THAT(changed.output, HasSubstr("sessions have ended; devices are revoked"));
  EXPECT_EQ(SendBatch(token, 2).status, 401);
  const std::string audit = Run({"audit"}).output;
  for (const char* entry : {"user added\talice\toperator", "enrolment\talice\t127.0.0.1\tdevice 1",
                            "password changed\talice\toperator"}) {
    EXPECT_THAT(audit, HasSubstr(entry));
  }
  Stop();
}

TEST_F(ProbeServerTest, RemovesAUserWithItsEvents) {
  Start();
  AddUser("bob");
  EXPECT_EQ(SendBatch(Enrol(), 1).status, 200);
  const std::string bobs = Enrol("bob");
  for (std::uint64_t i = 1; i <= 3; ++i) EXPECT_EQ(SendBatch(bobs, i).status, 200);
  EXPECT_THAT(Run({"user", "remove", "bob", "--with-events"}).output, HasSubstr("3 events"));
  EXPECT_THAT(Run({"verify"}).output, HasSubstr("events=1 points=4"));
  EXPECT_THAT(Run({"expire", "--future"}).output, HasSubstr("removed 0 events"));
  Stop();
}

TEST_F(ProbeServerTest, OldEventsAreRemovedOnRequest) {
  Start();
  SendBatch(Enrol(), 1);
  Stop();
  EXPECT_THAT(Run({"expire"}).output, HasSubstr("removed 0 events"));
  EXPECT_THAT(Run({"expire", "--days", "0"}).output, HasSubstr("removed "));
}

TEST_F(ProbeServerTest, InitNamesAnExistingCertificateAndWritesAUnitDropIn) {
  const std::filesystem::path other = dir_.path() / "other";
  const auto init = [&](const std::string& host, const std::string& key) {
    return RunProcess(
        {.arguments = {FIELDCOST_PROBE_SERVER, "init", "--dir", other.string(), "--host", host,
                       "--certificate", (home() / "certificate.pem").string(), "--key", key}});
  };
  const std::string key = (home() / "private_key.pem").string();
  const ProcessResult foreign = init("probes.example", key);
  EXPECT_EQ(foreign.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(foreign.errors, HasSubstr("is for localhost, 127.0.0.1, not for probes.example"));
  EXPECT_THAT(init("localhost", key + ".old").errors, HasSubstr("is missing"));
  EXPECT_FALSE(std::filesystem::exists(other));

  const ProcessResult made = init("localhost", key);
  ASSERT_EQ(made.exit_status, 0) << made.errors;
  EXPECT_THAT(made.output, Not(HasSubstr("must trust")));
  EXPECT_FALSE(std::filesystem::exists(other / "ca.pem"));
  const std::string config = (other / "probe-server.toml").string();
  EXPECT_EQ(
      RunProcess({.arguments = {FIELDCOST_PROBE_SERVER, "--check-config", "--config", config}})
          .exit_status,
      0);
  const std::string drop_in = ReadFile(other / "fieldcost-probe-server.conf", kKiB).value_or("");
  EXPECT_THAT(drop_in, HasSubstr("\nExecStart=\nExecStart=/"));
  EXPECT_THAT(drop_in, HasSubstr(" --config " + config + "\nReadWritePaths=" + other.string()));
}

TEST_F(ProbeServerTest, InitRefusesADirectoryThatIsNotEmpty) {
  const ProcessResult result = RunProcess({.arguments = {FIELDCOST_PROBE_SERVER, "init", "--dir",
                                                         home().string(), "--host", "localhost"}});
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kAlreadyExists));
}

}  // namespace
}  // namespace fieldcost::testing
