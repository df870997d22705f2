#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::lsp {

// Splits a stream of bytes into messages (LSP 3.17, "Base Protocol"): header lines that end with
// CRLF, an empty line, then Content-Length bytes of JSON. Not thread-safe; buffers at most one
// message and one piece of input.
class Framer {
 public:
  void Feed(std::string_view untrusted_bytes);

  // Returns the next message's content, nullopt if it is not complete yet. Errors: kTooLarge (once
  // per message above kMaxMessageBytes, which is skipped; reading then continues), kCorrupt
  // (invalid header: the start of the next message is unknown, so the stream ends here).
  Result<std::optional<std::string>> Next();

 private:
  // False until the header block is complete.
  Result<bool> ReadHeader();

  std::string buffer_;
  std::size_t start_ = 0;                      // bytes already consumed
  std::optional<std::uint64_t> content_left_;  // set while inside a message
  std::uint64_t skip_ = 0;                     // remaining bytes of a message that is too large
  bool broken_ = false;
};

// Adds the header to a message.
std::string Frame(std::string_view json);

}  // namespace fieldcost::lsp
