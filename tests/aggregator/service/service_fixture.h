#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <memory>

#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/units.h"
#include "common/crypto/sha256.h"
#include "common/http/client.h"
#include "common/wire/fragment.h"
#include "common/wire/metadata.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/certificates.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::aggregator {

// Runs the aggregator as a process, with real TLS, signals and files.
class ServiceTest : public ::testing::Test {
 protected:
  ServiceTest() : certificates_(testing::MakeCertificates(dir_.path())) { WriteConfig(Config()); }

  std::filesystem::path config_file() const { return dir_.path() / "aggregator.toml"; }
  std::filesystem::path address_file() const { return dir_.path() / "address"; }

  std::string Config(const std::string& server = "port = 0", const std::string& data_dir = "data",
                     const std::string& more = "") const {
    return "[server]\ncertificate = \"" + certificates_.certificate.string() +
           "\"\nprivate_key = \"" + certificates_.key.string() + "\"\naddress_file = \"" +
           address_file().string() + "\"\n" + server + "\n[store]\ndata_dir = \"" + data_dir +
           "\"\n[ingest]\nprobation_batches = 0\n[publish]\ninterval_seconds = "
           "0\ncontribution_threshold = 1\n" +
           more;
  }

  // Returns the data directory named in the configuration.
  std::filesystem::path DataDir() const {
    const std::string text = ReadFile(config_file(), kMiB).value();
    const std::string key = "data_dir = \"";
    const std::size_t begin = text.find(key) + key.size();
    return dir_.path() / text.substr(begin, text.find('"', begin) - begin);
  }

  void WriteConfig(const std::string& text) const { std::ofstream(config_file()) << text; }

  testing::ProcessOptions Command(std::vector<std::string> more = {}) const {
    testing::ProcessOptions options;
    options.arguments = {FIELDCOST_AGGREGATOR, "--config", config_file().string()};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    return options;
  }

  void Start() { Start(Command()); }
  // If not null, `warning` holds text that must be logged before the server listens; it is then set
  // to that line.
  void Start(const testing::ProcessOptions& command, std::string* warning = nullptr) {
    server_ = std::make_unique<testing::BackgroundProcess>(command);
    std::string line;
    if (warning != nullptr) {
      ASSERT_TRUE(server_->WaitForLine(*warning, warning)) << server_->Wait().output;
    }
    ASSERT_TRUE(server_->WaitForLine("listening on ", &line)) << server_->Wait().output;
    url_ = line.substr(line.find("https://"));
    url_ = url_.substr(0, url_.find('"'));  // the line may be JSON
    ingest::SetTestRootOf(DataDir());
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

  // Returns the published snapshot.
  wire::SnapshotMetadata DownloadSnapshot() {
    const auto root = wire::VerifyPinnedRoot(MustGet(wire::kRootPath).body);
    EXPECT_TRUE(root.has_value());
    const auto timestamp = wire::VerifyTimestamp(MustGet(wire::kTimestampPath).body, *root);
    EXPECT_TRUE(timestamp.has_value());
    const auto snapshot =
        wire::VerifySnapshot(MustGet(wire::SnapshotPath(timestamp->snapshot_sha256)).body, *root);
    EXPECT_TRUE(snapshot.has_value());
    return *snapshot;
  }

  // Returns all rows of the published snapshot.
  std::vector<stats::StatRow> Download() {
    std::vector<stats::StatRow> rows;
    for (const wire::FragmentReference& reference : DownloadSnapshot().fragments) {
      const std::string bytes = MustGet(wire::FragmentPath(reference.sha256)).body;
      EXPECT_EQ(crypto::Sha256(bytes), reference.sha256);
      const auto fragment = wire::DecodeFragment(bytes);
      EXPECT_TRUE(fragment.has_value());
      rows.insert(rows.end(), fragment->begin(), fragment->end());
    }
    return rows;
  }

  // Expects that starting fails with a one-line reason.
  void ExpectRefusal(const testing::ProcessOptions& command, ErrorCode code,
                     const std::string& message) {
    const testing::ProcessResult result = testing::RunProcess(command);
    EXPECT_EQ(result.exit_status, ExitStatus(code)) << result.errors;
    EXPECT_THAT(result.errors, ::testing::HasSubstr(message));
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

}  // namespace fieldcost::aggregator
