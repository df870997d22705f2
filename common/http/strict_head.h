#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "common/http/http_message.h"

namespace fieldcost::http {

// The server's only parser of request heads (request line and headers, RFC 9112). Pure functions,
// so that they can be fuzzed. They accept less than the RFC allows: anything that two parsers on
// the path might interpret differently is refused, and the connection is closed.

inline constexpr std::size_t kMaxTargetBytes = 2048;
inline constexpr std::size_t kMaxHeaderLines = 64;

// Searches for the end of a head in bytes that arrive in pieces.
struct HeadScan {
  enum class Outcome { kIncomplete, kComplete, kMalformed };
  std::size_t scanned = 0;  // bytes before this are valid; the next call continues here

  // kComplete: the head is the first `scanned` bytes, including the empty line. kMalformed: a
  // control character, a CR without LF or an LF without CR. `untrusted_bytes` are all bytes
  // received since the head's start.
  Outcome Scan(std::string_view untrusted_bytes);
};

struct Head {
  std::string method;  // GET, HEAD or POST
  std::string target;
  Headers headers;                 // all, in their order
  std::size_t content_length = 0;  // at most max_body_bytes
  bool close = false;              // the client sent Connection: close
  bool expects_continue = false;   // the client waits for 100 before it sends the body
};

// The response to a request that is refused.
struct Refusal {
  int status;
  std::string reason;  // one line, does not quote the request
};

// Parses a complete head (as found by HeadScan). Refuses with
//   400 anything that is not HTTP, other than one valid Host, folded headers, repeated or invalid
//       Content-Length, Content-Length together with Transfer-Encoding, a body on GET or HEAD,
//       an invalid target;
//   405 other methods;  411 no Content-Length on POST, or any Transfer-Encoding;
//   413 Content-Length above max_body_bytes;  414 target above kMaxTargetBytes;
//   417 an Expect other than 100-continue;  431 more than kMaxHeaderLines;  505 not HTTP/1.1.
tl::expected<Head, Refusal> ParseHead(std::string_view untrusted_head, std::size_t max_body_bytes);

// RFC 9110 §5.6.2.
bool IsToken(std::string_view text);
// Printable ASCII, spaces and tabs.
bool IsFieldValue(std::string_view text);
// Origin-form: an absolute path and an optional query, printable ASCII, no fragment, no backslash,
// valid percent escapes; the path has no "..", no leading "//", no escaped dot, slash, backslash or
// control character.
bool IsOriginForm(std::string_view text);

}  // namespace fieldcost::http
