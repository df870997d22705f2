#include "agent/daemon/uploader.h"

#include <fmt/format.h>

#include <vector>

#include "agent/daemon/upload_policy.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/wire/batch.h"

namespace fieldcost::daemon {
namespace {

constexpr char kBatchTarget[] = "/v1/batches";
constexpr char kAgentKeyName[] = "agent_key";
constexpr std::size_t kMaxAnswerBytes = 256 * kKiB;
constexpr std::size_t kMaxReasonBytes = 300;
constexpr std::uint32_t kMaxSentAtOnce = 1024;

std::string HexOf(std::string_view bytes) {
  return HexEncode(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
}

std::string ReasonOf(const http::Response& untrusted_response) {
  return fmt::format("status {}: {}", untrusted_response.status,
                     EscapeControl(untrusted_response.body.substr(0, kMaxReasonBytes)));
}

}  // namespace

std::filesystem::path AgentKeyFile(const Profile& profile) {
  return profile.state_dir / kAgentKeyName;
}

Result<crypto::PrivateKey> AgentKey(const Profile& profile) {
  return crypto::PrivateKey::LoadOrCreate(AgentKeyFile(profile));
}

http::Request MakeBatchRequest(const crypto::PrivateKey& key, const SpooledBatch& batch) {
  const std::string input =
      wire::BatchSigningInput(key.public_key().view(), wire::Epoch(batch.epoch),
                              wire::Sequence(batch.sequence), crypto::Sha256(batch.body));
  return {.method = "POST",
          .target = kBatchTarget,
          .headers = {{"Content-Type", wire::kBatchContentType},
                      {wire::kAgentHeader, key.public_key().Hex()},
                      {wire::kEpochHeader, fmt::format("{}", batch.epoch)},
                      {wire::kSequenceHeader, fmt::format("{}", batch.sequence)},
                      {wire::kSignatureHeader, HexOf(key.Sign(input))}},
          .body = batch.body,
          .peer_address = {}};
}

Uploader::Uploader(const Profile& profile, const AgentConfig& config, const Clock& clock)
    : profile_(&profile), config_(&config), clock_(&clock) {}

Status Uploader::SendAll(StateDb& database, UploadReport& report) {
  for (std::uint32_t i = 0; i < kMaxSentAtOnce && !report.stopped_by; ++i) {
    FIELDCOST_ASSIGN(const Consent consent, EffectiveConsent(*profile_));
    if (consent.mode != Mode::kOn) break;
    FIELDCOST_ASSIGN(const std::optional<SpooledBatch> batch, database.FirstQueued());
    if (!batch) break;
    if (!key_) {
      FIELDCOST_ASSIGN(crypto::PrivateKey key, AgentKey(*profile_));
      key_.emplace(std::move(key));
    }
    if (!client_) {
      http::ClientOptions options;
      options.url = config_->url;
      options.ca_file = config_->ca_file;
      options.max_response_bytes = kMaxAnswerBytes;
      auto client = http::Client::Create(std::move(options));
      if (!client) {
        report.stopped_by = Within(client.error(), "upload");
        break;
      }
      client_.emplace(std::move(*client));
    }
    FIELDCOST_TRY(SendOne(database, *batch, report));
  }
  return {};
}

Status Uploader::SendOne(StateDb& database, const SpooledBatch& batch, UploadReport& report) {
  const auto response = client_->Send(MakeBatchRequest(*key_, batch));
  if (!response) {
    report.stopped_by = Within(response.error(), "upload");
    return {};
  }
  switch (ActionFor(response->status)) {
    case AnswerAction::kAccept: {
      const auto answer = wire::DecodeAnswer(response->body);
      if (!answer) {
        // Not our aggregator's answer (a captive portal's, say), so not its promise either.
        report.stopped_by = Within(answer.error(), fmt::format("upload to {}: answer is not the "
                                                               "aggregator's",
                                                               client_->origin()));
        return {};
      }
      FIELDCOST_ASSIGN(sqlite::Transaction transaction, database.Begin());
      FIELDCOST_TRY(database.MarkSent(batch.sequence, clock_->Now()));
      FIELDCOST_TRY(transaction.Commit());
      ++report.batches_sent;
      report.rows_sent += answer->accepted_rows + answer->rejected_rows;
      report.rows_rejected += answer->rejected_rows;
      return {};
    }
    case AnswerAction::kQuarantine: {
      const std::string reason = ReasonOf(*response);
      FIELDCOST_ASSIGN(sqlite::Transaction transaction, database.Begin());
      FIELDCOST_TRY(database.MarkQuarantined(batch.sequence, reason));
      FIELDCOST_TRY(transaction.Commit());
      LogWarning("batch {} is refused by {} and set aside: {}", batch.sequence, client_->origin(),
                 reason);
      ++report.batches_quarantined;
      return {};
    }
    case AnswerAction::kRetryLater:
      break;
  }
  report.stopped_by =
      Fail(ErrorCode::kUnavailable, "upload to {}: {}", client_->origin(), ReasonOf(*response));
  report.retry_after = ParseRetryAfter(http::Find(response->headers, "Retry-After"));
  return {};
}

}  // namespace fieldcost::daemon
