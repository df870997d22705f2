#include "aggregator/ingest/ingest.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "aggregator/ingest/ingest_limits.h"
#include "aggregator/ingest/ingest_workspace.h"
#include "common/base/json_writer.h"
#include "common/base/log.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"
#include "common/http/request_target.h"
#include "common/http/routes.h"
#include "common/wire/wire_limits.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::ingest {
namespace {

static_assert(wire::kMaxAnswerBytes <= store::kMaxAnswerBytes);

struct Route {
  std::string_view path;
  std::optional<Purpose> purpose;  // nullopt: an enrolment, which has no body
  std::string_view method = "POST";
};
constexpr std::array kRoutes = std::to_array<Route>({
    {wire::kBatchesPath, Purpose::kBatch},
    {wire::kWithdrawalsPath, Purpose::kWithdrawal},
    {wire::kEnrolmentsPath, std::nullopt},
});

http::FoundRoute<Route> RouteOf(std::string_view method, std::string_view untrusted_target) {
  const auto path = http::PlainPath::Parse(untrusted_target);
  return path ? http::FindRoute<Route>(kRoutes, method, path->parts()) : http::FoundRoute<Route>();
}

// Returns the sender. kInvalidArgument unless the request has the form of an enrolment.
Result<Sender> ParseEnrolment(const http::Request& untrusted_request) {
  FIELDCOST_ASSIGN(Sender sender, ParseSender(untrusted_request.headers));
  if (!untrusted_request.body.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "an enrolment has no body");
  }
  if (http::Find(untrusted_request.headers, wire::kTokenHeader).size() > wire::kMaxTokenBytes) {
    return Fail(ErrorCode::kInvalidArgument, "header {}: at most {} bytes", wire::kTokenHeader,
                wire::kMaxTokenBytes);
  }
  return sender;
}

}  // namespace

http::Response Refuse(int status, const Error& error) {
  http::Response response = http::JsonError(status, Name(error.code), error.message);
  if (status == 503) {
    response.headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
  }
  return response;
}

http::Response Refuse(const Error& error) { return Refuse(HttpStatus(error.code), error); }

http::Response TryLater(const Error& error, std::chrono::seconds wait) {
  http::Response response = Refuse(429, error);
  response.headers.emplace_back("Retry-After", std::to_string(wait.count()));
  return response;
}

http::Response AnswerJson(std::string json) {
  return {
      .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(json)};
}

Ingest::Workspace& Ingest::ThreadWorkspace() {
  thread_local Workspace workspace;
  return workspace;
}

bool Ingest::IsTarget(std::string_view untrusted_target) {
  return RouteOf("POST", untrusted_target).route != nullptr;
}

http::Response Ingest::Handle(const http::Request& untrusted_request) {
  store::StageTimes stages;
  return Handle(untrusted_request, stages);
}

http::Response Ingest::Handle(const http::Request& untrusted_request, store::StageTimes& stages) {
  const auto [route, allowed] = RouteOf(untrusted_request.method, untrusted_request.target);
  if (route == nullptr && allowed.empty()) {
    ++counters_.unknown_target;
    return Refuse(Fail(ErrorCode::kNotFound, "unknown address"));
  }
  if (route == nullptr) {
    ++counters_.wrong_method;
    return http::WrongMethod(allowed);
  }
  if (!route->purpose) return HandleEnrolment(untrusted_request);
  if (http::Find(untrusted_request.headers, "Content-Type") != wire::kBatchContentType) {
    ++counters_.wrong_content_type;
    return Refuse(415, Fail(ErrorCode::kUnsupported, "the content type of a batch is {}",
                            wire::kBatchContentType));
  }
  if (untrusted_request.body.size() > wire::kMaxBatchBodyBytes) {
    ++counters_.too_large;
    return Refuse(
        Fail(ErrorCode::kTooLarge, "a batch has at most {} bytes", wire::kMaxBatchBodyBytes));
  }
  return HandleBody(untrusted_request, *route->purpose, stages);
}

http::Response Ingest::HandleBody(const http::Request& untrusted_request, Purpose purpose,
                                  store::StageTimes& stages) {
  Workspace& workspace = ThreadWorkspace();
  auto envelope = ParseEnvelope(untrusted_request.headers);
  if (!envelope) {
    ++counters_.bad_envelope;
    return Refuse(envelope.error());
  }
  if (auto refusal = CheckService(*envelope)) return *refusal;
  const BatchIdentity batch{.agent = envelope->agent,
                            .epoch = envelope->epoch,
                            .sequence = envelope->sequence,
                            .body_sha256 = crypto::Sha256(untrusted_request.body)};
  if (Status status = VerifyEnvelope(*envelope, purpose, batch.body_sha256); !status) {
    ++counters_.bad_signature;
    return Refuse(401, status.error());
  }
  const std::string agent_id = pseudonyms_.IdOf(batch.agent);
  if (purpose == Purpose::kBatch) {
    if (auto refusal = CheckAdmission(batch, agent_id)) return *refusal;
    if (auto refusal = CheckDiskRoom()) return *refusal;
  }
  AgentRate& rate = purpose == Purpose::kBatch ? rate_ : withdrawal_rate_;
  if (auto refusal = CheckRate(rate, agent_id)) return *refusal;
  stages.End(store::BatchStage::kVerify);
  Status decoded = workspace.decoder.Decompress(untrusted_request.body);
  stages.End(store::BatchStage::kDecompress);
  if (decoded) decoded = workspace.decoder.Parse();
  if (decoded) decoded = wire::ValidateHardwareClass(workspace.decoder.hardware());
  if (!decoded) {
    ++(decoded.error().code == ErrorCode::kTooLarge ? counters_.too_large : counters_.malformed);
    abuse_log_.Note(Abuse::kMalformedBatch, agent_id, clock_.Now());
    return Refuse(decoded.error());
  }
  if (purpose == Purpose::kBatch) {
    if (auto refusal = CheckRowRate(workspace.decoder, agent_id)) return *refusal;
    stages.End(store::BatchStage::kDecode);
    return AddBatch(batch, agent_id, untrusted_request, workspace, stages);
  }
  return WithdrawBatch(batch, agent_id, http::Find(untrusted_request.headers, wire::kReceiptHeader),
                       workspace);
}

std::optional<http::Response> Ingest::CheckService(const Sender& untrusted_sender) {
  if (!names_.Has(untrusted_sender.host)) {
    ++counters_.wrong_service;
    return Refuse(421,
                  Fail(ErrorCode::kNotFound,
                       "this is not the service \"{}\" that the request is signed for; if it "
                       "should be, its operator adds the name to [server] names in aggregator.toml",
                       EscapeControl(untrusted_sender.host)));
  }
  if (!roots_.Has(untrusted_sender.root)) {
    ++counters_.wrong_root;
    return Refuse(421,
                  Fail(ErrorCode::kNotFound,
                       "the request is signed for another service of the name \"{}\": root {} is "
                       "none of this one's; to use this service, put its publish/root/1, which its "
                       "operator has, in place of catalog_root",
                       EscapeControl(untrusted_sender.host), EscapeControl(untrusted_sender.root)));
  }
  return std::nullopt;
}

Status Ingest::CheckEpoch(wire::Epoch untrusted_epoch) const {
  const std::uint32_t week = WeekOf(clock_.Now());
  const std::uint64_t now = week / store::kWeeksPerEpoch;
  const std::uint64_t first =
      std::max(now - std::min<std::uint64_t>(now, kEpochsAround), store_.first_epoch().value());
  // Agents' clocks may be ahead.
  const std::uint64_t last = WeekOf(clock_.Now() + kClockSkew) / store::kWeeksPerEpoch;
  if (untrusted_epoch.value() >= first && untrusted_epoch.value() <= last) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "epoch {} is not accepted now, {} to {} are (an epoch is a quarter of 13 weeks)",
              untrusted_epoch.value(), first, last);
}

std::string Ingest::WhyNothingIsAccepted() const {
  const std::uint32_t week = WeekOf(clock_.Now());
  const std::uint32_t first_week = store_.first_week();
  const std::uint64_t first_epoch = store_.first_epoch().value();
  if (first_week <= week && first_epoch <= week / store::kWeeksPerEpoch) return "";
  const auto first =
      std::max(std::uint64_t{first_week}, first_epoch * std::uint64_t{store::kWeeksPerEpoch});
  return fmt::format(
      "the clock or the store's bounds are wrong: it is week {} ({}) by the clock, but data before "
      "week {} ({}) was deleted as too old, so no batch is accepted; set the clock, or restore a "
      "backup from before the deletion",
      week, FirstDayOf(week), first, FirstDayOf(static_cast<std::uint32_t>(first)));
}

std::optional<http::Response> Ingest::RefuseEpoch(wire::Epoch untrusted_epoch) {
  if (!WhyNothingIsAccepted().empty()) {
    ++counters_.wrong_clock;
    return Refuse(503,
                  Fail(ErrorCode::kUnavailable,
                       "no batch is accepted at the moment: the service's clock or its bounds are "
                       "wrong"));
  }
  const Status status = CheckEpoch(untrusted_epoch);
  if (status) return std::nullopt;
  ++counters_.bad_epoch;
  return Refuse(status.error());
}

std::optional<http::Response> Ingest::CheckDiskRoom() {
  const bool full = options_.disk_is_full && options_.disk_is_full();
  if (disk_is_full_.exchange(full) != full) {
    LogEvent(full ? LogLevel::kError : LogLevel::kInfo,
             full ? "batches are refused: too little space on the data disk"
                  : "the data disk has enough space again: batches are accepted");
  }
  if (!full) return std::nullopt;
  ++counters_.disk_full;
  return Refuse(
      507, Fail(ErrorCode::kUnavailable, "the service has no space for batches at the moment"));
}

std::optional<http::Response> Ingest::CheckRate(AgentRate& rate, const std::string& agent_id) {
  const auto wait = rate.Take(agent_id, clock_.Now());
  if (!wait) return std::nullopt;
  ++counters_.too_many_batches;
  abuse_log_.Note(Abuse::kTooManyBatches, agent_id, clock_.Now());
  return TryLater(
      Fail(ErrorCode::kUnavailable, "an agent may send {} batches per hour, and withdraw as many",
           options_.batches_per_agent_per_hour),
      *wait);
}

std::optional<http::Response> Ingest::CheckRowRate(const wire::BatchDecoder& decoder,
                                                   const std::string& agent_id) {
  const std::size_t rows = std::max(decoder.row_count(), decoder.decoded_bytes() / kBytesOfARow);
  const auto wait = row_rate_.Take(agent_id, clock_.Now(), static_cast<unsigned>(rows));
  if (!wait) return std::nullopt;
  ++counters_.too_many_rows;
  abuse_log_.Note(Abuse::kTooManyRows, agent_id, clock_.Now());
  return TryLater(Fail(ErrorCode::kUnavailable, "an agent may send {} rows per hour",
                       options_.rows_per_agent_per_hour),
                  *wait);
}

http::Response Ingest::RefuseRevoked(const std::string& agent_id) {
  ++counters_.revoked;
  abuse_log_.Note(Abuse::kRevoked, agent_id, clock_.Now());
  return Refuse(Fail(ErrorCode::kPermissionDenied,
                     "this agent has been revoked: its batches are not accepted"));
}

std::optional<http::Response> Ingest::CheckAdmission(const BatchIdentity& batch,
                                                     const std::string& agent_id) {
  if (admission_.IsRevoked(agent_id)) return RefuseRevoked(agent_id);
  if (auto refusal = RefuseEpoch(batch.epoch)) {
    // Our own clock may be wrong.
    if (refusal->status != 503) abuse_log_.Note(Abuse::kWrongEpoch, agent_id, clock_.Now());
    return refusal;
  }
  if (admission_.mode() == EnrolmentMode::kOpen) return std::nullopt;
  const auto enrolled = store_.IsEnrolled(agent_id, batch.epoch);
  if (!enrolled) return RefuseStoreFailure();
  if (*enrolled) return std::nullopt;
  ++counters_.not_enrolled;
  http::Response refusal = Refuse(
      401,
      Fail(ErrorCode::kUnauthenticated, "this service accepts batches of enrolled agents only"));
  refusal.headers.emplace_back(wire::kEnrolmentHeader, wire::kEnrolmentRequired);
  return refusal;
}

std::optional<http::Response> Ingest::Enrol(const std::string& agent_id, wire::Epoch epoch,
                                            std::string_view untrusted_token) {
  if (admission_.IsToken(untrusted_token)) {
    if (!store_.Enrol(agent_id, epoch)) return RefuseStoreFailure();
    return std::nullopt;
  }
  const auto use = store_.EnrolInvited(crypto::Sha256(untrusted_token), agent_id, epoch,
                                       std::chrono::floor<std::chrono::seconds>(clock_.Now()));
  if (!use) return RefuseStoreFailure();
  if (*use == store::InvitationUse::kEnrolled) return std::nullopt;
  ++counters_.bad_token;
  std::string_view why = "the enrolment token is not valid for this service";
  if (untrusted_token.empty()) why = "this service requires an enrolment token";
  if (*use == store::InvitationUse::kExpired) {
    why = "the invitation has expired; ask its sender for another";
  } else if (*use == store::InvitationUse::kUsedUp) {
    why = "the invitation has no uses left; ask its sender for another";
  }
  return Refuse(Fail(ErrorCode::kPermissionDenied, "{}", why));
}

http::Response Ingest::HandleEnrolment(const http::Request& untrusted_request) {
  const auto sender = ParseEnrolment(untrusted_request);
  if (!sender) {
    ++counters_.bad_envelope;
    return Refuse(sender.error());
  }
  const std::string_view untrusted_token =
      http::Find(untrusted_request.headers, wire::kTokenHeader);
  if (auto refusal = CheckService(*sender)) return *refusal;
  if (Status status = VerifyEnrolment(*sender, untrusted_token); !status) {
    ++counters_.bad_signature;
    return Refuse(401, status.error());
  }
  const std::string agent_id = pseudonyms_.IdOf(sender->agent);
  if (admission_.IsRevoked(agent_id)) {
    ++counters_.revoked;
    return Refuse(Fail(ErrorCode::kPermissionDenied, "this agent has been revoked"));
  }
  if (auto refusal = RefuseEpoch(sender->epoch)) return *refusal;
  if (admission_.mode() == EnrolmentMode::kToken) {
    if (auto refusal = Enrol(agent_id, sender->epoch, untrusted_token)) return *refusal;
  }
  ++counters_.enrolments;
  return AnswerJson(JsonWriter().Object().Member("enrolled", true).EndObject().TakeValue());
}

http::Response Ingest::RefuseStoreFailure() {
  ++counters_.store_failed;
  return Refuse(503, Fail(ErrorCode::kUnavailable, "the store accepts no batches at the moment"));
}

http::Response Ingest::Overloaded() {
  ++counters_.overloaded;
  return Refuse(503,
                Fail(ErrorCode::kUnavailable, "too many requests are waiting; try again later"));
}

}  // namespace fieldcost::ingest
