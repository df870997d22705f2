#include "tools/exchange/exchange_numbers.h"

#include <algorithm>
#include <charconv>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::exchange {
namespace {

constexpr unsigned kStep = 3;             // decimals from one unit to the next
constexpr unsigned kMostDecimals = 9;     // nano-
constexpr std::int64_t kMostDigits = 18;  // per value, so that many can be added

// The parts of "-12.50e3".
struct Parts {
  bool is_negative = false;
  std::string_view whole;     // "12"; not empty, unless there is a fraction
  std::string_view fraction;  // "50"
  int exponent = 0;

  std::size_t digits() const { return whole.size() + fraction.size(); }
  char digit(std::size_t at) const {
    if (at < whole.size()) return whole[at];
    return at < digits() ? fraction[at - whole.size()] : '0';
  }
};

std::optional<Parts> PartsOf(std::string_view text) {
  constexpr int kMostExponent = 64;  // more than any relevant number of zeros
  Parts parts;
  if (const std::size_t mark = text.find_first_of("eE"); mark != std::string_view::npos) {
    std::string_view digits = text.substr(mark + 1);
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto [rest, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), parts.exponent);
    if (rest != digits.data() + digits.size() || digits.empty()) return std::nullopt;
    // A number with too many digits is refused later.
    if (error != std::errc()) {
      parts.exponent = digits.front() == '-' ? -kMostExponent : kMostExponent;
    }
    parts.exponent = std::clamp(parts.exponent, -kMostExponent, kMostExponent);
    text = text.substr(0, mark);
  }
  parts.is_negative = text.starts_with('-');
  if (parts.is_negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  parts.whole = text.substr(0, point);
  if (point < text.size()) parts.fraction = text.substr(point + 1);
  const bool is_number =
      parts.digits() != 0 && AreAll(parts.whole, IsDigit) && AreAll(parts.fraction, IsDigit);
  return is_number ? std::optional(parts) : std::nullopt;
}

}  // namespace

bool IsNumber(std::string_view untrusted_text) { return PartsOf(untrusted_text).has_value(); }

std::optional<Scaled> ScaledValue(std::string_view untrusted_digits, unsigned decimals) {
  const std::optional<Parts> parts = PartsOf(untrusted_digits);
  if (!parts) return std::nullopt;
  // The digits before this one belong to the result.
  const std::int64_t end =
      static_cast<std::int64_t>(parts->whole.size()) + parts->exponent + decimals;
  Scaled value;
  bool is_zero = true;
  for (std::int64_t i = 0; i < std::max(end, static_cast<std::int64_t>(parts->digits())); ++i) {
    const char digit = parts->digit(static_cast<std::size_t>(i));
    is_zero = is_zero && digit == '0';
    if (i >= end) {
      value.is_cut = value.is_cut || digit != '0';
    } else if (__builtin_mul_overflow(value.magnitude, std::uint64_t{10}, &value.magnitude) ||
               __builtin_add_overflow(value.magnitude, static_cast<std::uint64_t>(digit - '0'),
                                      &value.magnitude)) {
      return std::nullopt;
    }
  }
  value.is_negative = parts->is_negative && !is_zero;
  return value;
}

std::optional<std::uint64_t> ScaledNumber(std::string_view untrusted_digits, unsigned decimals) {
  const std::optional<Scaled> value = ScaledValue(untrusted_digits, decimals);
  if (!value || value->is_negative) return std::nullopt;
  return value->magnitude;
}

Result<std::uint64_t> ZeroShift::At(const Scaled& time) const {
  FIELDCOST_CHECK(!time.is_negative || time.magnitude <= shift_);
  if (time.is_negative) return shift_ - time.magnitude;
  std::uint64_t at = 0;
  if (!__builtin_add_overflow(time.magnitude, shift_, &at)) return at;
  return Fail(ErrorCode::kTooLarge, "times span more than 2^64 - 1 ns");
}

void CountScale::Look(std::string_view untrusted_digits) {
  const std::optional<Parts> parts = PartsOf(untrusted_digits);
  if (!parts) return;
  std::size_t first = 0;  // first nonzero digit
  while (first < parts->digits() && parts->digit(first) == '0') ++first;
  if (first == parts->digits()) return;
  std::size_t last = parts->digits() - 1;
  while (parts->digit(last) == '0') --last;
  const std::int64_t point = static_cast<std::int64_t>(parts->whole.size()) + parts->exponent;
  most_decimals_ = std::max(most_decimals_, static_cast<std::int64_t>(last) + 1 - point);
  most_whole_digits_ = std::max(most_whole_digits_, point - static_cast<std::int64_t>(first));
}

unsigned CountScale::decimals() const {
  unsigned decimals = 0;
  while (decimals < kMostDecimals && decimals < most_decimals_ &&
         most_whole_digits_ + decimals + kStep <= kMostDigits) {
    decimals += kStep;
  }
  return decimals;
}

tree::Metric CountScale::MetricOf(const tree::Metric& metric, unsigned decimals) {
  tree::Metric scaled = metric;
  if (decimals == 0) return scaled;
  const char* const prefix = decimals == 3 ? "milli-" : decimals == 6 ? "micro-" : "nano-";
  scaled.name = (prefix + metric.name).substr(0, tree::kMaxMetricNameBytes);
  return scaled;
}

}  // namespace fieldcost::exchange
