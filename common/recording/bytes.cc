#include "common/recording/bytes.h"

namespace fieldcost::recording {

std::uint64_t ByteReader::Varint() {
  std::string_view rest = bytes_.substr(at_);
  stats::Uint128 value = 0;
  if (!ok_ || !stats::TakeVarint(rest, value) || value > UINT64_MAX) {
    ok_ = false;
    return 0;
  }
  at_ = bytes_.size() - rest.size();
  return stats::Low64(value);
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
