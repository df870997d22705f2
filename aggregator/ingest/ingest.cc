#include "aggregator/ingest/ingest.h"

#include "aggregator/ingest/limits.h"
#include "aggregator/ingest/row_check.h"
#include "aggregator/ingest/workspace.h"
#include "common/crypto/sha256.h"
#include "common/wire/limits.h"
#include "common/wire/requests.h"

namespace fieldcost::ingest {
namespace {

static_assert(wire::kMaxAnswerBytes <= store::kMaxAnswerBytes);

constexpr char kEnrolledAnswer[] = R"({"enrolled":true})";

// Whether what was answered to the first batch of this number speaks of another body: two machines
// have one key (a copied disk), or an old state came back from a backup. Unknown is no.
bool IsOfAnotherBody(const std::string& stored_answer, const BatchIdentity& batch,
                     const Receipts& receipts) {
  const auto first = wire::DecodeAnswer(stored_answer);
  return first && !first->receipt.empty() && !receipts.Open(first->receipt, batch);
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

http::Response AnswerJson(std::string json) {
  return {
      .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(json)};
}

void Ingest::Workspace::Start() {
  accepted.Clear();
  answer = {};
  refused.clear();
  greatest_key.clear();
  seen.clear();
  key.hardware = decoder.hardware();
}

void Ingest::Workspace::MakeKey() {
  std::swap(key.api, row.api);
  key.metric = static_cast<stats::Metric>(row.metric_number);
  key.week = row.week;
  key_bytes.clear();
  store::AppendRowKey(key, key_bytes);
}

bool Ingest::Workspace::IsDuplicate() {
  if (key_bytes > greatest_key && seen.empty()) {
    greatest_key = key_bytes;
    return false;
  }
  if (seen.empty()) {
    // Our own encoding: it decodes.
    (void)store::ForEachAcceptedRow(
        accepted.bytes(),
        [this](std::string_view bytes, const store::CompactRow&) { seen.emplace(bytes); });
  }
  return !seen.insert(key_bytes).second;
}

Ingest::Workspace& Ingest::ThreadWorkspace() {
  thread_local Workspace workspace;
  return workspace;
}

bool Ingest::IsTarget(std::string_view untrusted_target) {
  return untrusted_target == wire::kBatchesPath || untrusted_target == wire::kWithdrawalsPath ||
         untrusted_target == wire::kEnrolmentsPath;
}

http::Response Ingest::Handle(const http::Request& untrusted_request) {
  if (!IsTarget(untrusted_request.target)) {
    ++counters_.unknown_target;
    return Refuse(Fail(ErrorCode::kNotFound, "there is nothing at this address"));
  }
  if (untrusted_request.method != "POST") {
    ++counters_.wrong_method;
    http::Response response =
        Refuse(405, Fail(ErrorCode::kInvalidArgument, "what is asked here is sent with POST"));
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  if (untrusted_request.target == wire::kEnrolmentsPath) return HandleEnrolment(untrusted_request);
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
  return HandleBody(untrusted_request, untrusted_request.target == wire::kBatchesPath
                                           ? Purpose::kBatch
                                           : Purpose::kWithdrawal);
}

http::Response Ingest::HandleBody(const http::Request& untrusted_request, Purpose purpose) {
  Workspace& workspace = ThreadWorkspace();
  auto envelope = ParseEnvelope(untrusted_request.headers);
  if (!envelope) {
    ++counters_.bad_envelope;
    return Refuse(envelope.error());
  }
  const BatchIdentity batch{.agent = envelope->agent,
                            .epoch = envelope->epoch,
                            .sequence = envelope->sequence,
                            .body_sha256 = crypto::Sha256(untrusted_request.body)};
  if (Status status = VerifyEnvelope(*envelope, purpose, batch.body_sha256); !status) {
    ++counters_.bad_signature;
    return Refuse(401, status.error());
  }
  if (purpose == Purpose::kBatch) {
    if (auto refusal = CheckAdmission(batch, pseudonyms_.IdOf(batch.agent))) return *refusal;
  }
  Status decoded = workspace.decoder.Decode(untrusted_request.body);
  if (decoded) decoded = wire::ValidateHardwareClass(workspace.decoder.hardware());
  if (!decoded) {
    ++(decoded.error().code == ErrorCode::kTooLarge ? counters_.too_large : counters_.malformed);
    return Refuse(decoded.error());
  }
  if (purpose == Purpose::kBatch) return AddBatch(batch, workspace);
  return WithdrawBatch(batch, http::Find(untrusted_request.headers, wire::kReceiptHeader),
                       workspace);
}

std::optional<http::Response> Ingest::CheckAdmission(const BatchIdentity& batch,
                                                     const std::string& agent_id) {
  if (admission_.IsRevoked(agent_id)) {
    ++counters_.revoked;
    return Refuse(Fail(ErrorCode::kPermissionDenied, "batches of this agent are not wanted here"));
  }
  if (admission_.mode() == EnrolmentMode::kOpen) return std::nullopt;
  const auto enrolled = store_.IsEnrolled(agent_id, batch.epoch);
  if (!enrolled) return RefuseStoreFailure();
  if (*enrolled) return std::nullopt;
  ++counters_.not_enrolled;
  http::Response refusal = Refuse(
      401, Fail(ErrorCode::kUnauthenticated, "only enrolled agents' batches are taken here"));
  refusal.headers.emplace_back(wire::kEnrolmentHeader, wire::kEnrolmentRequired);
  return refusal;
}

http::Response Ingest::HandleEnrolment(const http::Request& untrusted_request) {
  auto sender = ParseSender(untrusted_request.headers);
  const std::string_view untrusted_token =
      http::Find(untrusted_request.headers, wire::kTokenHeader);
  Status formed;
  if (!sender) {
    formed = sender.error();
  } else if (!untrusted_request.body.empty()) {
    formed = Fail(ErrorCode::kInvalidArgument, "an enrolment has no body");
  } else if (untrusted_token.size() > wire::kMaxTokenBytes) {
    formed = Fail(ErrorCode::kInvalidArgument, "header {}: at most {} bytes", wire::kTokenHeader,
                  wire::kMaxTokenBytes);
  }
  if (!formed) {
    ++counters_.bad_envelope;
    return Refuse(formed.error());
  }
  if (Status status = VerifyEnrolment(*sender, untrusted_token); !status) {
    ++counters_.bad_signature;
    return Refuse(401, status.error());
  }
  const std::string agent_id = pseudonyms_.IdOf(sender->agent);
  if (admission_.IsRevoked(agent_id)) {
    ++counters_.revoked;
    return Refuse(Fail(ErrorCode::kPermissionDenied, "this agent is not wanted here"));
  }
  if (admission_.mode() == EnrolmentMode::kToken) {
    if (!admission_.IsToken(untrusted_token)) {
      ++counters_.bad_token;
      return Refuse(Fail(ErrorCode::kPermissionDenied, "{}",
                         untrusted_token.empty()
                             ? "an enrolment token is needed here"
                             : "the enrolment token is not one of this server's"));
    }
    if (!store_.Enrol(agent_id, sender->epoch)) return RefuseStoreFailure();
  }
  ++counters_.enrolments;
  return AnswerJson(kEnrolledAnswer);
}

http::Response Ingest::AddBatch(const BatchIdentity& batch, Workspace& workspace) {
  CheckRows(workspace);
  workspace.answer.receipt = receipts_.Issue(batch, workspace.refused);
  auto result = store_.Accept({.agent_id = pseudonyms_.IdOf(batch.agent),
                               .epoch = batch.epoch,
                               .sequence = batch.sequence,
                               .rows = &workspace.accepted,
                               .answer = wire::EncodeAnswer(workspace.answer)});
  if (!result && result.error().code == ErrorCode::kInvalidArgument) {
    ++counters_.bad_sequence;
    return Refuse(result.error());
  }
  if (!result) return RefuseStoreFailure();
  if (result->replay && IsOfAnotherBody(result->answer, batch, receipts_)) {
    ++counters_.bad_sequence;
    return Refuse(409,
                  Fail(ErrorCode::kAlreadyExists, "another batch of this agent has had sequence {}",
                       batch.sequence.value()));
  }
  if (result->replay) {
    ++counters_.replayed_batches;
  } else {
    ++counters_.accepted_batches;
    counters_.accepted_rows += workspace.answer.accepted_rows;
    counters_.rejected_rows += workspace.answer.rejected_rows;
  }
  return AnswerJson(std::move(result->answer));
}

http::Response Ingest::RefuseStoreFailure() {
  ++counters_.store_failed;
  return Refuse(503, Fail(ErrorCode::kUnavailable, "the store cannot take anything at the moment"));
}

void Ingest::CheckRows(Workspace& workspace) {
  const std::uint32_t week = WeekOf(clock_.Now());
  workspace.Start();
  for (std::size_t index = 0; index < workspace.decoder.row_count(); ++index) {
    workspace.decoder.GetRow(index, workspace.row);
    Status status = CheckRow(workspace.row, week);
    if (status) {
      workspace.MakeKey();
      if (workspace.IsDuplicate()) {
        status = Fail(ErrorCode::kInvalidArgument, "the batch has this row already");
      }
    }
    if (status) {
      workspace.accepted.Add(workspace.key_bytes, workspace.row.histogram,
                             workspace.row.first_contribution ? store::Contribution::kFirst
                                                              : store::Contribution::kNone);
      ++workspace.answer.accepted_rows;
      continue;
    }
    ++workspace.answer.rejected_rows;
    workspace.refused.push_back(static_cast<std::uint32_t>(index));
    if (workspace.answer.rejects.size() < wire::kMaxListedRejects) {
      workspace.answer.rejects.push_back(
          {.row = static_cast<std::uint32_t>(index), .reason = std::move(status.error().message)});
    }
  }
}

http::Response Ingest::Overloaded() {
  ++counters_.overloaded;
  return Refuse(503,
                Fail(ErrorCode::kUnavailable, "too many requests are waiting; try again later"));
}

}  // namespace fieldcost::ingest
