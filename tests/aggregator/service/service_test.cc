// Runs the aggregator as a process, with real TLS, signals and files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/base/file.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST_F(ServiceTest, ASignedBatchComesBackBitForBitInAPublishedFragment) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto address = ReadFile(address_file(), 1024);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(*address, url_ + "\n");
  // The operator's endpoints are not public.
  for (const char* path : {"/livez", "/readyz", "/metrics"}) {
    EXPECT_EQ(MustGet(path).status, 404) << path;
  }

  const wire::BatchContent content = ingest::TestContent(20, WeekOf(SystemClock().Now()));
  const http::Response answer = MustSend(SignedRequest(key_, 1, content));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(MustSend(SignedRequest(key_, 1, content)).body, answer.body);
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, std::string("garbage"))).status, 400);

  server_->Signal(SIGUSR1);
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=2 rows=20 withheld=0 fragments=1"));
  std::vector<stats::StatRow> rows = Download();
  ASSERT_EQ(rows.size(), content.rows.size());
  for (stats::StatRow& row : rows) {
    EXPECT_EQ(row.weights.Contributions(), 1U);
    row.weights = {};  // published as rounded shares
    EXPECT_EQ(row.bounded, stats::BoundedSumsOf(row.histogram));
    row.bounded = {};
    EXPECT_EQ(row.fullest_quarter.scalars, row.scalars);
    row.fullest_quarter = {};
  }
  for (const wire::BatchRow& sent : content.rows) {
    const stats::StatRow expected{
        {sent.api, sent.metric, {}, 0}, sent.histogram, stats::ScalarsOf(sent.histogram)};
    EXPECT_THAT(rows, ::testing::Contains(expected));
  }
  Stop();
  EXPECT_FALSE(std::filesystem::exists(address_file()));

  const testing::ProcessResult verified = testing::RunProcess(Command({"verify"}));
  EXPECT_EQ(verified.exit_status, 0) << verified.errors;
  EXPECT_THAT(verified.output, StartsWith("the store is good: "));
  EXPECT_THAT(verified.output, HasSubstr(" sequence=1 batches=1 rows=20 "));
}

TEST_F(ServiceTest, ItTakesWhatIsSignedForItsOwnNames) {
  const crypto::PrivateKey key = crypto::PrivateKey::Generate();
  WriteConfig(Config("port = 0\nnames = [\"Fieldcost.Example\"]"));
  Start();
  const http::Request request = ingest::SignedRequest(
      key, 1, ingest::TestContent(1, WeekOf(SystemClock().Now())));  // signed for "localhost"
  EXPECT_EQ(MustSend(request).status, 421) << "the configuration's names are instead of those ...";
  Stop();
  WriteConfig(Config());
  Start();
  EXPECT_EQ(MustSend(request).status, 200) << "... of the certificate";
  Stop();
}

TEST_F(ServiceTest, ARestartAfterSigkillChangesNoNumberAndKnowsTheReplay) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const wire::BatchContent content = ingest::TestContent(5, WeekOf(SystemClock().Now()));
  const http::Response answer = MustSend(SignedRequest(key_, 1, content));
  ASSERT_EQ(answer.status, 200);
  client_.reset();
  server_->Signal(SIGKILL);
  EXPECT_EQ(server_->Wait().signal, SIGKILL);

  server_ = std::make_unique<testing::BackgroundProcess>(Command());
  // There are rows now, so the service publishes at startup.
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=2 rows=5"));
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("listening on ", &line));
  client_ = std::make_unique<http::Client>(std::move(*http::Client::Create(
      {.url = line.substr(line.find("https://")), .ca_file = certificates_.ca})));
  const http::Response replay = MustSend(SignedRequest(key_, 1, content));
  EXPECT_EQ(replay.status, 200);
  EXPECT_EQ(replay.body, answer.body);
  server_->Signal(SIGUSR1);
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=3 rows=5"));
  for (const stats::StatRow& row : Download()) EXPECT_EQ(row.scalars.contributions, 1U);
  Stop();
}

TEST_F(ServiceTest, ReportsEachFailedStartInOneLine) {
  const auto refused = [this](const std::string& config, ErrorCode code,
                              const std::string& message) {
    SCOPED_TRACE(message);
    WriteConfig(config);
    ExpectRefusal(Command(), code, message);
  };
  refused(Config("port = 0\nprot = 1"), ErrorCode::kInvalidArgument, "prot");
  refused("[server\n", ErrorCode::kInvalidArgument, "aggregator.toml");
  refused(Config("port = 70000"), ErrorCode::kInvalidArgument, "server.port");
  refused(Config("address = \"nowhere\""), ErrorCode::kInvalidArgument, "nowhere");
  refused("[server]\n", ErrorCode::kInvalidArgument, "server.certificate");
  std::ofstream(dir_.path() / "file") << "x";
  refused(Config("port = 0", "file"), ErrorCode::kNotFound, (dir_.path() / "file").string());

  ASSERT_TRUE(std::filesystem::remove(config_file()));
  ExpectRefusal(Command(), ErrorCode::kNotFound, config_file().string());
  testing::ProcessOptions command;
  command.arguments = {FIELDCOST_AGGREGATOR};
  ExpectRefusal(command, ErrorCode::kInvalidArgument, "--config");
  command.arguments = {FIELDCOST_AGGREGATOR, "--confg", "x"};
  ExpectRefusal(command, ErrorCode::kInvalidArgument, "'--confg'");
}

TEST_F(ServiceTest, AnotherServersPortAndDataDirectoryAreRefused) {
  ASSERT_NO_FATAL_FAILURE(Start());
  ExpectRefusal(Command(), ErrorCode::kAlreadyExists, "in use by another fieldcost-aggregator");
  ExpectRefusal(Command({"verify"}), ErrorCode::kAlreadyExists, "configure [admin]");
  const std::string port = url_.substr(url_.rfind(':') + 1);
  WriteConfig(Config("port = " + port, "other_data"));
  ExpectRefusal(Command(), ErrorCode::kAlreadyExists, port);
  Stop();
}

TEST_F(ServiceTest, AnUnreadableDataDirectoryIsRefusedByName) {
  std::filesystem::create_directory(dir_.path() / "data");
  testing::ProcessOptions command = Command();
  if (::geteuid() == 0) {  // root can read every file, the user nobody cannot
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      ASSERT_EQ(::chmod(entry.path().c_str(), 0644), 0);
    }
    ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
    // User nobody must be able to execute the program, so copy it out of the build tree.
    const std::filesystem::path program = dir_.path() / "program";
    std::filesystem::copy_file(FIELDCOST_AGGREGATOR, program);
    command.arguments[0] = program.string();
    command.arguments.insert(command.arguments.begin(),
                             {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  }
  ASSERT_EQ(::chmod((dir_.path() / "data").c_str(), 0), 0);
  ExpectRefusal(command, ErrorCode::kPermissionDenied, (dir_.path() / "data").string());
}

TEST_F(ServiceTest, ALostPseudonymSecretIsNoticed) {
  ASSERT_NO_FATAL_FAILURE(Start());
  Stop();
  ASSERT_TRUE(std::filesystem::remove(dir_.path() / "data" / "keys" / "pseudonym.secret"));
  for (int tries = 0; tries < 2; ++tries) {
    ExpectRefusal(Command(), ErrorCode::kCorrupt, "pseudonym.secret is missing, but ");
    EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data" / "keys" / "pseudonym.secret"));
  }
}

TEST_F(ServiceTest, VerifyOfAnAbsentStoreFailsAndMakesNone) {
  ExpectRefusal(Command({"verify"}), ErrorCode::kNotFound, "there is no store in");
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data"));
}

TEST_F(ServiceTest, HelpVersionAndCheckConfigAnswerAndEnd) {
  testing::ProcessOptions command;
  command.arguments = {FIELDCOST_AGGREGATOR, "--help"};
  EXPECT_THAT(testing::RunProcess(command).output, HasSubstr("Usage: fieldcost-aggregator "));
  command.arguments = {FIELDCOST_AGGREGATOR, "--version"};
  EXPECT_THAT(testing::RunProcess(command).output, StartsWith("fieldcost-aggregator "));
  const testing::ProcessResult checked = testing::RunProcess(Command({"--check-config"}));
  EXPECT_EQ(checked.exit_status, 0);
  EXPECT_THAT(checked.output, EndsWith(": OK\n"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data"));
}

}  // namespace
}  // namespace fieldcost::aggregator
