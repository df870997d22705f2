// The published files on Debian's nginx, with the shipped configuration: clients sync from it, and
// the service's own server is not needed for that.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <regex>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/http/client.h"
#include "common/wire/metadata.h"
#include "tests/e2e/house.h"
#include "tests/support/binary_dir.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Installed, or unpacked by tests/run.sh; empty if neither.
std::string NginxProgram() {
  for (const char* const place :
       {"/usr/sbin/nginx", FIELDCOST_BINARY_DIR "/../packages/nginx/usr/sbin/nginx"}) {
    if (::access(place, X_OK) == 0) return place;
  }
  return {};
}

class NginxTreeTest : public HouseTest {
 protected:
  void SetUp() override {
    if (NginxProgram().empty()) {
      GTEST_SKIP() << "nginx is not here (Debian's package starts a server on port 80, so it is "
                      "never installed for a test; tests/run.sh unpacks it)";
    }
    std::filesystem::create_directories(web());
  }

  std::filesystem::path web() const { return home().parent_path() / "web"; }
  std::filesystem::path tree() const { return home().parent_path() / "tree"; }

  ProcessResult Aggregator(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), kAggregator);
    return RunProcess({.arguments = std::move(arguments)});
  }
  void MustWriteTree() const {
    const ProcessResult written =
        Aggregator({"publish", "--config", aggregator_config().string(), "--to", tree().string()});
    ASSERT_EQ(written.exit_status, 0) << written.errors;
    EXPECT_THAT(written.output, HasSubstr("wrote the tree: version="));
  }
  // Checks what nginx serves.
  ProcessResult VerifyTree() const {
    return Aggregator({"verify-tree", url_, "--ca-file", certificates().ca.string(), "--root",
                       (home() / "catalog_root").string()});
  }

  // Serves the tree with the shipped configuration, but for its names, paths and the port.
  // `missing`: the status for files that do not exist.
  void StartNginx(const std::string& missing = "404") {
    // nginx cannot choose a free port itself, and another process may take the chosen one.
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const std::string port = FreePort();
      WriteNginxConfig(port, missing);
      nginx_ = std::make_unique<BackgroundProcess>(ProcessOptions{
          .arguments = {NginxProgram(), "-p", web().string(), "-c", "nginx.conf", "-e", "stderr"},
          .directory = web()});
      if (!nginx_->WaitForLine("getrlimit")) continue;
      url_ = "https://localhost:" + port;
      WriteAgentConfig(url_);
      return;
    }
    FAIL() << nginx_->Wait().output;
  }
  void StopNginx() {
    nginx_->Signal(SIGQUIT);
    EXPECT_EQ(nginx_->Wait().exit_status, 0);
    nginx_.reset();
  }

  http::Response Get(const std::string& path, http::Headers headers = {}) const {
    auto client = http::Client::Create({.url = url_, .ca_file = certificates().ca});
    EXPECT_TRUE(client.has_value());
    auto response = client->Send({.target = path, .headers = std::move(headers)});
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response ? std::move(*response) : http::Response();
  }

  std::string url_;

 private:
  static std::string FreePort() {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket.get(), any, size), 0);
    EXPECT_EQ(::getsockname(socket.get(), any, &size), 0);
    return std::to_string(ntohs(address.sin_port));
  }

  void WriteNginxConfig(const std::string& port, const std::string& missing) const {
    std::string shipped = ReadFile(FIELDCOST_NGINX_TREE, kMiB).value();
    const auto replace = [&](const std::string& from, const std::string& to) {
      EXPECT_NE(shipped.find(from), std::string::npos) << from;
      shipped = std::regex_replace(shipped, std::regex(from), to);
    };
    replace("listen 443 ssl", "listen 127.0.0.1:" + port + " ssl");
    replace("/etc/letsencrypt/live/tree.example.org/fullchain.pem",
            certificates().certificate.string());
    replace("/etc/letsencrypt/live/tree.example.org/privkey.pem", certificates().key.string());
    replace("/srv/tree;", tree().string() + ';');
    replace("uri =404", "uri =" + missing);
    std::ofstream(web() / "nginx.conf")
        << "daemon off; master_process off; pid nginx.pid; error_log stderr notice;\n"
           "events {}\nhttp {\nclient_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t;\n"
           "uwsgi_temp_path t; scgi_temp_path t;\n"
        << shipped << "}\n";
  }

  std::unique_ptr<BackgroundProcess> nginx_;
};

TEST_F(NginxTreeTest, ClientsSyncFromNginxAlone) {
  StartAggregator();
  ASSERT_EQ(Fieldcost({"agent", "on"}).exit_status, 0);
  ASSERT_EQ(RunVictim("alloc").exit_status, 0);
  ASSERT_EQ(Upload().exit_status, 0);
  Publish();
  MustWriteTree();  // while the service runs
  StopAggregator();
  StartNginx();
  SyncAll();
  EXPECT_EQ(VerifyTree().exit_status, 0) << VerifyTree().output;

  // The next publication has new keys; the tree is replaced while nginx serves it.
  ASSERT_EQ(Aggregator({"keys", "rotate", "--config", aggregator_config().string(), "timestamp"})
                .exit_status,
            0);
  ASSERT_EQ(Aggregator({"publish", "--config", aggregator_config().string()}).exit_status, 0);
  MustWriteTree();
  const ProcessResult synced = Fieldcost({"sync", "--full", "--json"});
  EXPECT_EQ(synced.exit_status, 0) << synced.errors;
  EXPECT_EQ(VerifyTree().exit_status, 0) << VerifyTree().output;
  StopNginx();
}

TEST_F(NginxTreeTest, SendsTheHeadersThatClientsAndCachesNeed) {
  StartAggregator();
  StopAggregator();
  MustWriteTree();
  StartNginx();
  const auto root = wire::VerifyPinnedRoot(Get(wire::kRootPath).body);
  ASSERT_TRUE(root.has_value());
  const http::Response timestamp = Get(wire::kTimestampPath);
  EXPECT_EQ(http::Find(timestamp.headers, "Cache-Control"), "public, max-age=60");
  const std::string path =
      wire::SnapshotPath(wire::VerifyTimestamp(timestamp.body, *root).value().snapshot_sha256);
  const http::Response whole = Get(path, {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(http::Find(whole.headers, "Cache-Control"), "public, max-age=31536000, immutable");
  EXPECT_EQ(http::Find(whole.headers, "Access-Control-Allow-Origin"), "*");
  EXPECT_EQ(http::Find(whole.headers, "Content-Encoding"), "");
  EXPECT_EQ(http::Find(whole.headers, "Content-Type"), "application/octet-stream");
  EXPECT_EQ(http::Find(Get(wire::RootVersionPath(1)).headers, "Cache-Control"),
            "public, max-age=31536000, immutable");

  const std::string etag(http::Find(whole.headers, "ETag"));
  const http::Response unchanged = Get(path, {{"If-None-Match", etag}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_THAT(unchanged.body, IsEmpty());
  const http::Response rest = Get(path, {{"Range", "bytes=10-"}, {"If-Range", etag}});
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(rest.body, whole.body.substr(10));

  for (const std::string& missing :
       {wire::RootVersionPath(2), std::string(wire::kPolicyPath), std::string("/deletions"),
        std::string("/v1/"), std::string("/"), wire::FragmentPath(std::string(32, 'x'))}) {
    const http::Response response = Get(missing);
    EXPECT_EQ(response.status, 404) << missing;
    EXPECT_EQ(http::Find(response.headers, "Cache-Control"), "") << missing;
  }
  StopNginx();
}

// As object stores do for callers that may not list their content.
TEST_F(NginxTreeTest, AMissingFileMayAlsoBeForbidden) {
  StartAggregator();
  StopAggregator();
  MustWriteTree();
  StartNginx("403");
  EXPECT_EQ(Get(wire::RootVersionPath(2)).status, 403);
  SyncAll();
  EXPECT_EQ(VerifyTree().exit_status, 0) << VerifyTree().output;
  std::filesystem::remove_all(tree() / "v1/snapshot");
  const ProcessResult damaged = VerifyTree();
  EXPECT_EQ(damaged.exit_status, 1);
  EXPECT_THAT(damaged.output, HasSubstr(": it is missing\n"));
  StopNginx();
}

}  // namespace
}  // namespace fieldcost::testing
