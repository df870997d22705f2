#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace fieldcost::unwind {

// Reads consecutive numbers from untrusted bytes. Beyond the end, all reads return 0 and ok() stays
// false. Not thread-safe.
class ByteCursor {
 public:
  ByteCursor() = default;
  explicit ByteCursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  std::size_t position() const { return position_; }
  std::size_t left() const { return bytes_.size() - position_; }
  std::span<const std::uint8_t> rest() const { return bytes_.subspan(position_); }

  template <typename Number>
  Number Read() {
    Number number{};
    const auto bytes = Take(sizeof number);
    if (bytes.size() == sizeof number) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
  }

  // Numbers of more than 64 bits lose their upper bits.
  std::uint64_t Uleb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = Read<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t Sleb128() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = Read<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }

  // Returns the next `size` bytes; if there are fewer, returns none, and ok() becomes false.
  std::span<const std::uint8_t> Take(std::uint64_t size) {
    if (!ok_ || size > left()) {
      ok_ = false;
      position_ = bytes_.size();
      return {};
    }
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(size));
    position_ += static_cast<std::size_t>(size);
    return taken;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace fieldcost::unwind
