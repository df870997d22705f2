// Sends the batches of a synthetic fleet through Ingest into a store: Fill() of demo.h.
#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aggregator/demo/demo.h"
#include "aggregator/ingest/ingest.h"
#include "common/base/mutex.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::demo {
namespace {

constexpr unsigned kFillThreads = 8;  // threads share disk syncs

// A clock that changes only when set.
class WeekClock : public Clock {
 public:
  WallTime Now() const override {
    // Near the middle of the week.
    return WallTime(std::chrono::days(7 * std::int64_t{week_} + 3));
  }
  void Set(std::uint32_t week) { week_ = week; }

 private:
  std::atomic<std::uint32_t> week_{0};
};

constexpr char kHost[] = "demo.invalid";
constexpr char kRoot[] = "none";

http::Request SignedRequest(const crypto::PrivateKey& key, wire::Epoch epoch,
                            wire::Sequence sequence, std::string body) {
  const std::string service = wire::ServiceId(kHost, kRoot);
  const std::string signature = key.Sign(wire::BatchSigningInput(
      service, key.public_key().view(), epoch, sequence, crypto::Sha256(body)));
  http::Request request;
  request.method = "POST";
  request.target = wire::kBatchesPath;
  request.headers = {{"Content-Type", wire::kBatchContentType},
                     {wire::kServiceHeader, service},
                     {wire::kAgentHeader, key.public_key().Hex()},
                     {wire::kEpochHeader, std::to_string(epoch.value())},
                     {wire::kSequenceHeader, std::to_string(sequence.value())},
                     {wire::kSignatureHeader, HexEncode(signature)}};
  request.body = std::move(body);
  return request;
}

// As in Service's start: the secret has to be the one bound to the store.
template <typename Secret>
Result<Secret> OpenSecret(store::Store& store, const std::filesystem::path& keys_dir,
                          const char* name) {
  FIELDCOST_ASSIGN(auto secret, Secret::LoadOrCreate(keys_dir / name));
  FIELDCOST_TRY(store.Bind(name, secret.Fingerprint()));
  return secret;
}

class Filler {
 public:
  Filler(const Fleet& fleet, ingest::Ingest& ingest, WeekClock& clock)
      : fleet_(fleet), ingest_(ingest), clock_(clock), contributed_(fleet.options().agents) {}

  Result<Filled> Run() {
    const FleetOptions& options = fleet_.options();
    for (std::uint32_t week = options.first_week(); week <= options.last_week; ++week) {
      clock_.Set(week);
      if (week % store::kWeeksPerEpoch == 0) {
        for (Contributed& one : contributed_) one.clear();
      }
      std::atomic<std::uint32_t> next_agent{0};
      std::vector<std::thread> threads;
      for (unsigned i = 0; i < kFillThreads; ++i) {
        threads.emplace_back([&] {
          for (std::uint32_t agent; (agent = next_agent++) < options.agents;) {
            if (!Send(agent, week)) return;
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      const MutexLock lock(mutex_);
      if (error_) return *error_;
    }
    return Filled{.batches = batches_, .rows = rows_};
  }

 private:
  // False if any thread has failed.
  bool Send(std::uint32_t agent, std::uint32_t week) {
    Status status = TrySend(agent, week);
    const MutexLock lock(mutex_);
    if (!status && !error_) error_ = status.error();
    return !error_;
  }

  Status TrySend(std::uint32_t agent, std::uint32_t week) {
    wire::BatchContent content = fleet_.BatchOf(agent, week);
    for (wire::BatchRow& row : content.rows) {
      row.first_contribution = contributed_[agent].emplace(row.api, row.metric).second;
    }
    FIELDCOST_ASSIGN(std::string body, wire::EncodeBatch(content));
    const wire::Epoch epoch(week / store::kWeeksPerEpoch);
    // The number follows from the week; gaps are allowed.
    const wire::Sequence sequence(week % store::kWeeksPerEpoch + 1);
    const http::Response response = ingest_.Handle(
        SignedRequest(fleet_.SigningKeyOf(agent, epoch), epoch, sequence, std::move(body)));
    if (response.status != 200) {
      return Fail(ErrorCode::kInternal, "a synthetic batch was answered {}: {}", response.status,
                  EscapeControl(response.body));
    }
    FIELDCOST_ASSIGN(const wire::BatchAnswer answer, wire::DecodeAnswer(response.body));
    if (answer.rejected_rows != 0 || answer.accepted_rows != content.rows.size()) {
      return Fail(ErrorCode::kInternal, "{} rows of a synthetic batch were refused: {}",
                  answer.rejected_rows,
                  answer.rejects.empty() ? "" : EscapeControl(answer.rejects[0].reason));
    }
    ++batches_;
    rows_ += answer.accepted_rows;
    return {};
  }

  using Contributed = std::set<std::pair<stats::ApiKey, stats::Metric>>;

  const Fleet& fleet_;
  ingest::Ingest& ingest_;
  WeekClock& clock_;
  std::vector<Contributed>
      contributed_;  // of each agent in this quarter; used by one thread at a time
  std::atomic<std::uint64_t> batches_{0};
  std::atomic<std::uint64_t> rows_{0};
  Mutex mutex_;
  std::optional<Error> error_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace

Result<Filled> Fill(const Fleet& fleet, store::Store& store,
                    const std::filesystem::path& keys_dir) {
  FIELDCOST_TRY(store.PutNumber(publish::kSyntheticNumber, 1));
  FIELDCOST_ASSIGN(auto pseudonyms,
                   OpenSecret<ingest::Pseudonyms>(store, keys_dir, ingest::kPseudonymSecret));
  FIELDCOST_ASSIGN(auto receipts,
                   OpenSecret<ingest::Receipts>(store, keys_dir, ingest::kReceiptSecret));
  FIELDCOST_ASSIGN(auto admission,
                   ingest::Admission::Load(ingest::EnrolmentMode::kOpen, {}, store));
  WeekClock clock;
  ingest::Ingest ingest(store, clock, std::move(pseudonyms), std::move(receipts),
                        std::move(admission), {.names = {kHost}, .roots = {kRoot}});
  return Filler(fleet, ingest, clock).Run();
}

}  // namespace fieldcost::demo
