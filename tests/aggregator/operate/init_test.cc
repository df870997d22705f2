// Tests `fieldcost-aggregator init`: the created service is valid, starts and serves requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <fstream>

#include "common/base/file.h"
#include "common/http/certificate.h"
#include "common/http/client.h"
#include "common/wire/metadata.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class InitTest : public ::testing::Test {
 protected:
  std::filesystem::path made() const { return dir_.path() / "made"; }
  std::string config() const { return (made() / "aggregator.toml").string(); }

  static testing::ProcessResult Run(std::vector<std::string> words) {
    words.insert(words.begin(), FIELDCOST_AGGREGATOR);
    return testing::RunProcess({.arguments = std::move(words)});
  }
  testing::ProcessResult Init(std::vector<std::string> words) const {
    words.insert(words.begin(), {"init", "--dir", made().string()});
    return Run(std::move(words));
  }
  std::string TextOf(const std::string& name) const {
    return ReadFile(made() / name, 1 << 20).value_or("");
  }
  unsigned ModeOf(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat((made() / name).c_str(), &found), 0) << name;
    return found.st_mode & 0777;
  }

  const testing::TempDir dir_;
};

TEST_F(InitTest, CreatesAServerThatRunsAndCanBeAdministered) {
  const testing::ProcessResult init =
      Init({"--host", "localhost", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0"});
  ASSERT_EQ(init.exit_status, 0) << init.errors;
  EXPECT_THAT(init.output, AllOf(HasSubstr("--check-config --config " + config()),
                                 HasSubstr("join with this line:\n  fieldcost agent join \"$(cat " +
                                           made().string() +
                                           "/address)\" --ca-file ca.pem\nThey need a copy of\n  " +
                                           made().string() + "/ca.pem\n"),
                                 HasSubstr("certbot"), HasSubstr("complete [operator]")));
  EXPECT_EQ(ModeOf(""), 0700U);
  EXPECT_EQ(ModeOf("private_key.pem"), 0600U);
  EXPECT_EQ(ModeOf("admin.token"), 0600U);
  EXPECT_FALSE(std::filesystem::exists(made() / "data"));

  const testing::ProcessResult checked = Run({"--check-config", "--config", config()});
  EXPECT_EQ(checked.exit_status, 0) << checked.errors;
  EXPECT_THAT(checked.output,
              AllOf(HasSubstr("for localhost, 127.0.0.1"), HasSubstr("admin.token_files: 1 read"),
                    Not(HasSubstr("warning"))));

  testing::BackgroundProcess server({.arguments = {FIELDCOST_AGGREGATOR, "--config", config()}});
  ASSERT_TRUE(server.WaitForLine("listening on ")) << server.Wait().output;
  std::string url = TextOf("address");
  ASSERT_TRUE(url.ends_with('\n')) << url;
  url.pop_back();
  const std::string port = url.substr(url.rfind(':'));
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    auto client =
        http::Client::Create({.url = "https://" + host + port, .ca_file = made() / "ca.pem"});
    ASSERT_TRUE(client.has_value()) << client.error().message;
    const auto answer = client->Send({.target = wire::kRootPath});
    ASSERT_TRUE(answer.has_value()) << host << ": " << answer.error().message;
    EXPECT_EQ(answer->body, TextOf("data/publish/root/1"));
  }
  // The operator's commands find the admin address and the token.
  const testing::ProcessResult published = Run({"publish", "--config", config()});
  EXPECT_EQ(published.exit_status, 0) << published.errors;
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

TEST_F(InitTest, PrintsOneLineForVolunteers) {
  const testing::ProcessResult init =
      Init({"--host", "fieldcost.example", "--operator", "Example", "--contact", "a@b.example",
            "--privacy", "Nothing is kept."});
  ASSERT_EQ(init.exit_status, 0) << init.errors;
  EXPECT_THAT(
      init.output,
      AllOf(HasSubstr("  fieldcost agent join 'https://fieldcost.example:8443' --ca-file ca.pem\n"),
            Not(HasSubstr("complete [operator]"))));
}

TEST_F(InitTest, SignsTheOperatorsTextsIntoTheRootAndRenewsThem) {
  ASSERT_EQ(Init({"--host", "localhost", "--port", "0", "--admin-port", "0", "--operator",
                  "Ann \"A\" Example", "--contact", "ann@example.org"})
                .exit_status,
            0);
  EXPECT_THAT(TextOf("aggregator.toml"), AllOf(HasSubstr("\nname = \"Ann \\\"A\\\" Example\"\n"),
                                               HasSubstr("\n# privacy = ")));
  const auto start_and_stop = [this](const std::string& line) {
    testing::BackgroundProcess server({.arguments = {FIELDCOST_AGGREGATOR, "--config", config()}});
    EXPECT_TRUE(server.WaitForLine(line));
    EXPECT_TRUE(server.WaitForLine("listening on "));
    server.Signal(SIGTERM);
    EXPECT_EQ(server.Wait().exit_status, 0);
  };
  start_and_stop("published snapshot version=1 rows=0");
  const auto operator_of = [this](const std::string& version) {
    const auto root = wire::VerifyPinnedRoot(TextOf("data/publish/root/" + version));
    return root ? root->operated_by : wire::OperatorStatement{.name = root.error().message};
  };
  EXPECT_EQ(operator_of("1"),
            (wire::OperatorStatement{.name = "Ann \"A\" Example", .contact = "ann@example.org"}));

  std::ofstream(made() / "aggregator.toml", std::ios::app) << "privacy = \"Nothing is kept.\"\n";
  start_and_stop("root version 1 names another operator");
  ASSERT_EQ(Run({"keys", "renew", "--config", config()}).exit_status, 0);
  EXPECT_EQ(operator_of("2").privacy, "Nothing is kept.");
}

TEST_F(InitTest, WritesAnAddressThatItsCertificateCovers) {
  ASSERT_EQ(Init({"--host", "fieldcost.example", "--port", "0", "--admin-port", "0"}).exit_status,
            0);
  testing::BackgroundProcess server({.arguments = {FIELDCOST_AGGREGATOR, "--config", config()}});
  ASSERT_TRUE(server.WaitForLine("listening on https://fieldcost.example:"));
  EXPECT_THAT(TextOf("address"), ::testing::StartsWith("https://fieldcost.example:"));
  server.Signal(SIGTERM);
  EXPECT_EQ(server.Wait().exit_status, 0);
}

// Starting itself needs the package and its own systemd (tests/packages/inside.sh).
TEST_F(InitTest, MakesNothingWhereTheServiceCannotBeStarted) {
  const std::vector<std::string> start = {"--host",      "a",         "--start",
                                          "--operator",  "A",         "--contact",
                                          "a@a.example", "--privacy", "None."};
  std::vector<std::string> words = {"init", "--dir", "/tmp/new"};
  words.insert(words.end(), start.begin(), start.end());
  const testing::ProcessResult unseen = Run(words);
  EXPECT_EQ(unseen.exit_status, 64);
  EXPECT_THAT(unseen.errors, HasSubstr("its unit cannot see /tmp; choose another directory"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/new"));
  const testing::ProcessResult anonymous = Init({"--host", "a", "--start"});
  EXPECT_EQ(anonymous.exit_status, 64);
  EXPECT_THAT(anonymous.errors, HasSubstr("--operator"));

  // Hides this machine's systemd, and its /srv.
  words = {"unshare",
           "--mount",
           "sh",
           "-c",
           "mount -t tmpfs none /run && mount -t tmpfs none /srv || exit 1\n"
           "\"$@\"; status=$?; test ! -e /srv/new && exit $status",
           "sh",
           FIELDCOST_AGGREGATOR,
           "init",
           "--dir",
           "/srv/new"};
  words.insert(words.end(), start.begin(), start.end());
  const testing::ProcessResult hidden = testing::RunProcess({.arguments = words});
  if (hidden.exit_status == 1) GTEST_SKIP() << "needs mount namespaces: " << hidden.errors;
  EXPECT_EQ(hidden.exit_status, 69);
  EXPECT_THAT(hidden.errors, HasSubstr("no systemd is running here"));
}

TEST_F(InitTest, OverwritesNothingAndLeavesNothingHalfMade) {
  ASSERT_EQ(Init({"--host", "localhost"}).exit_status, 0);
  const std::string token = TextOf("admin.token");
  const testing::ProcessResult again = Init({"--host", "localhost"});
  EXPECT_EQ(again.exit_status, 73);
  EXPECT_THAT(again.errors, HasSubstr(made().string() + " is not empty"));
  EXPECT_EQ(TextOf("admin.token"), token);

  const struct {
    std::vector<std::string> words;
    std::string message;
  } cases[] = {
      {{"--dir", "x"}, "init needs --host"},
      {{"--host", "a"}, "init needs --dir"},
      {{"--dir", "x", "--host", "https://a"}, "for 'https://a': that is neither a host name"},
      {{"--dir", "x", "--host", "a,DNS:b"}, "for 'a,DNS:b': that is neither"},
      {{"--dir", "x y", "--host", "a"}, "a systemd unit names it"},
      {{"--dir", "x", "--host", "a", "--operator", "a\nb"}, "the operator's name must be one line"},
      {{"--dir", "x", "--host", "a", "--port", "65536"}, "--port: invalid value '65536'"},
      {{"--dir", "x", "--host", "a", "--key", "k"}, "--key"},
      {{"--dir", "x", "--host", "a", "--certificate", "c", "--key", "k"}, "c is missing"},
      {{"--dir", "x", "--host", "a", "--config", "c"}, "--config cannot be combined with init"},
  };
  for (auto c : cases) {
    SCOPED_TRACE(c.message);
    c.words.insert(c.words.begin(), {FIELDCOST_AGGREGATOR, "init"});
    const testing::ProcessResult result =
        testing::RunProcess({.arguments = c.words, .directory = dir_.path()});
    EXPECT_EQ(result.exit_status, 64) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(c.message));
    EXPECT_FALSE(std::filesystem::exists(dir_.path() / "x"));
  }
}

TEST_F(InitTest, ACertificateThatIsThereIsNamedIfItIsForTheseNames) {
  const testing::Certificates given = testing::MakeCertificates(dir_.path());
  const std::vector<std::string> certificate = {"--certificate", given.certificate.string(),
                                                "--key", given.key.string()};
  std::vector<std::string> words = {"--host", "fieldcost.example"};
  words.insert(words.end(), certificate.begin(), certificate.end());
  const testing::ProcessResult refused = Init(words);
  EXPECT_EQ(refused.exit_status, 64);
  EXPECT_THAT(refused.errors, HasSubstr("is for localhost, 127.0.0.1, not for fieldcost.example"));
  EXPECT_FALSE(std::filesystem::exists(made()));

  words[1] = "localhost";
  words.insert(words.end(), {"--json", "--port", "0", "--admin-port", "0"});
  const testing::ProcessResult init = Init(words);
  ASSERT_EQ(init.exit_status, 0) << init.errors;
  const boost::json::value answer = boost::json::parse(init.output);
  EXPECT_EQ(answer.at("config").as_string(), config());
  EXPECT_EQ(answer.at("certificate").as_string(), given.certificate.string());
  EXPECT_EQ(answer.at("authority").as_string(), "");
  EXPECT_FALSE(std::filesystem::exists(made() / "private_key.pem"));
  const testing::ProcessResult checked = Run({"--check-config", "--config", config()});
  EXPECT_EQ(checked.exit_status, 0) << checked.errors;
  EXPECT_THAT(checked.output, HasSubstr(given.key.string()));
}

TEST_F(InitTest, OthersReachItUnlessItsNameIsThisMachine) {
  ASSERT_EQ(Init({"--host", "fieldcost.example", "--host", "::1", "--json"}).exit_status, 0);
  EXPECT_THAT(TextOf("aggregator.toml"), HasSubstr("address = \"0.0.0.0\"\nport = 8443\n"));
  const auto names = http::CertificateNames(made() / "certificate.pem");
  ASSERT_TRUE(names.has_value()) << names.error().message;
  EXPECT_THAT(*names, ElementsAre("fieldcost.example", "::1"));
  EXPECT_THAT(
      TextOf("fieldcost-aggregator.conf"),
      AllOf(HasSubstr("\nExecStart=\nExecStart=/"), HasSubstr(" --config " + config() + "\n"),
            HasSubstr("\nReadWritePaths=" + made().string() + "\n")));
}

}  // namespace
}  // namespace fieldcost::aggregator
