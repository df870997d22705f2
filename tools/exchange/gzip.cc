// Gzip members (RFC 1952). Members that we write have a header without name and time, deflated
// bytes, CRC-32 and size.
#include "tools/exchange/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "common/base/units.h"

namespace fieldcost::exchange {
namespace {

constexpr std::size_t kStepBytes = 256 * kKiB;
constexpr Bytef kFirstByte = 0x1f;  // of a member
constexpr int kOnlyGzip = 15 + 16;  // the largest window; zlib's own format is refused

}  // namespace

Result<std::string> Gunzip(std::string_view untrusted_bytes, std::size_t max_decoded_bytes,
                           std::size_t* members) {
  if (untrusted_bytes.size() > std::numeric_limits<uInt>::max()) {
    return Fail(ErrorCode::kTooLarge, "{} compressed bytes", untrusted_bytes.size());
  }
  z_stream stream{};
  if (::inflateInit2(&stream, kOnlyGzip) != Z_OK) {
    return Fail(ErrorCode::kInternal, "starting zlib failed");
  }
  const std::unique_ptr<z_stream, decltype(&::inflateEnd)> ending(&stream, &::inflateEnd);
  // zlib never writes to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(untrusted_bytes.data()));
  stream.avail_in = static_cast<uInt>(untrusted_bytes.size());
  std::string content;
  std::size_t count = 1;
  int state = Z_OK;
  while (state == Z_OK) {
    const std::size_t before = content.size();
    // Reads one byte more than allowed to detect excess content.
    const std::size_t step = std::min(kStepBytes, max_decoded_bytes + 1 - before);
    content.resize(before + step);
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + before);
    stream.avail_out = static_cast<uInt>(step);
    state = ::inflate(&stream, Z_NO_FLUSH);
    content.resize(before + step - stream.avail_out);
    if (content.size() > max_decoded_bytes) {
      return Fail(ErrorCode::kTooLarge, "more than {} bytes when decompressed", max_decoded_bytes);
    }
    if (state == Z_STREAM_END && stream.avail_in != 0 && *stream.next_in == kFirstByte) {
      ++count;
      state = ::inflateReset(&stream);
    }
  }
  if (state != Z_STREAM_END) return Fail(ErrorCode::kCorrupt, "not a whole gzip file");
  const std::string_view rest = untrusted_bytes.substr(untrusted_bytes.size() - stream.avail_in);
  if (rest.find_first_not_of('\0') != std::string_view::npos) {
    return Fail(ErrorCode::kCorrupt, "bytes after the end of the gzip file");
  }
  if (members != nullptr) *members = count;
  return content;
}

Result<std::string> Gzip(std::string_view bytes) {
  constexpr int kMemoryLevel = 8;
  if (bytes.size() > std::numeric_limits<uInt>::max()) {
    return Fail(ErrorCode::kTooLarge, "{} bytes to compress", bytes.size());
  }
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kOnlyGzip, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return Fail(ErrorCode::kInternal, "starting zlib failed");
  }
  const std::unique_ptr<z_stream, decltype(&::deflateEnd)> ending(&stream, &::deflateEnd);
  std::string member(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  // zlib never writes to its input.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(member.data());
  stream.avail_out = static_cast<uInt>(member.size());
  if (::deflate(&stream, Z_FINISH) != Z_STREAM_END) {
    return Fail(ErrorCode::kInternal, "compressing with zlib failed");
  }
  member.resize(member.size() - stream.avail_out);
  return member;
}

}  // namespace fieldcost::exchange
