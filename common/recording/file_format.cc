#include "common/recording/file_format.h"

#include "common/base/check.h"
#include "common/base/crc32c.h"
#include "common/recording/bytes.h"
#include "common/recording/recording_limits.h"

// file    := header frame*
// header  := magic version:u32 flags:u32 created_ns:u64 monotonic_ns:u64 ticks:u64 ns_per_tick:u64
//            zeros*12 crc:u32                                  ; of the 60 bytes before
// frame   := type:u32 length:u32 crc:u32 number:u32 payload zeros
//            ; at most kMaxFramePayloadBytes; zeros to a multiple of 8; number: 0, 1, 2 ...;
//            ; crc: CRC-32C of the frame without these four bytes, with the zeros
// Integers are little endian.
namespace fieldcost::recording {
namespace {

// Like PNG's, detects transfers in text mode and those that drop the eighth bit.
constexpr std::string_view kMagic(
    "\x89"
    "fct\r\n\x1a\n",
    8);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderCrcAt = kHeaderBytes - sizeof(std::uint32_t);
constexpr std::size_t kCrcAt = 8;  // in a frame's head: type, length, checksum, number

std::uint32_t CrcOf(std::string_view frame) {
  const std::uint32_t before = Crc32c(frame.substr(0, kCrcAt));
  return Crc32c(frame.substr(kCrcAt + sizeof(std::uint32_t)), before);
}

}  // namespace

std::string EncodeHeader(const ClockAnchors& anchors) {
  std::string out(kMagic);
  ByteWriter bytes(out);
  bytes.Fixed(kVersion);
  bytes.Fixed(std::uint32_t{0});  // flags: none defined yet
  bytes.Fixed(anchors.created_ns);
  bytes.Fixed(anchors.monotonic_ns);
  bytes.Fixed(anchors.ticks);
  bytes.Fixed(anchors.ns_per_tick);
  out.resize(kHeaderCrcAt);
  bytes.Fixed(Crc32c(out));
  return out;
}

bool LooksLikeRecording(std::string_view untrusted_bytes) {
  return untrusted_bytes.substr(0, kMagic.size()) == kMagic;
}

Result<ClockAnchors> DecodeHeader(std::string_view untrusted_bytes) {
  if (!LooksLikeRecording(untrusted_bytes)) {
    return Fail(ErrorCode::kInvalidArgument, "not a recording");
  }
  if (untrusted_bytes.size() < kHeaderBytes) {
    return Fail(ErrorCode::kCorrupt, "the header ends after {} bytes", untrusted_bytes.size());
  }
  const std::string_view header = untrusted_bytes.substr(0, kHeaderBytes);
  ByteReader bytes(header.substr(kMagic.size()));
  const auto version = bytes.Fixed<std::uint32_t>();
  const auto flags = bytes.Fixed<std::uint32_t>();
  if (Crc32c(header.substr(0, kHeaderCrcAt)) !=
      LoadAt<std::uint32_t>(header.data() + kHeaderCrcAt)) {
    return Fail(ErrorCode::kCorrupt, "the header's checksum differs");
  }
  if (version != kVersion || flags != 0) {
    return Fail(ErrorCode::kUnsupported,
                "format version {}, flags {:x}; this program reads only version {} without flags",
                version, flags, kVersion);
  }
  ClockAnchors anchors;
  anchors.created_ns = bytes.Fixed<std::uint64_t>();
  anchors.monotonic_ns = bytes.Fixed<std::uint64_t>();
  anchors.ticks = bytes.Fixed<std::uint64_t>();
  anchors.ns_per_tick = bytes.Fixed<std::uint64_t>();
  return anchors;
}

std::string_view Name(FrameType type) {
  switch (type) {
    case FrameType::kDictionary:
      return "dictionary";
    case FrameType::kMetrics:
      return "metrics";
    case FrameType::kRun:
      return "run";
    case FrameType::kCount:
      return "count";
    case FrameType::kBlock:
      return "block";
    case FrameType::kGroup:
      return "group";
    case FrameType::kVector:
      return "vector";
    case FrameType::kTree:
      return "tree";
    case FrameType::kIndex:
      return "index";
    case FrameType::kThreads:
      return "threads";
  }
  return "unknown";
}

std::uint64_t FileFrame::end() const { return offset + kFrameHeadBytes + Padded(payload.size()); }

void AppendFrame(FrameType type, std::uint32_t number, std::string_view payload, std::string& out) {
  FIELDCOST_CHECK(payload.size() <= kMaxFramePayloadBytes);
  const std::size_t begin = out.size();
  ByteWriter bytes(out);
  bytes.Fixed(static_cast<std::uint32_t>(type));
  bytes.Fixed(static_cast<std::uint32_t>(payload.size()));
  bytes.Fixed(std::uint32_t{0});
  bytes.Fixed(number);
  out += payload;
  out.resize(begin + kFrameHeadBytes + Padded(payload.size()));
  const std::uint32_t crc = CrcOf(std::string_view(out).substr(begin));
  std::memcpy(out.data() + begin + kCrcAt, &crc, sizeof crc);
}

Result<FileFrame> FrameAt(std::string_view untrusted_file, std::uint64_t offset, bool was_checked) {
  if (offset > untrusted_file.size() || offset % kAlignment != 0 ||
      untrusted_file.size() - offset < kFrameHeadBytes) {
    return Fail(ErrorCode::kCorrupt, "the file ends in the head of a frame");
  }
  const std::string_view rest = untrusted_file.substr(offset);
  const auto length = LoadAt<std::uint32_t>(rest.data() + 4);
  if (length > kMaxFramePayloadBytes) {
    return Fail(ErrorCode::kCorrupt, "a frame claims {} bytes", length);
  }
  if (rest.size() - kFrameHeadBytes < Padded(length)) {
    return Fail(ErrorCode::kCorrupt, "the file ends in a frame of {} bytes", length);
  }
  if (!was_checked && CrcOf(rest.substr(0, kFrameHeadBytes + Padded(length))) !=
                          LoadAt<std::uint32_t>(rest.data() + kCrcAt)) {
    return Fail(ErrorCode::kCorrupt, "a frame's checksum differs");
  }
  return FileFrame{.type = static_cast<FrameType>(LoadAt<std::uint32_t>(rest.data())),
                   .number = LoadAt<std::uint32_t>(rest.data() + 12),
                   .offset = offset,
                   .payload = rest.substr(kFrameHeadBytes, length)};
}

}  // namespace fieldcost::recording
