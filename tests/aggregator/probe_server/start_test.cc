// Invalid configurations and failing starts, and how they are reported.
#include <fstream>

#include "common/base/error.h"
#include "tests/aggregator/probe_server/server_fixture.h"

namespace fieldcost::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ProbeStartTest : public ServerTest {
 protected:
  void WriteConfig(const std::string& text) const { std::ofstream(config()) << text; }
  // Expects a one-line error with the place and the reason.
  void ExpectRefusal(const std::string& text, const std::string& message) const {
    WriteConfig(text);
    const ProcessResult result = RunProcess(Command({"--check-config"}));
    EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kInvalidArgument)) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(message));
    EXPECT_EQ(std::count(result.errors.begin(), result.errors.end(), '\n'), 1) << result.errors;
  }
  const std::string good_ = R"([server]
certificate = "certificate.pem"
private_key = "private_key.pem"
port = 0
[data]
dir = "data"
)";
};

TEST_F(ProbeStartTest, PackageConfigIsValid) {
  const std::filesystem::path file =
      std::filesystem::path(FIELDCOST_SOURCE_DIR) / "deploy/config/probe-server.toml";
  const ProcessResult result = RunProcess(
      {.arguments = {FIELDCOST_PROBE_SERVER, "--check-config", "--config", file.string()}});
  // The only error is that its certificate does not exist yet.
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kInvalidArgument));
  EXPECT_THAT(result.errors, HasSubstr("/etc/fieldcost/probe-server/certificate.pem"));
}

TEST_F(ProbeStartTest, MistakesAreNamedWithTheirPlace) {
  ExpectRefusal(good_ + "retention = 3\n", "unknown key");
  ExpectRefusal(good_ + "retention_days = 0\n", "data.retention_days");
  ExpectRefusal(good_ + "[log]\nformat = \"xml\"\n", "log.format");
  ExpectRefusal(good_ + "[admin]\naddress = \"0.0.0.0\"\n", "expected a loopback address");
  ExpectRefusal("[server]\naddress = \"0.0.0.0\"\n[data]\ndir = \"data\"\n",
                "name a certificate file (PEM)");
  ExpectRefusal("[server]\ncertificate = \"certificate.pem\"\n[data]\ndir = \"data\"\n",
                "certificate and private key go together");
  ExpectRefusal("[server]\n", "name a directory for the data");
  ExpectRefusal("no toml", "not TOML");
}

TEST_F(ProbeStartTest, WithoutACertificateItServesThisMachineOnly) {
  WriteConfig("[server]\nport = 0\n[data]\ndir = \"data\"\n");
  server_ = std::make_unique<BackgroundProcess>(Command({"serve"}));
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("listening on http://127.0.0.1:", &line));
  auto client = http::Client::Create({.url = line.substr(line.find("http://"))});
  EXPECT_EQ(client->Send({.target = "/login"})->status, 200);
  Stop();
}

TEST_F(ProbeStartTest, MissingCertificateOrTakenPortIsReportedWithAdvice) {
  std::filesystem::remove(home() / "certificate.pem");
  WriteConfig(good_);
  EXPECT_THAT(RunProcess(Command({})).errors, HasSubstr("certificate.pem"));
}

TEST_F(ProbeStartTest, APortThatIsTakenIsNamed) {
  Start();
  const std::string port = url_.substr(url_.rfind(':') + 1);
  WriteConfig("[server]\nport = " + port + "\n[data]\ndir = \"other\"\n");
  const ProcessResult result = RunProcess(Command({}));
  EXPECT_EQ(result.exit_status, ExitStatus(ErrorCode::kAlreadyExists));
  EXPECT_THAT(result.errors, AllOf(HasSubstr(port), HasSubstr("set server.port")));
  EXPECT_FALSE(std::filesystem::exists(home() / "other"));
  Stop();
}

}  // namespace
}  // namespace fieldcost::testing
