#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::lsp {

// Cuts a stream of bytes into messages (LSP 3.17, "Base Protocol"): header lines that end in CRLF,
// an empty one, then Content-Length bytes of JSON. Not thread-safe; holds at most one message and
// what was fed at once.
class Framer {
 public:
  void Feed(std::string_view untrusted_bytes);

  // The next message's content, nullopt if its end has not come yet. Errors: kTooLarge (once for a
  // message above kMaxMessageBytes; it is skipped, and what follows is read), kCorrupt (a header
  // that is none: nobody knows where the next message begins, so this is the end of the stream).
  Result<std::optional<std::string>> Next();

 private:
  // False until the whole header block has come.
  Result<bool> ReadHeader();

  std::string buffer_;
  std::size_t start_ = 0;                      // what has been used of it
  std::optional<std::uint64_t> content_left_;  // set while inside a message
  std::uint64_t skip_ = 0;                     // bytes of a message that was too large
  bool broken_ = false;
};

// A message with its header.
std::string Frame(std::string_view json);

}  // namespace fieldcost::lsp
