#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/symbols/dwarf_module.h"
#include "common/base/file.h"
#include "common/base/result.h"

namespace fieldcost::symbols {

// Messages between a process that needs names and its helper, over a stream socket: the number of
// bytes (32 bits), then numbers of 8 bytes and texts (number of bytes, bytes), in the machine's
// byte order, since both ends are the same program. Each side treats received data as hostile.
inline constexpr std::uint32_t kMostMessageBytes = 64U << 20;
inline constexpr std::uint64_t kMostNameBytes = 64 << 10;  // per text

class MessageWriter {
 public:
  MessageWriter& Number(std::uint64_t value);
  MessageWriter& Text(std::string_view text);
  MessageWriter& Append(const MessageWriter& more);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads from the beginning; ok() becomes false when data is missing or invalid.
class MessageReader {
 public:
  explicit MessageReader(std::string_view untrusted_bytes) : rest_(untrusted_bytes) {}
  std::uint64_t Number();
  std::string Text(std::size_t most_bytes);
  bool ok() const { return ok_; }
  // Returns whether everything was read and nothing was missing.
  bool IsAtEnd() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Returns the functions in an answer, innermost first; nullopt if it is not such an answer.
std::optional<std::vector<SourceFrame>> FramesIn(std::string_view untrusted_answer);

// Sends one message, with a descriptor unless `fd` is -1. Never raises SIGPIPE. kUnavailable: the
// other side is gone.
Status SendMessage(int socket, std::string_view bytes, int fd);

struct Message {
  std::string bytes;
  UniqueFd fd;  // invalid if the message had no descriptor
};
// Waits for the next message, at most `wait_ms` for each piece of it (-1: indefinitely). Errors:
// kUnavailable if the other side is gone; kDeadlineExceeded; kTooLarge.
Result<Message> ReceiveMessage(int socket, int wait_ms);

}  // namespace fieldcost::symbols
