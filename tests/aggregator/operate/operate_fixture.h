#pragma once

#include <gtest/gtest.h>

#include "common/base/file.h"
#include "common/catalog/catalog_sync.h"
#include "tests/aggregator/service/service_fixture.h"

namespace fieldcost::aggregator {

// Base class for a service with an admin listener and 20 weeks of retention, and for its operator's
// commands.
class OperateTest : public ServiceTest {
 protected:
  OperateTest() {
    WriteConfig(WithAdmin());
    EXPECT_TRUE(WriteFileAtomically(dir_.path() / "admin.token", "a-token\n", 0600).has_value());
  }

  std::string WithAdmin(const std::string& data_dir = "data") const {
    std::string config = Config("port = 0", data_dir,
                                "[admin]\nport = 0\naddress_file = \"admin_address\"\n"
                                "token_files = [\"admin.token\"]\n");
    const std::string store = "[store]\n";
    return config.insert(config.find(store) + store.size(), "retention_weeks = 20\n");
  }
  std::filesystem::path data() const { return dir_.path() / "data"; }
  std::filesystem::path backups() const { return dir_.path() / "backups"; }

  testing::ProcessResult Run(const std::vector<std::string>& words) {
    return testing::RunProcess(Command(words));
  }
  // Runs a command that must succeed; returns its standard output.
  std::string MustRun(const std::vector<std::string>& words) {
    const testing::ProcessResult result = Run(words);
    EXPECT_EQ(result.exit_status, 0) << words[0] << ": " << result.errors;
    return result.output;
  }
  void Send(std::uint64_t sequence, unsigned rows = 5) {
    const http::Response answer = MustSend(ingest::SignedRequest(
        key_, sequence, ingest::TestContent(rows, WeekOf(SystemClock().Now()))));
    ASSERT_EQ(answer.status, 200) << answer.body;
  }
  Result<catalog::SyncReport> Sync() {
    return catalog::Sync({.catalog_file = dir_.path() / "catalog.db",
                          .root_file = dir_.path() / "pinned",
                          .server = {.url = url_, .ca_file = certificates_.ca},
                          .full = true},
                         SystemClock());
  }
  // Sends a GET request to the admin listener.
  http::Response Ask(const char* target) {
    auto url = ReadFile(dir_.path() / "admin_address", 1024);
    EXPECT_TRUE(url.has_value());
    url->pop_back();
    auto client = http::Client::Create({.url = *url});
    return client->Send({.target = target}).value();
  }
  void PinRoot() { std::filesystem::copy_file(data() / "publish/root/1", dir_.path() / "pinned"); }
};

}  // namespace fieldcost::aggregator
