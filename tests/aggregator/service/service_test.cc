// The aggregator as a process: real TLS, real signals, real files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <cctype>
#include <fstream>
#include <memory>

#include "aggregator/command_line.h"
#include "aggregator/config.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/http/client.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {
namespace {

using ingest::SignedRequest;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : certificates_(testing::MakeCertificates(dir_.path())) { WriteConfig(Config()); }

  std::filesystem::path config_file() const { return dir_.path() / "aggregator.toml"; }
  std::filesystem::path address_file() const { return dir_.path() / "address"; }

  std::string Config(const std::string& server = "port = 0",
                     const std::string& data_dir = "data") const {
    return "[server]\ncertificate = \"" + certificates_.certificate.string() +
           "\"\nprivate_key = \"" + certificates_.key.string() + "\"\naddress_file = \"" +
           address_file().string() + "\"\n" + server + "\n[store]\ndata_dir = \"" + data_dir +
           "\"\n[publish]\ninterval_seconds = 0\ncontribution_threshold = 1\n";
  }

  void WriteConfig(const std::string& text) const { std::ofstream(config_file()) << text; }

  testing::ProcessOptions Command(std::vector<std::string> more = {}) const {
    testing::ProcessOptions options;
    options.arguments = {FIELDCOST_AGGREGATOR, "--config", config_file().string()};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return options;
  }

  void Start() {
    server_ = std::make_unique<testing::BackgroundProcess>(Command());
    std::string line;
    ASSERT_TRUE(server_->WaitForLine("listening on ", &line)) << server_->Wait().output;
    url_ = line.substr(line.find("https://"));
    client_ = std::make_unique<http::Client>(
        std::move(*http::Client::Create({.url = url_, .ca_file = certificates_.ca})));
  }

  void Stop() {
    client_.reset();
    server_->Signal(SIGTERM);
    const testing::ProcessResult result = server_->Wait();
    EXPECT_EQ(result.exit_status, 0) << result.output;
    server_.reset();
  }

  http::Response MustSend(const http::Request& request) {
    auto response = client_->Send(request);
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? std::move(*response) : http::Response();
  }
  http::Response MustGet(const std::string& target) { return MustSend({.target = target}); }

  // Follows the published metadata to all rows.
  std::vector<stats::StatRow> Download() {
    const auto root = wire::VerifyPinnedRoot(MustGet(wire::kRootPath).body);
    EXPECT_TRUE(root.has_value());
    const auto timestamp = wire::VerifyTimestamp(MustGet(wire::kTimestampPath).body, *root);
    EXPECT_TRUE(timestamp.has_value());
    const auto snapshot =
        wire::VerifySnapshot(MustGet(wire::SnapshotPath(timestamp->snapshot_sha256)).body, *root);
    EXPECT_TRUE(snapshot.has_value());
    std::vector<stats::StatRow> rows;
    for (const wire::FragmentReference& reference : snapshot->fragments) {
      const std::string bytes = MustGet(wire::FragmentPath(reference.sha256)).body;
      EXPECT_EQ(crypto::Sha256(bytes), reference.sha256);
      const auto fragment = wire::DecodeFragment(bytes);
      EXPECT_TRUE(fragment.has_value());
      rows.insert(rows.end(), fragment->begin(), fragment->end());
    }
    return rows;
  }

  // A start that fails, with one line that says why.
  void ExpectRefusal(const testing::ProcessOptions& command, ErrorCode code,
                     const std::string& message) {
    const testing::ProcessResult result = testing::RunProcess(command);
    EXPECT_EQ(result.exit_status, ExitStatus(code)) << result.errors;
    EXPECT_THAT(result.errors, HasSubstr(message));
    const std::size_t last = result.errors.find("fieldcost-aggregator: ");
    ASSERT_NE(last, std::string::npos) << result.errors;
    EXPECT_EQ(result.errors.find('\n', last), result.errors.size() - 1);
  }

  const testing::TempDir dir_;
  const testing::Certificates certificates_;
  std::unique_ptr<testing::BackgroundProcess> server_;
  std::unique_ptr<http::Client> client_;
  std::string url_;
  const crypto::PrivateKey key_ = crypto::PrivateKey::FromSeed(std::string(32, 'k'));
};

TEST_F(ServiceTest, ASignedBatchComesBackBitForBitInAPublishedFragment) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const auto address = ReadFile(address_file(), 1024);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(*address, url_ + "\n");
  EXPECT_EQ(MustGet("/livez").status, 200);
  EXPECT_EQ(MustGet("/readyz").status, 200);

  const wire::BatchContent content = ingest::TestContent(20, WeekOf(SystemClock().Now()));
  const http::Response answer = MustSend(SignedRequest(key_, 1, content));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(MustSend(SignedRequest(key_, 1, content)).body, answer.body);
  EXPECT_EQ(MustSend(SignedRequest(key_, 2, std::string("garbage"))).status, 400);

  server_->Signal(SIGHUP);  // has no meaning yet, and must not end the server
  server_->Signal(SIGUSR1);
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=1 rows=20 withheld=0 fragments=1"));
  const std::vector<stats::StatRow> rows = Download();
  ASSERT_EQ(rows.size(), content.rows.size());
  for (const wire::BatchRow& sent : content.rows) {
    const stats::StatRow expected{
        {sent.api, sent.metric, {}, 0}, sent.histogram, stats::ScalarsOf(sent.histogram)};
    EXPECT_THAT(rows, ::testing::Contains(expected));
  }
  Stop();
  EXPECT_FALSE(std::filesystem::exists(address_file()));

  const testing::ProcessResult verified = testing::RunProcess(Command({"verify"}));
  EXPECT_EQ(verified.exit_status, 0) << verified.errors;
  EXPECT_THAT(verified.output, StartsWith("store sequence=1 batches=1 rows=20 "));
  EXPECT_THAT(verified.output, HasSubstr("\nok: "));
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
  // There are rows now, so it publishes at the start.
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=1 rows=5"));
  std::string line;
  ASSERT_TRUE(server_->WaitForLine("listening on ", &line));
  client_ = std::make_unique<http::Client>(std::move(*http::Client::Create(
      {.url = line.substr(line.find("https://")), .ca_file = certificates_.ca})));
  const http::Response replay = MustSend(SignedRequest(key_, 1, content));
  EXPECT_EQ(replay.status, 200);
  EXPECT_EQ(replay.body, answer.body);
  server_->Signal(SIGUSR1);
  ASSERT_TRUE(server_->WaitForLine("published snapshot version=2 rows=5"));
  for (const stats::StatRow& row : Download()) EXPECT_EQ(row.scalars.contributions, 1U);
  Stop();
}

TEST_F(ServiceTest, EachBadStartSaysWhatIsWrongInOneLine) {
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
  refused("[server]\n", ErrorCode::kInvalidArgument, "data_dir");
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
  ExpectRefusal(Command({"verify"}), ErrorCode::kAlreadyExists, "in use by another");
  const std::string port = url_.substr(url_.rfind(':') + 1);
  WriteConfig(Config("port = " + port, "other_data"));
  ExpectRefusal(Command(), ErrorCode::kAlreadyExists, port);
  Stop();
}

TEST_F(ServiceTest, AnUnreadableDataDirectoryIsRefusedByName) {
  std::filesystem::create_directory(dir_.path() / "data");
  testing::ProcessOptions command = Command();
  if (::geteuid() == 0) {  // root may read everything: run as nobody, who may read the rest
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path())) {
      ASSERT_EQ(::chmod(entry.path().c_str(), 0644), 0);
    }
    ASSERT_EQ(::chmod(dir_.path().c_str(), 0755), 0);
    // Wherever the build tree is, nobody may run the copy.
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
  ExpectRefusal(Command(), ErrorCode::kCorrupt, "pseudonym.secret");
}

TEST_F(ServiceTest, VerifyOfAnAbsentStoreFailsAndMakesNone) {
  ExpectRefusal(Command({"verify"}), ErrorCode::kNotFound, "there is no store in");
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data"));
}

TEST_F(ServiceTest, HelpVersionAndCheckConfigAnswerAndEnd) {
  testing::ProcessOptions command;
  command.arguments = {FIELDCOST_AGGREGATOR, "--help"};
  EXPECT_EQ(testing::RunProcess(command).output, kHelpText);
  command.arguments = {FIELDCOST_AGGREGATOR, "--version"};
  EXPECT_THAT(testing::RunProcess(command).output, StartsWith("fieldcost-aggregator "));
  const testing::ProcessResult checked = testing::RunProcess(Command({"--check-config"}));
  EXPECT_EQ(checked.exit_status, 0);
  EXPECT_THAT(checked.output, EndsWith(": good\n"));
  EXPECT_FALSE(std::filesystem::exists(dir_.path() / "data"));
}

TEST(ConfigTest, TheDefaultFileIsGoodAndItsCommentedValuesAreTheDefaults) {
  const std::filesystem::path path =
      std::filesystem::path(FIELDCOST_SOURCE_DIR) / "deploy/config/aggregator.toml";
  const auto shipped = LoadConfig(path);
  ASSERT_TRUE(shipped.has_value()) << shipped.error().message;
  // With every commented-out key switched on, nothing changes.
  auto text = ReadFile(path, 64 * kKiB);
  ASSERT_TRUE(text.has_value());
  std::string all;
  for (std::size_t start = 0; start < text->size();) {
    const std::size_t end = text->find('\n', start);
    std::string line = text->substr(start, end - start);
    const bool is_key = line.starts_with("# ") && std::islower(line[2]) != 0 &&
                        line.find(" = ") != std::string::npos &&
                        line.find(' ', 2) == line.find(" = ");
    all += (is_key ? line.substr(2) : line) + "\n";
    start = end + 1;
  }
  const testing::TempDir dir;
  std::ofstream(dir.path() / "all.toml") << all;
  const auto full = LoadConfig(dir.path() / "all.toml");
  ASSERT_TRUE(full.has_value()) << full.error().message;
  EXPECT_EQ(full->server.port, shipped->server.port);
  EXPECT_EQ(full->server.threads, shipped->server.threads);
  EXPECT_EQ(full->store.checkpoint_rows, shipped->store.checkpoint_rows);
  EXPECT_EQ(full->store.checkpoint_bytes, shipped->store.checkpoint_bytes);
  EXPECT_EQ(full->store.checkpoint_seconds, shipped->store.checkpoint_seconds);
  EXPECT_EQ(full->store.write_buffer_bytes, shipped->store.write_buffer_bytes);
  EXPECT_EQ(full->store.block_cache_bytes, shipped->store.block_cache_bytes);
  EXPECT_EQ(full->ingest_threads, shipped->ingest_threads);
  EXPECT_EQ(full->ingest_queue, shipped->ingest_queue);
  EXPECT_EQ(full->publish_interval, shipped->publish_interval);
  EXPECT_EQ(full->publish.contribution_threshold, shipped->publish.contribution_threshold);
  EXPECT_EQ(full->publish.refresh_seconds, shipped->publish.refresh_seconds);
  EXPECT_EQ(full->publish.lifetime, shipped->publish.lifetime);
  EXPECT_EQ(full->address_file, "/run/fieldcost-aggregator/address");
}

}  // namespace
}  // namespace fieldcost::aggregator
