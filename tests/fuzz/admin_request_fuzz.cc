// Requests to the aggregator's admin port. Without a token they must have no effect; with one,
// operations must receive parameters of the documented form.

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "aggregator/admin/admin.h"
#include "common/base/check.h"
#include "common/base/file.h"
#include "tests/fuzz/request_text.h"
#include "tests/support/temp_dir.h"

namespace {

using namespace fieldcost;

constexpr char kToken[] = "open-sesame";

class Port {
 public:
  Port() {
    const testing::TempDir dir;
    FIELDCOST_CHECK(WriteFileAtomically(dir.path() / "token", kToken, 0600).has_value());
    auto tokens = ingest::TokenSet::Load({dir.path() / "token"});
    FIELDCOST_CHECK(tokens.has_value());
    admin_.SetTokens(std::move(*tokens));
  }

  void Handle(const http::Request& untrusted_request) {
    done_ = false;
    auto answer = std::make_shared<std::promise<http::Response>>();
    admin_.Handle(untrusted_request,
                  [answer](http::Response response) { answer->set_value(std::move(response)); });
    const http::Response response = answer->get_future().get();
    static const std::set<int> known = {200, 400, 401, 403, 404, 405, 409, 413, 415, 503};
    FIELDCOST_CHECK(known.contains(response.status));
    const std::string_view token = http::Find(untrusted_request.headers, "Authorization");
    FIELDCOST_CHECK(!done_ || token.find(kToken) != std::string_view::npos);
    FIELDCOST_CHECK(response.status != 401 || !done_);
  }

 private:
  admin::Operations MakeOperations() {
    return {
        .health = {.why_not_ready = [] { return std::string(); },
                   .metrics = [] { return std::string("a_metric 1\n"); }},
        .publish = [this]() -> Result<publish::PublishReport> {
          done_ = true;
          return publish::PublishReport{.version = 7};
        },
        .checkpoint = [this]() -> Result<std::uint64_t> {
          done_ = true;
          return 11;
        },
        .compact = [this]() -> Status {
          done_ = true;
          return {};
        },
        .backup = [this](const std::filesystem::path& directory, bool) -> Result<std::uint64_t> {
          done_ = true;
          FIELDCOST_CHECK(directory.is_absolute());
          return 12;
        },
        .expire = [this](std::uint32_t, bool) -> Result<store::ExpiryEffect> {
          done_ = true;
          return store::ExpiryEffect{};
        },
        .verify = [this]() -> Result<admin::VerifyAnswer> {
          done_ = true;
          return admin::VerifyAnswer{};
        },
        .revoke = [this](const ingest::RevocationRequest&) -> Result<ingest::RevocationReport> {
          done_ = true;
          return ingest::RevocationReport{};
        },
        .reload = [this]() -> Status {
          done_ = true;
          return {};
        },
    };
  }

  bool done_ = false;
  admin::Admin admin_{MakeOperations()};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Never destroyed, because its threads would have to end first.
  static Port& port = *new Port;
  port.Handle(fuzz::RequestOf({reinterpret_cast<const char*>(data), size}));
  return 0;
}
