// Syncs over several connections.
#include "common/catalog/parallel_download.h"

#include <algorithm>
#include <map>

#include "common/base/check.h"
#include "tests/common/catalog/mirror_server.h"
#include "tests/common/catalog/sync_fixture.h"

namespace fieldcost::catalog {
namespace {

using testing::MakeRows;
using testing::MirrorServer;

// Serves a publisher's files, but responds to fragment requests only once `together` of them are
// waiting.
class WaitingServer {
 public:
  WaitingServer(testing::Publisher& publisher, std::size_t together)
      : publisher_(publisher), together_(together) {
    http::ServerOptions options;
    options.certificate_file = publisher.certificates().certificate;
    options.private_key_file = publisher.certificates().key;
    auto server =
        http::Server::Start(options, [this](http::Request request, http::Respond respond) {
          Answer(std::move(request), std::move(respond));
        });
    FIELDCOST_CHECK(server.has_value());
    server_ = std::move(*server);
  }

  std::string Url() const { return "https://localhost:" + std::to_string(server_->port()); }
  std::size_t most_waiting() {
    const std::lock_guard lock(mutex_);
    return most_;
  }

 private:
  void Answer(http::Request request, http::Respond respond) {
    std::vector<std::pair<std::string, http::Respond>> ready;
    {
      const std::lock_guard lock(mutex_);
      const bool is_fragment = request.target.starts_with("/v1/fragment/");
      auto& list = is_fragment ? waiting_ : ready;
      list.emplace_back(request.target, std::move(respond));
      most_ = std::max(most_, waiting_.size());
      if (waiting_.size() == together_) ready.swap(waiting_);
    }
    for (auto& [path, answer] : ready) {
      const auto file = publisher_.Find(path);
      answer(file ? http::Response{.status = 200, .body = *file} : http::Response{.status = 404});
    }
  }

  testing::Publisher& publisher_;
  const std::size_t together_;
  std::mutex mutex_;
  std::vector<std::pair<std::string, http::Respond>> waiting_;
  std::size_t most_ = 0;
  std::unique_ptr<http::Server> server_;  // last: its threads use the rest
};

class ParallelSyncTest : public SyncTest {
 protected:
  SyncOptions OptionsFor(const std::string& url) {
    SyncOptions options = publisher_.Client(directory_.path());
    options.server.url = url;
    return options;
  }
};

TEST_F(ParallelSyncTest, FetchesFourFragmentsAtATime) {
  publisher_.Publish(MakeRows(200, 1000), 4, kNow);
  WaitingServer server(publisher_, kSyncConnections);
  std::vector<std::uint32_t> progress;
  SyncOptions options = OptionsFor(server.Url());
  options.progress = [&](std::uint32_t done, std::uint32_t) { progress.push_back(done); };
  const auto report = Sync(options, clock_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->fragments_fetched, 16U);
  EXPECT_EQ(server.most_waiting(), kSyncConnections);
  EXPECT_EQ(progress.size(), 16U);
  EXPECT_TRUE(std::is_sorted(progress.begin(), progress.end()));
  for (unsigned i = 0; i < 200; ++i) EXPECT_EQ(SumOf(i), (i + 1) * 1000) << i;
}

TEST_F(ParallelSyncTest, OneConnectionFetchesOneAtATime) {
  publisher_.Publish(MakeRows(50, 1000), 3, kNow);
  WaitingServer server(publisher_, 1);
  SyncOptions options = OptionsFor(server.Url());
  options.connections = 1;
  ASSERT_TRUE(Sync(options, clock_));
  EXPECT_EQ(server.most_waiting(), 1U);
  EXPECT_EQ(SumOf(49), 50'000U);
}

TEST_F(ParallelSyncTest, IfOneFragmentFailsTheOthersAreKept) {
  publisher_.Publish(MakeRows(200, 1000), 5, kNow);
  for (std::size_t failing = 0; failing < 32; failing += 5) {
    const testing::TempDir directory;
    const std::string path = wire::FragmentPath(publisher_.snapshot.fragments[failing].sha256);
    bool is_broken = true;
    std::mutex mutex;
    MirrorServer server(publisher_, "", [&](const std::string& asked, http::Response& response) {
      const std::lock_guard lock(mutex);
      if (is_broken && asked == path) response = {.status = 500};
    });
    SyncOptions options = publisher_.Client(directory.path());
    options.server.url = server.Address().url;
    const auto failed = Sync(options, clock_);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable) << failed.error().message;
    EXPECT_THAT(failed.error().message, ::testing::HasSubstr(fmt::format("fragment {}", failing)));
    {
      const std::lock_guard lock(mutex);
      is_broken = false;
    }
    const auto stored = Catalog::Open(options.catalog_file)->GetFreshness()->fragments_present;
    EXPECT_LT(stored, 32U);
    const auto rest = Sync(options, clock_);
    ASSERT_TRUE(rest) << rest.error().message;
    EXPECT_EQ(rest->fragments_fetched, 32U - stored);
    EXPECT_TRUE(Catalog::Open(options.catalog_file)->GetFreshness()->is_complete);
  }
}

TEST_F(ParallelSyncTest, AllConnectionsEndOnceItIsStopped) {
  publisher_.Publish(MakeRows(200, 1000), 4, kNow);
  WaitingServer server(publisher_, kSyncConnections + 1);  // never responds
  SyncOptions options = OptionsFor(server.Url());
  options.server.may_go_on = [&]() -> Status {
    if (server.most_waiting() < kSyncConnections) return {};
    return Fail(ErrorCode::kPermissionDenied, "switched off");
  };
  options.server.answer_after_stop = std::chrono::milliseconds(1);
  const auto report = Sync(options, clock_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kPermissionDenied) << report.error().message;
  EXPECT_EQ(Fresh().fragments_present, 0U);
}

}  // namespace
}  // namespace fieldcost::catalog
