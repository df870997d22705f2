#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/stats/varint.h"

namespace fieldcost::recording {

static_assert(std::endian::native == std::endian::little,
              "columns are read as they are in the file");

// The error for bytes that our writers never produce.
inline Error Corrupt(std::string_view what) { return Fail(ErrorCode::kCorrupt, "{}", what); }

inline constexpr std::size_t kAlignment = 8;
constexpr std::size_t Padded(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Reads an integer at any alignment.
template <typename Integer>
Integer LoadAt(const char* at) {
  Integer value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Appends to a string that outlives it. Little endian.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}
  template <typename Integer>
  void Fixed(Integer value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void Varint(std::uint64_t value) { stats::AppendVarint(value, out_); }
  void Text(std::string_view text) {
    Varint(text.size());
    out_ += text;
  }
  // Appends zeros up to a multiple of kAlignment of the whole string.
  void Pad() { out_.resize(Padded(out_.size())); }

 private:
  std::string& out_;
};

// Reads the output of a ByteWriter. Beyond the end, and after anything malformed, all reads return
// 0 or empty, and ok() is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view untrusted_bytes) : bytes_(untrusted_bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && at_ == bytes_.size(); }
  std::size_t left() const { return bytes_.size() - at_; }

  template <typename Integer>
  Integer Fixed() {
    const std::string_view bytes = Bytes(sizeof(Integer));
    return ok_ ? LoadAt<Integer>(bytes.data()) : Integer{};
  }
  std::uint64_t Varint();  // at most 64 bits
  std::string_view Bytes(std::size_t size);
  // Reads a text; one longer than `max_bytes` is malformed.
  std::string_view Text(std::size_t max_bytes);
  // Skips to a multiple of kAlignment; the skipped bytes must be zeros.
  void SkipPadding();
  void Fail() { ok_ = false; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace fieldcost::recording
