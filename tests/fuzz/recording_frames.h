#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/recording/bytes.h"
#include "common/recording/recording.h"

// A recording with the input's frames and correct checksums; each frame is type:u8 length:u16
// byte*.
inline std::string RecordingOfFrames(std::string_view untrusted_bytes) {
  using namespace fieldcost::recording;
  std::string file = EncodeHeader({});
  ByteReader bytes(untrusted_bytes);
  for (std::uint32_t number = 0; bytes.left() >= 3; ++number) {
    const auto type = bytes.Fixed<std::uint8_t>();
    const auto length = bytes.Fixed<std::uint16_t>();
    AppendFrame(static_cast<FrameType>(type), number,
                bytes.Bytes(std::min<std::size_t>(length, bytes.left())), file);
  }
  return file;
}
