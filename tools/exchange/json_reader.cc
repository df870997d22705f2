#include "tools/exchange/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>

#include "tools/exchange/exchange_limits.h"

namespace fieldcost::exchange {
namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

// The handler for Boost.JSON.
class Handler {
 public:
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = kMaxJsonTextBytes;
  static constexpr std::size_t max_string_size = kMaxJsonTextBytes;

  explicit Handler(JsonEvents& events) : events_(events) {}
  const std::optional<Error>& error() const { return error_; }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& code) { return Check(events_.BeginObject(), code); }
  bool on_object_end(std::size_t, error_code& code) { return Check(events_.EndObject(), code); }
  bool on_array_begin(error_code& code) { return Check(events_.BeginArray(), code); }
  bool on_array_end(std::size_t, error_code& code) { return Check(events_.EndArray(), code); }
  bool on_key_part(string_view part, std::size_t, error_code&) { return Append(part); }
  bool on_key(string_view part, std::size_t, error_code& code) {
    Append(part);
    return Check(events_.Key(Taken()), code);
  }
  bool on_string_part(string_view part, std::size_t, error_code&) { return Append(part); }
  bool on_string(string_view part, std::size_t, error_code& code) {
    Append(part);
    return Check(events_.String(Taken()), code);
  }
  // Complete, because the whole text is passed at once.
  bool on_number_part(string_view, error_code&) { return true; }
  bool on_int64(std::int64_t, string_view digits, error_code& code) { return Digits(digits, code); }
  bool on_uint64(std::uint64_t, string_view digits, error_code& code) {
    return Digits(digits, code);
  }
  bool on_double(double, string_view digits, error_code& code) { return Digits(digits, code); }
  bool on_bool(bool, error_code& code) { return Check(events_.Other(), code); }
  bool on_null(error_code& code) { return Check(events_.Other(), code); }
  bool on_comment_part(string_view, error_code&) { return true; }
  bool on_comment(string_view, error_code&) { return true; }

 private:
  bool Check(Status status, error_code& code) {
    if (status) return true;
    error_ = std::move(status).error();
    code = json::error::exception;
    return false;
  }
  bool Append(string_view part) {
    if (is_taken_) text_.clear();
    is_taken_ = false;
    text_.append(part.data(), part.size());
    return true;
  }
  std::string_view Taken() {
    is_taken_ = true;
    return text_;
  }
  bool Digits(string_view digits, error_code& code) {
    if (digits.size() > kMaxJsonTextBytes) {
      return Check(Fail(ErrorCode::kTooLarge, "a number of {} digits", digits.size()), code);
    }
    return Check(events_.Number({digits.data(), digits.size()}), code);
  }

  JsonEvents& events_;
  std::optional<Error> error_;
  std::string text_;
  bool is_taken_ = false;
};

Result<bool> Read(std::string_view untrusted_json, JsonEvents& events, bool may_end_early) {
  json::parse_options options;
  options.allow_trailing_commas = may_end_early;
  options.max_depth = kMaxJsonDepth;
  options.allow_invalid_utf8 = true;
  json::basic_parser<Handler> parser(options, events);
  error_code code;
  std::size_t used = 0;
  try {
    used = parser.write_some(false, untrusted_json.data(), untrusted_json.size(), code);
  } catch (const std::exception& thrown) {
    return Fail(ErrorCode::kCorrupt, "no JSON: {}", thrown.what());
  }
  if (const std::optional<Error>& error = parser.handler().error()) {
    return Within(*error, fmt::format("at byte {}", used));
  }
  if (code == json::error::incomplete && may_end_early) return false;
  if (!code && used != untrusted_json.size()) code = json::error::extra_data;
  if (!code) return true;
  const bool too_large = code == json::error::too_deep || code == json::error::string_too_large ||
                         code == json::error::key_too_large;
  return Fail(too_large ? ErrorCode::kTooLarge : ErrorCode::kCorrupt, "no JSON at byte {}: {}",
              used, code.message());
}

}  // namespace

Status ReadJson(std::string_view untrusted_json, JsonEvents& events) {
  FIELDCOST_TRY(Read(untrusted_json, events, false));
  return {};
}

Result<bool> ReadJsonBeginning(std::string_view untrusted_json, JsonEvents& events) {
  return Read(untrusted_json, events, true);
}

}  // namespace fieldcost::exchange
