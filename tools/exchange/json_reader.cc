#include "tools/exchange/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>

#include "tools/exchange/limits.h"

namespace fieldcost::exchange {
namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

// What Boost.JSON calls.
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
  // Whole, as all of the text is given at once.
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

}  // namespace

Status ReadJson(std::string_view untrusted_json, JsonEvents& events) {
  json::parse_options options;
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
  if (!code && used != untrusted_json.size()) code = json::error::extra_data;
  if (!code) return {};
  const bool too_large = code == json::error::too_deep || code == json::error::string_too_large ||
                         code == json::error::key_too_large;
  return Fail(too_large ? ErrorCode::kTooLarge : ErrorCode::kCorrupt, "no JSON at byte {}: {}",
              used, code.message());
}

std::optional<std::uint64_t> ScaledNumber(std::string_view untrusted_digits, unsigned decimals) {
  // Above all zeros that can matter.
  constexpr int kMostExponent = 64;
  std::string_view text = untrusted_digits;
  int exponent = 0;
  if (const std::size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (rest != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    // A number of more digits than fit is refused below.
    if (error != std::errc()) exponent = digits.front() == '-' ? -kMostExponent : kMostExponent;
    exponent = std::clamp(exponent, -kMostExponent, kMostExponent);
    text = text.substr(0, mark);
  }
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction =
      point < text.size() ? text.substr(point + 1) : std::string_view();
  // Digits up to here are of the result.
  const std::int64_t end = static_cast<std::int64_t>(whole.size()) + exponent + decimals;
  std::uint64_t value = 0;
  bool is_zero = true;
  for (std::int64_t i = 0;
       i < std::max<std::int64_t>(end, std::int64_t(whole.size() + fraction.size())); ++i) {
    const auto at = static_cast<std::size_t>(i);
    char digit = '0';
    if (at < whole.size()) {
      digit = whole[at];
    } else if (at - whole.size() < fraction.size()) {
      digit = fraction[at - whole.size()];
    }
    if (digit < '0' || digit > '9') return std::nullopt;
    is_zero = is_zero && digit == '0';
    if (i >= end) continue;
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) ||
        __builtin_add_overflow(value, static_cast<std::uint64_t>(digit - '0'), &value)) {
      return std::nullopt;
    }
  }
  if (whole.empty() || (is_negative && !is_zero)) return std::nullopt;
  return value;
}

}  // namespace fieldcost::exchange
