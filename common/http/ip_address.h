#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fieldcost::http {

// An address of IPv4 or IPv6. Pure.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  // most significant first
  std::size_t size = 0;                  // 4 or 16 of them

  bool is_v6() const { return size == bytes.size(); }
  // 127.0.0.0/8 or ::1.
  bool IsLoopback() const;
  // In the shortest form, an IPv6 address without brackets.
  std::string Text() const;
};

// Nothing unless the text is an address and nothing else: no port, no brackets, no zone.
std::optional<IpAddress> ParseIpAddress(std::string_view untrusted_text);

// An address as certificates have it; nothing unless there are 4 or 16 bytes.
std::optional<IpAddress> IpAddressOf(std::span<const std::uint8_t> untrusted_bytes);

}  // namespace fieldcost::http
