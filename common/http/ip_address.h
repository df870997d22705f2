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
  std::size_t size = 0;                  // 4 or 16

  bool is_v6() const { return size == bytes.size(); }
  // 127.0.0.0/8 or ::1.
  bool IsLoopback() const;
  // The shortest form; IPv6 without brackets.
  std::string Text() const;
};

// Parses an address without port, brackets or zone; nullopt if the text is anything else.
std::optional<IpAddress> ParseIpAddress(std::string_view untrusted_text);

// Parses the binary form used in certificates: 4 or 16 bytes; nullopt otherwise.
std::optional<IpAddress> IpAddressOf(std::span<const std::uint8_t> untrusted_bytes);

}  // namespace fieldcost::http
