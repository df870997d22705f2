// All responses of the probe server, to arbitrary requests, with a real database: pages, API and
// batches. In an input, "@SESSION@" stands for the session of a logged-in browser, "@FORM@" for the
// token of its forms, and "@DEVICE@" for a device's token; "Fuzz-Compress: 1" compresses the body,
// because a mutation rarely produces a valid frame. Every response must have a known status, be
// bounded, and contain no scripts.

#include <openssl/crypto.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aggregator/probe_server/accounts/devices.h"
#include "aggregator/probe_server/accounts/password.h"
#include "aggregator/probe_server/accounts/sessions.h"
#include "aggregator/probe_server/accounts/users.h"
#include "aggregator/probe_server/web/site.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/wire/zstd_frame.h"
#include "tests/fuzz/request_text.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::probe_server {
namespace {

constexpr char kHost[] = "probes.example.org";
constexpr unsigned kRunsOfADatabase = 2048;

class Server {
 public:
  Server() {
    const auto file = dir_.path() / kDatabaseName;
    auto data = Data::Open(file, sqlite::Database::Access::kCreate);
    FIELDCOST_CHECK(data.has_value());
    writer_ = std::make_unique<Writer>(std::move(*data));
    auto readers = Readers::Open(file, kSiteReaders);
    FIELDCOST_CHECK(readers.has_value());
    readers_ = std::move(*readers);
    FIELDCOST_CHECK(writer_->Run([&](Data& opened) { return AddAlice(opened.database()); }));
    site_ =
        std::make_unique<Site>(SiteParts{.writer = *writer_,
                                         .readers = *readers_,
                                         .clock = clock_,
                                         .quota = {.steps_of_user = 1'000'000, .days = 90},
                                         .is_disk_full = [] { return false; },
                                         .counters = counters_,
                                         .hosts = [] { return std::vector<std::string>{kHost}; }});
  }
  const std::filesystem::path& directory() const { return dir_.path(); }

  void Handle(std::string_view untrusted_text) {
    http::Request request = fuzz::RequestOf(fuzz::FillIn(
        untrusted_text,
        {{"@SESSION@", session_}, {"@FORM@", FormToken(session_)}, {"@DEVICE@", device_}}));
    if (http::Find(request.headers, "Host").empty()) request.headers.emplace_back("Host", kHost);
    if (!http::Find(request.headers, "Fuzz-Compress").empty()) {
      if (auto frame = wire::Compress(request.body, 1)) request.body = std::move(*frame);
    }
    std::promise<http::Response> answer;
    site_->Handle(std::move(request),
                  [&answer](http::Response response) { answer.set_value(std::move(response)); });
    Check(answer.get_future().get());
  }

 private:
  Status AddAlice(sqlite::Database& database) {
    FIELDCOST_ASSIGN(const std::string hash, HashPassword("correct horse battery"));
    FIELDCOST_ASSIGN(const UserId alice, AddUser(database, "alice", hash, clock_.Now()));
    FIELDCOST_ASSIGN(session_, BeginSession(database, alice, clock_.Now()));
    FIELDCOST_ASSIGN(const NewDevice device, AddDevice(database, alice, "laptop", clock_.Now()));
    device_ = device.token;
    return {};
  }
  static void Check(const http::Response& response) {
    static const std::set<int> known = {200, 303, 400, 401, 403, 404, 405,
                                        409, 413, 415, 422, 429, 503, 507};
    FIELDCOST_CHECK(known.contains(response.status));
    FIELDCOST_CHECK(response.body.size() <= kMaxAnswerBytes);
    const std::string_view type = http::Find(response.headers, "Content-Type");
    if (type.starts_with("text/html")) {
      FIELDCOST_CHECK(response.body.find("<script") == std::string::npos);
    }
    for (const auto& [name, value] : response.headers) {
      FIELDCOST_CHECK(value.find_first_of("\r\n") == std::string::npos);
    }
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::seconds(1'795'400'000))};
  SiteCounters counters_;
  std::unique_ptr<Writer> writer_;
  std::unique_ptr<Readers> readers_;
  std::unique_ptr<Site> site_;
  std::string session_;
  std::string device_;
};

}  // namespace
}  // namespace fieldcost::probe_server

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using fieldcost::probe_server::Server;
  fieldcost::SetLogLevel(fieldcost::LogLevel::kError);
  // Registers OpenSSL's exit handler before the server's destructor, so that it runs after it: a
  // thread that ends after that handler leaks its random generator.
  static const int openssl = OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CRYPTO_STRINGS, nullptr);
  FIELDCOST_CHECK(openssl == 1);
  static std::unique_ptr<Server> server;
  static unsigned runs = 0;
  if (runs++ % fieldcost::probe_server::kRunsOfADatabase == 0) server = std::make_unique<Server>();
  server->Handle({reinterpret_cast<const char*>(data), size});
  return 0;
}
