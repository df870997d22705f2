#pragma once

#include <cstdint>
#include <optional>

#include "agent/unwind/byte_cursor.h"

namespace fieldcost::unwind {

inline constexpr std::uint8_t kPointerOmitted = 0xff;

// Reads a pointer as encoded in .eh_frame and .eh_frame_hdr (LSB 5.0 core, DWARF exception header
// encoding). `place` is the address of the cursor's next byte, `data_base` that of the header.
// Returns nullopt if the encoding is unknown or needs the loader, or if bytes are missing.
// Arithmetic is modulo 2^64.
inline std::optional<std::uint64_t> ReadEncodedPointer(ByteCursor& cursor, std::uint8_t encoding,
                                                       std::uint64_t place,
                                                       std::uint64_t data_base) {
  const auto widened = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  std::uint64_t value = 0;
  // The low half is the format: DW_EH_PE_absptr, udata8, sdata8; uleb128, udata2 ...
  switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
      value = cursor.Read<std::uint64_t>();
      break;
    case 0x01:
      value = cursor.Uleb128();
      break;
    case 0x02:
      value = cursor.Read<std::uint16_t>();
      break;
    case 0x03:
      value = cursor.Read<std::uint32_t>();
      break;
    case 0x09:
      value = widened(cursor.Sleb128());
      break;
    case 0x0a:
      value = widened(cursor.Read<std::int16_t>());
      break;
    case 0x0b:
      value = widened(cursor.Read<std::int32_t>());
      break;
    default:
      return std::nullopt;
  }
  // The high half states what the value is relative to: nothing, DW_EH_PE_pcrel, datarel.
  switch (encoding & 0xf0) {
    case 0x00:
      break;
    case 0x10:
      value += place;
      break;
    case 0x30:
      value += data_base;
      break;
    default:
      return std::nullopt;
  }
  if (!cursor.ok()) return std::nullopt;
  return value;
}

}  // namespace fieldcost::unwind
