#include "common/http/ip_address.h"

#include <arpa/inet.h>

#include <algorithm>

namespace fieldcost::http {

bool IpAddress::IsLoopback() const {
  if (!is_v6()) return bytes[0] == 127;
  return bytes.back() == 1 &&
         std::all_of(bytes.begin(), bytes.end() - 1, [](std::uint8_t byte) { return byte == 0; });
}

std::string IpAddress::Text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(is_v6() ? AF_INET6 : AF_INET, bytes.data(), text.data(), text.size());
  return text.data();
}

std::optional<IpAddress> ParseIpAddress(std::string_view untrusted_text) {
  if (untrusted_text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string text(untrusted_text);
  IpAddress address;
  if (::inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) {
    address.size = sizeof(in_addr);
  } else if (::inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) {
    address.size = sizeof(in6_addr);
  } else {
    return std::nullopt;
  }
  return address;
}

std::optional<IpAddress> IpAddressOf(std::span<const std::uint8_t> untrusted_bytes) {
  IpAddress address{.size = untrusted_bytes.size()};
  if (address.size != sizeof(in_addr) && address.size != sizeof(in6_addr)) return std::nullopt;
  std::copy(untrusted_bytes.begin(), untrusted_bytes.end(), address.bytes.begin());
  return address;
}

}  // namespace fieldcost::http
