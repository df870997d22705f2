// The service's responses as JSON: at most 64 KiB, 8 levels deep; unknown members are ignored.
//
//   batch      := {"accepted_rows": u32, "rejected_rows": u32, "rejects": [reject*]
//                  [, "receipt": hex] [, "held": true]}      ; at most 100 rejects
//   reject     := {"row": u32, "reason": text}               ; row from 0, one line of ASCII
//   withdrawal := {"withdrawn_rows": u32}
#include <algorithm>
#include <boost/json.hpp>
#include <limits>
#include <span>

#include "common/base/ascii.h"
#include "common/base/json_writer.h"
#include "common/wire/batch.h"
#include "common/wire/wire_requests.h"

namespace fieldcost::wire {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxDepth = 8;

// Converts a reason, which may quote external text, to the form allowed on the wire: one line of
// ASCII.
std::string CleanReason(std::string_view reason) {
  std::string text(reason.substr(0, kMaxReasonBytes));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

Error NotAnAnswer(std::string_view why) {
  return Fail(ErrorCode::kCorrupt, "decoding an answer: {}", why);
}

Result<std::uint32_t> ReadNumber(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return NotAnAnswer(fmt::format("no member {}", name));
  json::error_code error;
  const auto number = value->to_number<std::uint32_t>(error);
  if (error) return NotAnAnswer(fmt::format("{} is not a count", name));
  return number;
}

Result<BatchAnswer::Reject> ReadReject(const json::value& untrusted_value) {
  const json::object* object = untrusted_value.if_object();
  if (object == nullptr) return NotAnAnswer("a reject is not an object");
  BatchAnswer::Reject reject;
  FIELDCOST_ASSIGN(reject.row, ReadNumber(*object, "row"));
  const json::value* reason = object->if_contains("reason");
  if (reason == nullptr || !reason->is_string()) return NotAnAnswer("a reject without a reason");
  reject.reason = CleanReason(std::string_view(reason->get_string()));
  return reject;
}

Result<BatchAnswer> ReadAnswer(const json::value& untrusted_value) {
  const json::object* object = untrusted_value.if_object();
  if (object == nullptr) return NotAnAnswer("not an object");
  BatchAnswer answer;
  FIELDCOST_ASSIGN(answer.accepted_rows, ReadNumber(*object, "accepted_rows"));
  FIELDCOST_ASSIGN(answer.rejected_rows, ReadNumber(*object, "rejected_rows"));
  const json::value* rejects = object->if_contains("rejects");
  if (rejects == nullptr || !rejects->is_array()) return NotAnAnswer("no list of rejects");
  if (rejects->get_array().size() > kMaxListedRejects) return NotAnAnswer("too many rejects");
  for (const json::value& untrusted_reject : rejects->get_array()) {
    FIELDCOST_ASSIGN(BatchAnswer::Reject reject, ReadReject(untrusted_reject));
    answer.rejects.push_back(std::move(reject));
  }
  if (const json::value* untrusted_receipt = object->if_contains("receipt")) {
    if (!untrusted_receipt->is_string()) return NotAnAnswer("the receipt is not a text");
    answer.receipt = std::string(std::string_view(untrusted_receipt->get_string()));
    if (answer.receipt.size() > kMaxReceiptBytes || !AreAll(answer.receipt, IsLowerHexDigit)) {
      return NotAnAnswer("the receipt is not hexadecimal, or too long");
    }
  }
  if (const json::value* untrusted_held = object->if_contains("held")) {
    if (!untrusted_held->is_bool()) return NotAnAnswer("held is neither true nor false");
    answer.held = untrusted_held->get_bool();
  }
  return answer;
}

Result<json::value> ParseJson(std::string_view untrusted_json) {
  if (untrusted_json.size() > kMaxAnswerBytes) {
    return Fail(ErrorCode::kTooLarge, "an answer has {} bytes, at most {} are accepted",
                untrusted_json.size(), kMaxAnswerBytes);
  }
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code error;
  json::value value = json::parse(untrusted_json, error, {}, options);
  if (error) return NotAnAnswer(error.message());
  return value;
}

}  // namespace

std::string EncodeAnswer(const BatchAnswer& answer) {
  JsonWriter writer;
  writer.Object().Member("accepted_rows", answer.accepted_rows);
  writer.Member("rejected_rows", answer.rejected_rows).Key("rejects").Array();
  for (const BatchAnswer::Reject& reject :
       std::span(answer.rejects).first(std::min(answer.rejects.size(), kMaxListedRejects))) {
    writer.Object().Member("row", reject.row).Member("reason", CleanReason(reject.reason));
    writer.EndObject();
  }
  writer.EndArray();
  if (!answer.receipt.empty()) writer.Member("receipt", answer.receipt);
  if (answer.held) writer.Member("held", true);
  return writer.EndObject().TakeValue();
}

Result<BatchAnswer> DecodeAnswer(std::string_view untrusted_json) {
  FIELDCOST_ASSIGN(const json::value value, ParseJson(untrusted_json));
  return ReadAnswer(value);
}

std::string EncodeWithdrawalAnswer(const WithdrawalAnswer& answer) {
  JsonWriter writer;
  writer.Object().Member("withdrawn_rows", answer.withdrawn_rows).EndObject();
  return writer.TakeValue();
}

Result<WithdrawalAnswer> DecodeWithdrawalAnswer(std::string_view untrusted_json) {
  FIELDCOST_ASSIGN(const json::value value, ParseJson(untrusted_json));
  const json::object* object = value.if_object();
  if (object == nullptr) return NotAnAnswer("not an object");
  WithdrawalAnswer answer;
  FIELDCOST_ASSIGN(answer.withdrawn_rows, ReadNumber(*object, "withdrawn_rows"));
  return answer;
}

}  // namespace fieldcost::wire
