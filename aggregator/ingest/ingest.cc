#include "aggregator/ingest/ingest.h"

#include <string>
#include <unordered_set>

#include "aggregator/ingest/envelope.h"
#include "aggregator/ingest/limits.h"
#include "aggregator/ingest/row_check.h"
#include "common/wire/limits.h"

namespace fieldcost::ingest {
namespace {

static_assert(wire::kMaxAnswerBytes <= store::kMaxAnswerBytes);

http::Response Refuse(int status, const Error& error) {
  http::Response response = http::JsonError(status, Name(error.code), error.message);
  if (status == 503)
    response.headers.emplace_back("Retry-After", std::to_string(kRetryAfterSeconds));
  return response;
}

http::Response Refuse(const Error& error) { return Refuse(HttpStatus(error.code), error); }

}  // namespace

// A thread's buffers, kept from batch to batch.
struct Ingest::Workspace {
  wire::BatchDecoder decoder;
  wire::UntrustedRow row;
  stats::RowKey key;
  std::string key_bytes;
  std::string greatest_key;
  std::unordered_set<std::string> seen;  // filled only if rows do not come in ascending order
  store::AcceptedRows accepted;
  wire::BatchAnswer answer;

  // True if a row with this key was accepted before in this batch.
  bool IsDuplicate() {
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
};

http::Response Ingest::Handle(const http::Request& untrusted_request) {
  if (untrusted_request.target != kBatchesPath) {
    ++counters_.unknown_target;
    return Refuse(Fail(ErrorCode::kNotFound, "there is nothing at this address"));
  }
  if (untrusted_request.method != "POST") {
    ++counters_.wrong_method;
    http::Response response =
        Refuse(405, Fail(ErrorCode::kInvalidArgument, "batches are sent with POST"));
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
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
  return HandleBatch(untrusted_request);
}

http::Response Ingest::HandleBatch(const http::Request& untrusted_request) {
  thread_local Workspace workspace;
  auto envelope = ParseEnvelope(untrusted_request.headers);
  if (!envelope) {
    ++counters_.bad_envelope;
    return Refuse(envelope.error());
  }
  if (Status status = VerifyEnvelope(*envelope, untrusted_request.body); !status) {
    ++counters_.bad_signature;
    return Refuse(401, status.error());
  }
  Status decoded = workspace.decoder.Decode(untrusted_request.body);
  if (decoded) decoded = wire::ValidateHardwareClass(workspace.decoder.hardware());
  if (!decoded) {
    ++(decoded.error().code == ErrorCode::kTooLarge ? counters_.too_large : counters_.malformed);
    return Refuse(decoded.error());
  }

  CheckRows(workspace);
  auto result = store_.Accept({.agent_id = pseudonyms_.IdOf(envelope->agent),
                               .epoch = envelope->epoch,
                               .sequence = envelope->sequence,
                               .rows = &workspace.accepted,
                               .answer = wire::EncodeAnswer(workspace.answer)});
  if (!result && result.error().code == ErrorCode::kInvalidArgument) {
    ++counters_.bad_sequence;
    return Refuse(result.error());
  }
  if (!result) {
    ++counters_.store_failed;
    return Refuse(503,
                  Fail(ErrorCode::kUnavailable, "the store cannot take batches at the moment"));
  }
  if (result->replay) {
    ++counters_.replayed_batches;
  } else {
    ++counters_.accepted_batches;
    counters_.accepted_rows += workspace.answer.accepted_rows;
    counters_.rejected_rows += workspace.answer.rejected_rows;
  }
  return {.status = 200,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(result->answer)};
}

void Ingest::CheckRows(Workspace& workspace) {
  const std::uint32_t week = WeekOf(clock_.Now());
  workspace.accepted.Clear();
  workspace.answer = {};
  workspace.greatest_key.clear();
  workspace.seen.clear();
  workspace.key.hardware = workspace.decoder.hardware();
  for (std::size_t index = 0; index < workspace.decoder.row_count(); ++index) {
    workspace.decoder.GetRow(index, workspace.row);
    Status status = CheckRow(workspace.row, week);
    if (status) {
      std::swap(workspace.key.api, workspace.row.api);
      workspace.key.metric = static_cast<stats::Metric>(workspace.row.metric_number);
      workspace.key.week = workspace.row.week;
      workspace.key_bytes.clear();
      store::AppendRowKey(workspace.key, workspace.key_bytes);
      if (workspace.IsDuplicate()) {
        status = Fail(ErrorCode::kInvalidArgument, "the batch has this row already");
      }
    }
    if (status) {
      workspace.accepted.Add(workspace.key_bytes, workspace.row.histogram,
                             workspace.row.first_contribution);
      ++workspace.answer.accepted_rows;
      continue;
    }
    ++workspace.answer.rejected_rows;
    if (workspace.answer.rejects.size() < wire::kMaxListedRejects) {
      workspace.answer.rejects.push_back(
          {.row = static_cast<std::uint32_t>(index), .reason = std::move(status.error().message)});
    }
  }
}

http::Response Ingest::Overloaded() {
  ++counters_.overloaded;
  return Refuse(503,
                Fail(ErrorCode::kUnavailable, "too many batches are waiting; try again later"));
}

}  // namespace fieldcost::ingest
