#include "aggregator/probe_server/probe_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "common/base/file.h"
#include "common/http/client.h"
#include "common/http/http_server.h"
#include "common/serve/health.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe_server {
namespace {

using ::testing::HasSubstr;

TEST(ProbeServiceTest, TheAdministrationListenerFindsACompleteServer) {
  const testing::TempDir dir;
  const Config config{.address_file = dir.path() / "address",
                      .admin = http::ServerOptions(),
                      .admin_address_file = dir.path() / "admin_address",
                      .data_dir = dir.path() / "data",
                      .min_free_bytes = 0};
  Service service(config, SystemClock());
  const Status started = service.Start();
  ASSERT_TRUE(started.has_value()) << started.error().message;
  const auto url = ReadFile(config.admin_address_file, 1000);
  ASSERT_TRUE(url.has_value());
  auto client = http::Client::Create({.url = url->substr(0, url->find('\n'))});
  ASSERT_TRUE(client.has_value()) << client.error().message;
  EXPECT_EQ(client->Send({.target = serve::kReadyzPath})->status, 200);
  const auto metrics = client->Send({.target = serve::kMetricsPath});
  ASSERT_TRUE(metrics.has_value()) << metrics.error().message;
  EXPECT_THAT(metrics->body, HasSubstr("fieldcost_probe_open_connections 0"));
}

// The listener's thread reads the other parts without a lock, so all must exist before it starts.
// The thread sanitizer cannot show this, since it regards all sockets as synchronised.
TEST(ProbeServiceTest, TheAdministrationListenerDoesNotStartBeforeTheServer) {
  const testing::TempDir dir;
  const auto port = http::CheckListen("127.0.0.1", 0);
  ASSERT_TRUE(port.has_value()) << port.error().message;
  // Only one of the two listeners can have the port: the first.
  const Config config{.server = {.port = *port},
                      .address_file = dir.path() / "address",
                      .admin = http::ServerOptions{.port = *port},
                      .admin_address_file = dir.path() / "admin_address",
                      .data_dir = dir.path() / "data",
                      .min_free_bytes = 0};
  Service service(config, SystemClock());
  const Status started = service.Start();
  ASSERT_FALSE(started.has_value());
  EXPECT_EQ(started.error().code, ErrorCode::kAlreadyExists) << started.error().message;
  EXPECT_FALSE(std::filesystem::exists(config.admin_address_file));
}

}  // namespace
}  // namespace fieldcost::probe_server
