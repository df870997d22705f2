// The operator's listener of both servers, as processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "common/base/file.h"
#include "common/base/units.h"
#include "common/http/client.h"
#include "common/serve/health.h"
#include "tests/support/process.h"
#include "tests/support/promtool.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::testing {
namespace {

using ::testing::HasSubstr;

struct ServerKind {
  const char* program;
  const char* config;  // its file's name
  const char* ready;   // a line of its metrics
};

class ServerHealthTest : public ::testing::TestWithParam<ServerKind> {
 protected:
  ServerHealthTest() {
    const ProcessResult made =
        RunProcess({.arguments = {GetParam().program, "init", "--dir", home().string(), "--host",
                                  "localhost", "--port", "0", "--admin-port", "0"}});
    EXPECT_EQ(made.exit_status, 0) << made.errors;
  }

  std::filesystem::path home() const { return dir_.path() / "home"; }

  http::Response Ask(const char* target) {
    const std::string url = ReadFile(home() / "admin-address", kKiB).value_or("\n");
    auto client = http::Client::Create({.url = url.substr(0, url.size() - 1)});
    EXPECT_TRUE(client.has_value()) << url;
    auto response = client ? client->Send({.target = target}) : http::Response();
    EXPECT_TRUE(response.has_value()) << response.error().message;
    return response.value_or(http::Response());
  }

  const TempDir dir_;
};

TEST_P(ServerHealthTest, ReportsLifeReadinessAndMetrics) {
  BackgroundProcess server(
      {.arguments = {GetParam().program, "--config", (home() / GetParam().config).string()}});
  ASSERT_TRUE(server.WaitForLine("listening on ")) << server.Wait().output;
  EXPECT_EQ(Ask(serve::kLivezPath).body, "ok\n");
  EXPECT_EQ(Ask(serve::kReadyzPath).body, "ok\n");
  EXPECT_EQ(Ask("/healthz").status, 404);
  const std::string metrics = Ask(serve::kMetricsPath).body;
  EXPECT_THAT(metrics, HasSubstr(GetParam().ready));
  EXPECT_THAT(metrics, HasSubstr("\nfieldcost_certificate_expiry_timestamp_seconds "));
  EXPECT_THAT(metrics, HasSubstr("\nprocess_resident_memory_bytes "));
  const std::string promtool = FindPromtool(FIELDCOST_SOURCE_DIR);
  if (promtool.empty()) {
    GTEST_SKIP() << "promtool is missing (tests/run.sh unpacks the package prometheus)";
  }
  EXPECT_EQ(CheckMetrics(promtool, metrics), "");
}

INSTANTIATE_TEST_SUITE_P(
    Servers, ServerHealthTest,
    ::testing::Values(ServerKind{FIELDCOST_AGGREGATOR, "aggregator.toml", "\nfieldcost_ready 1\n"},
                      ServerKind{FIELDCOST_PROBE_SERVER, "probe-server.toml",
                                 "\nfieldcost_probe_ready 1\n"}),
    [](const auto& tested) { return tested.index == 0 ? "Aggregator" : "ProbeServer"; });

}  // namespace
}  // namespace fieldcost::testing
