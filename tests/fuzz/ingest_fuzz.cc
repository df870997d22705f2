// All of ingest, from the request to a store on disk: batches, withdrawals and enrolments of four
// agents, signed or not, in any order. Every response must be one that README.md lists, a repeated
// request must get the same response, and the store's sums must stay exact.
//
// Input: flags, sequence, days to advance, length of the receipt, the receipt, the body. The body
// is sent as it is or, depending on a flag, compressed first, because a fuzzer rarely finds a valid
// frame. A flag replaces an empty receipt by the last one issued.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "aggregator/ingest/ingest.h"
#include "common/base/check.h"
#include "common/base/log.h"
#include "common/wire/wire_requests.h"
#include "common/wire/zstd_frame.h"
#include "tests/aggregator/ingest/sender.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temp_dir.h"

namespace fieldcost::ingest {
namespace {

constexpr std::uint32_t kFirstWeek = 2921;  // as in the sample batches
constexpr unsigned kRunsOfAStore = 512;
constexpr unsigned kRunsBetweenChecks = 8;
constexpr unsigned kSequences = 80;  // slightly more than the ledger's window

enum Flag : std::uint8_t {
  kAgentMask = 3,
  kWithdraw = 4,
  kEnrol = 8,
  kUnsigned = 16,
  kCompress = 32,
  kLastReceipt = 64,
  kAnotherEpoch = 128,
};

class Service {
 public:
  Service() {
    auto store = store::Store::Open({.data_dir = dir_.path() / "data",
                                     .checkpoint_rows = 1'000'000,
                                     .checkpoint_seconds = 0,
                                     .write_buffer_bytes = 4 * kMiB,
                                     .probation_batches = 2,
                                     .held_bytes = 256 * kKiB});
    FIELDCOST_CHECK(store.has_value());
    store_ = std::move(*store);
    ingest_ = std::make_unique<Ingest>(
        *store_, clock_, *Pseudonyms::LoadOrCreate(dir_.path() / "pseudonyms"),
        *Receipts::LoadOrCreate(dir_.path() / "receipts"), Admission(),
        IngestOptions{.names = {kTestHost},
                      .roots = {kTestRoot},
                      .modules = {"lib*"},
                      .batches_per_agent_per_hour = 200});
  }
  void Verify() {
    const auto report = store_->Verify();
    FIELDCOST_CHECK(report.has_value() && report->ok());
  }
  const std::filesystem::path& directory() const { return dir_.path(); }

  void Handle(std::string_view untrusted_input) {
    const auto take = [&]() -> std::uint8_t {
      if (untrusted_input.empty()) return 0;
      const char byte = untrusted_input.front();
      untrusted_input.remove_prefix(1);
      return static_cast<std::uint8_t>(byte);
    };
    const std::uint8_t flags = take();
    const std::uint64_t sequence = take() % kSequences;
    clock_.Advance(std::chrono::days(take() % 4));
    const std::size_t receipt_bytes = take();
    std::string receipt(untrusted_input.substr(0, receipt_bytes));
    untrusted_input.remove_prefix(receipt.size());
    if (receipt.empty() && (flags & kLastReceipt) != 0) receipt = last_receipt_;

    const auto epoch = EpochOfWeek(WeekOf(clock_.Now()));
    SetTestEpoch((flags & kAnotherEpoch) != 0 ? wire::Epoch(epoch.value() - sequence % 4) : epoch);
    const http::Request request = MakeRequest(flags, sequence, receipt, untrusted_input);
    const http::Response response = ingest_->Handle(request);
    static const std::set<int> known = {200, 400, 401, 403, 404, 405, 409,
                                        410, 413, 415, 421, 429, 503, 507};
    FIELDCOST_CHECK(known.contains(response.status));
    FIELDCOST_CHECK(store_->healthy());
    if (response.status != 200) return;
    const http::Response again = ingest_->Handle(request);
    FIELDCOST_CHECK(again.status == 429 || again.body == response.body);
    const auto answer = wire::DecodeAnswer(response.body);
    if (answer && !answer->receipt.empty()) last_receipt_ = answer->receipt;
  }

 private:
  static http::Request MakeRequest(std::uint8_t flags, std::uint64_t sequence,
                                   const std::string& receipt, std::string_view untrusted_body) {
    const auto key = crypto::PrivateKey::FromSeed(
        std::string(32, static_cast<char>('a' + (flags & kAgentMask))));
    std::string body(untrusted_body);
    if ((flags & kCompress) != 0) {
      if (auto frame = wire::Compress(body, 1)) body = std::move(*frame);
    }
    http::Request request;
    if ((flags & kEnrol) != 0) {
      request = EnrolmentRequest(key, receipt);
    } else if ((flags & kWithdraw) != 0) {
      request = WithdrawalRequest(key, sequence, body, receipt);
    } else {
      request = SignedRequest(key, sequence, body);
    }
    if ((flags & kUnsigned) != 0) {
      // Replaces any header with arbitrary bytes: nothing that the signature covers may be used
      // before it is verified.
      auto& header = request.headers[sequence % request.headers.size()];
      header.second = std::string(untrusted_body.substr(0, 300));
    }
    return request;
  }

  const testing::TempDir dir_;
  testing::FakeClock clock_{WallTime(std::chrono::days(7 * kFirstWeek + 3))};
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Ingest> ingest_;
  std::string last_receipt_;
};

}  // namespace
}  // namespace fieldcost::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace fieldcost;
  SetLogLevel(LogLevel::kError);
  // Never destroyed at exit, because the engine's thread-local state is already gone then.
  static ingest::Service* service = nullptr;
  static unsigned runs = 0;
  if (runs % ingest::kRunsOfAStore == 0) {
    if (service == nullptr) {
      std::atexit([] {
        std::error_code ignored;
        std::filesystem::remove_all(service->directory(), ignored);
      });
    }
    delete service;
    service = new ingest::Service();
  }
  service->Handle(std::string_view(reinterpret_cast<const char*>(data), size));
  if (++runs % ingest::kRunsBetweenChecks == 0) service->Verify();
  return 0;
}
