#include "common/http/strict_head.h"

#include <algorithm>
#include <optional>

#include "common/base/ascii.h"
#include "common/base/check.h"
#include "common/base/text.h"

// head         := request-line header* CRLF
// request-line := ("GET" | "HEAD" | "POST") " " target " HTTP/1.1" CRLF
// header       := token ":" blank* value blank* CRLF        ; blank: space or tab
// target, token and value: see IsOriginForm(), IsToken() and IsFieldValue(). Limits:
// kMaxTargetBytes, kMaxHeaderLines, and for the whole head ServerOptions::max_header_bytes.
// Framing: one Host; with POST, one Content-Length of decimal digits, at most max_body_bytes.
namespace fieldcost::http {
namespace {

tl::unexpected<Refusal> Refuse(int status, std::string_view reason) {
  return tl::unexpected(Refusal{status, std::string(reason)});
}

bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

// Removes a line from the front of `rest`; returns it without its CRLF. REQUIRES: there is one.
std::string_view TakeLine(std::string_view& rest) {
  const std::size_t end = rest.find("\r\n");
  FIELDCOST_CHECK(end != std::string_view::npos);
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return line;
}

constexpr std::string_view kBlanks = " \t";

// A host name or address with an optional port: RFC 3986's reg-name without escapes, or [IPv6].
bool IsHost(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos) {
    const std::string_view port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 || !AreAll(port, IsDigit)) return false;
    text = text.substr(0, colon);
  }
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    return std::all_of(text.begin() + 1, text.end() - 1,
                       [](char c) { return IsHexDigit(c) || c == ':' || c == '.'; });
  }
  return !text.empty() && text.size() <= 255 &&
         AreAll(text, [](char c) { return IsWordCharacter(c) || c == '-' || c == '.'; });
}

// Whether a comma-separated header value contains the word.
bool HasWord(std::string_view value, std::string_view word) {
  for (;;) {
    const std::size_t comma = value.find(',');
    if (EqualNames(Trim(value.substr(0, comma), kBlanks), word)) return true;
    if (comma == std::string_view::npos) return false;
    value.remove_prefix(comma + 1);
  }
}

tl::expected<void, Refusal> ParseRequestLine(std::string_view line, Head& head) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refuse(400, "bad request line");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!IsToken(method)) return Refuse(400, "bad request line");
  if (version != "HTTP/1.1") {
    const bool other = version.size() >= 6 && version.starts_with("HTTP/") && IsDigit(version[5]);
    return other ? Refuse(505, "only HTTP/1.1 is supported") : Refuse(400, "bad request line");
  }
  if (target.size() > kMaxTargetBytes) return Refuse(414, "target is too long");
  if (!IsOriginForm(target)) return Refuse(400, "bad target");
  if (method != "GET" && method != "HEAD" && method != "POST") {
    return Refuse(405, "only GET, HEAD and POST are supported");
  }
  head.method = method;
  head.target = target;
  return {};
}

struct Framing {
  std::size_t hosts = 0;
  std::size_t transfer_encodings = 0;
  std::size_t content_lengths = 0;
  std::string_view content_length;
};

tl::expected<void, Refusal> ParseHeader(std::string_view line, Head& head, Framing& framing) {
  if (line.front() == ' ' || line.front() == '\t') return Refuse(400, "folded header");
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Refuse(400, "header without a colon");
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = Trim(line.substr(colon + 1), kBlanks);
  if (!IsToken(name)) return Refuse(400, "bad header name");
  if (!IsFieldValue(value)) return Refuse(400, "bad header value");
  if (EqualNames(name, "Host")) {
    ++framing.hosts;
    if (!IsHost(value)) return Refuse(400, "bad Host");
  } else if (EqualNames(name, "Transfer-Encoding")) {
    ++framing.transfer_encodings;
  } else if (EqualNames(name, "Content-Length")) {
    ++framing.content_lengths;
    framing.content_length = value;
  } else if (EqualNames(name, "Connection")) {
    head.close = head.close || HasWord(value, "close");
  } else if (EqualNames(name, "Expect")) {
    if (!EqualNames(value, "100-continue")) return Refuse(417, "unknown expectation");
    head.expects_continue = true;
  }
  head.headers.emplace_back(name, value);
  return {};
}

tl::expected<void, Refusal> CheckFraming(const Framing& framing, std::size_t max_body_bytes,
                                         Head& head) {
  if (framing.hosts != 1) return Refuse(400, "exactly one Host is needed");
  if (framing.content_lengths > 1) return Refuse(400, "repeated Content-Length");
  if (framing.transfer_encodings > 0) {
    return framing.content_lengths > 0
               ? Refuse(400, "Content-Length together with Transfer-Encoding")
               : Refuse(411, "send a Content-Length instead of a Transfer-Encoding");
  }
  const bool post = head.method == "POST";
  if (framing.content_lengths == 0) {
    return post ? Refuse(411, "Content-Length is needed") : tl::expected<void, Refusal>{};
  }
  const std::string_view digits = framing.content_length;
  const bool decimal = !digits.empty() && AreAll(digits, IsDigit);
  if (!decimal || (digits.size() > 1 && digits.front() == '0')) {
    return Refuse(400, "Content-Length is not a number");
  }
  const std::optional<std::uint64_t> length = ParseUint64(digits);
  if (!post && length != std::uint64_t{0}) return Refuse(400, "only POST may have a body");
  if (!length || *length > max_body_bytes) return Refuse(413, "body is too large");
  head.content_length = static_cast<std::size_t>(*length);
  return {};
}

}  // namespace

HeadScan::Outcome HeadScan::Scan(std::string_view untrusted_bytes) {
  while (scanned < untrusted_bytes.size()) {
    const char c = untrusted_bytes[scanned];
    if (c == '\r') {
      const std::string_view rest = untrusted_bytes.substr(scanned);
      if (rest.size() == 1) return Outcome::kIncomplete;
      if (rest[1] != '\n') return Outcome::kMalformed;
      if (rest.size() < 4 && std::string_view("\r\n\r\n").starts_with(rest)) {
        return Outcome::kIncomplete;  // an empty line may follow: continue from here
      }
      scanned += 2;
      if (rest.starts_with("\r\n\r\n")) {
        scanned += 2;
        return Outcome::kComplete;
      }
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t') || byte == 0x7f) return Outcome::kMalformed;
    ++scanned;
  }
  return Outcome::kIncomplete;
}

tl::expected<Head, Refusal> ParseHead(std::string_view untrusted_head, std::size_t max_body_bytes) {
  std::string_view rest = untrusted_head;
  if (!rest.ends_with("\r\n\r\n")) return Refuse(400, "bad request");
  Head head;
  if (auto parsed = ParseRequestLine(TakeLine(rest), head); !parsed) {
    return tl::unexpected(parsed.error());
  }
  Framing framing;
  for (std::size_t lines = 0;; ++lines) {
    const std::string_view line = TakeLine(rest);
    if (line.empty()) break;
    if (lines == kMaxHeaderLines) return Refuse(431, "too many headers");
    if (auto parsed = ParseHeader(line, head, framing); !parsed) {
      return tl::unexpected(parsed.error());
    }
  }
  if (!rest.empty()) return Refuse(400, "bad request");
  if (auto checked = CheckFraming(framing, max_body_bytes, head); !checked) {
    return tl::unexpected(checked.error());
  }
  return head;
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsLetterOrDigit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

bool IsFieldValue(std::string_view text) {
  return AreAll(text, [](char c) { return IsVisible(c) || c == ' ' || c == '\t'; });
}

bool IsOriginForm(std::string_view text) {
  if (!text.starts_with('/') || text.starts_with("//")) return false;
  if (!AreAll(text, [](char c) { return IsVisible(c) && c != '#' && c != '\\'; })) return false;
  const std::string_view path = text.substr(0, text.find('?'));
  if (path.find("..") != std::string_view::npos) return false;
  for (std::size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 3)) {
    const std::optional<std::string> escaped = HexDecode(text.substr(i + 1, 2));
    if (!escaped || escaped->size() != 1) return false;
    const auto byte = static_cast<unsigned char>(escaped->front());
    const bool steering = byte < 0x20 || byte == 0x7f || byte == '.' || byte == '/' || byte == '\\';
    if (i < path.size() && steering) return false;
  }
  return true;
}

}  // namespace fieldcost::http
