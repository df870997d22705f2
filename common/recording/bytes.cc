#include "common/recording/bytes.h"

namespace fieldcost::recording {

std::uint64_t ByteReader::Varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = Fixed<std::uint8_t>();
    if (!ok_) return 0;
    const std::uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if (byte < 0x80) return value;
  }
  ok_ = false;
  return 0;
}

std::string_view ByteReader::Bytes(std::size_t size) {
  if (!ok_ || size > left()) {
    ok_ = false;
    return {};
  }
  at_ += size;
  return bytes_.substr(at_ - size, size);
}

std::string_view ByteReader::Text(std::size_t max_bytes) {
  const std::uint64_t size = Varint();
  if (size > max_bytes) ok_ = false;
  return Bytes(ok_ ? size : 0);
}

void ByteReader::SkipPadding() {
  const std::string_view padding = Bytes(Padded(at_) - at_);
  if (padding.find_first_not_of('\0') != std::string_view::npos) ok_ = false;
}

}  // namespace fieldcost::recording
