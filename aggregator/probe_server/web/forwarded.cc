#include "aggregator/probe_server/web/forwarded.h"

#include <algorithm>
#include <optional>

#include "common/base/text.h"

namespace fieldcost::probe_server {
namespace {

constexpr std::size_t kMaxElements = 64;  // the last ones; no chain of trusted proxies is longer

// Converts ::ffff:a.b.c.d to the IPv4 address.
http::IpAddress Plain(const http::IpAddress& address) {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (!address.is_v6() || !std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin())) {
    return address;
  }
  http::IpAddress plain{.size = 4};
  std::copy(address.bytes.begin() + 12, address.bytes.end(), plain.bytes.begin());
  return plain;
}

std::optional<http::IpAddress> ReadAddress(std::string_view untrusted_text) {
  const auto address = http::ParseIpAddress(untrusted_text);
  return address ? std::optional(Plain(*address)) : std::nullopt;
}

// Splits at separators outside quotes. Quoted text keeps its quotes.
std::vector<std::string_view> SplitUnquoted(std::string_view untrusted_text, char separator) {
  std::vector<std::string_view> parts;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < untrusted_text.size(); ++i) {
    const char c = untrusted_text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == separator && !quoted) {
      parts.push_back(untrusted_text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(untrusted_text.substr(begin));
  return parts;
}

// The address in the value of `for`: "192.0.2.1", "192.0.2.1:80", "\"[2001:db8::1]:80\"".
std::optional<http::IpAddress> ReadNode(std::string_view untrusted_value) {
  if (untrusted_value.size() >= 2 && untrusted_value.front() == '"') {
    if (untrusted_value.back() != '"') return std::nullopt;
    untrusted_value = untrusted_value.substr(1, untrusted_value.size() - 2);
  }
  if (untrusted_value.starts_with('[')) {
    const std::size_t end = untrusted_value.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    return ReadAddress(untrusted_value.substr(1, end - 1));
  }
  // A single colon precedes a port; several colons mean an IPv6 address.
  if (std::count(untrusted_value.begin(), untrusted_value.end(), ':') == 1) {
    untrusted_value = untrusted_value.substr(0, untrusted_value.find(':'));
  }
  return ReadAddress(untrusted_value);
}

std::optional<http::IpAddress> ForOf(std::string_view untrusted_element) {
  for (const std::string_view part : SplitUnquoted(untrusted_element, ';')) {
    const std::string_view pair = Trim(part);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || !http::EqualNames(pair.substr(0, equals), "for")) {
      continue;
    }
    return ReadNode(pair.substr(equals + 1));
  }
  return std::nullopt;
}

bool IsTrusted(const http::IpAddress& address, const std::vector<AddressRange>& trusted) {
  return std::any_of(trusted.begin(), trusted.end(),
                     [&](const AddressRange& range) { return range.Contains(address); });
}

}  // namespace

bool AddressRange::Contains(const http::IpAddress& address) const {
  if (address.size != first.size) return false;
  for (unsigned bit = 0; bit < bits; ++bit) {
    const int difference = address.bytes[bit / 8] ^ first.bytes[bit / 8];
    if ((difference >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

Result<AddressRange> ParseAddressRange(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = ReadAddress(text.substr(0, slash));
  if (address) {
    const auto most = static_cast<unsigned>(address->size * 8);
    if (slash == text.size()) return AddressRange{.first = *address, .bits = most};
    const auto bits = ParseUint64(text.substr(slash + 1));
    if (bits && *bits >= 1 && *bits <= most) {
      return AddressRange{.first = *address, .bits = static_cast<unsigned>(*bits)};
    }
  }
  return Fail(ErrorCode::kInvalidArgument,
              "expected an address or a range such as 192.0.2.0/24, found '{}'",
              EscapeControl(text));
}

std::string ClientAddress(const http::Request& untrusted_request,
                          const std::vector<AddressRange>& trusted_proxies) {
  auto client = ReadAddress(untrusted_request.peer_address);
  if (!client || !IsTrusted(*client, trusted_proxies)) return untrusted_request.peer_address;
  std::vector<std::string_view> untrusted_elements;
  for (const auto& [name, value] : untrusted_request.headers) {
    if (!http::EqualNames(name, "Forwarded")) continue;
    for (const std::string_view element : SplitUnquoted(value, ','))
      untrusted_elements.push_back(element);
  }
  std::size_t looked_at = 0;
  while (!untrusted_elements.empty() && ++looked_at <= kMaxElements) {
    const auto told = ForOf(untrusted_elements.back());
    untrusted_elements.pop_back();
    if (!told) break;
    client = told;
    if (!IsTrusted(*client, trusted_proxies)) break;
  }
  return client->Text();
}

}  // namespace fieldcost::probe_server
