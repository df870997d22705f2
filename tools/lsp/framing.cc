#include "tools/lsp/framing.h"

#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {
namespace {

constexpr std::string_view kEndOfHeader = "\r\n\r\n";
constexpr std::string_view kEndOfLine = "\r\n";
constexpr std::size_t kMaxShownBytes = 60;

constexpr std::string_view kBlanks = " \t";

Error BadHeader(std::string_view untrusted_line, std::string_view why) {
  return Fail(ErrorCode::kCorrupt, "message header '{}': {}",
              EscapeControl(untrusted_line.substr(0, kMaxShownBytes)), why);
}

Status CheckContentType(std::string_view untrusted_line, std::string_view value) {
  const std::string lower = LowerCase(value);
  const std::size_t mark = lower.find("charset=");
  if (mark == std::string::npos) return {};
  std::string_view charset = Trim(std::string_view(lower).substr(mark + 8), kBlanks);
  if (charset.size() >= 2 && charset.front() == '"' && charset.back() == '"') {
    charset = charset.substr(1, charset.size() - 2);
  }
  if (charset == "utf-8" || charset == "utf8") return {};
  return BadHeader(untrusted_line, "only utf-8 is understood");
}

// The Content-Length among the lines of a header block.
Result<std::uint64_t> ParseHeader(std::string_view untrusted_block) {
  std::optional<std::uint64_t> length;
  while (!untrusted_block.empty()) {
    const std::size_t end = untrusted_block.find(kEndOfLine);
    const std::string_view line = untrusted_block.substr(0, end);
    untrusted_block.remove_prefix(end == std::string_view::npos ? untrusted_block.size()
                                                                : end + kEndOfLine.size());
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) return BadHeader(line, "no name and value");
    const std::string name = LowerCase(line.substr(0, colon));
    const std::string_view value = Trim(line.substr(colon + 1), kBlanks);
    if (name == "content-type") FIELDCOST_TRY(CheckContentType(line, value));
    if (name != "content-length") continue;
    if (length) return BadHeader(line, "there is a second length");
    length = ParseUint64(value);
    if (!length) return BadHeader(line, "not a length");
  }
  if (!length) return Fail(ErrorCode::kCorrupt, "message header without Content-Length");
  return *length;
}

}  // namespace

void Framer::Feed(std::string_view untrusted_bytes) {
  const std::uint64_t skipped = std::min<std::uint64_t>(skip_, untrusted_bytes.size());
  skip_ -= skipped;
  untrusted_bytes.remove_prefix(static_cast<std::size_t>(skipped));
  if (broken_) return;
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  buffer_ += untrusted_bytes;
}

Result<bool> Framer::ReadHeader() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  const std::size_t end = rest.substr(0, kMaxHeaderBytes).find(kEndOfHeader);
  if (end == std::string_view::npos) {
    if (rest.size() < kMaxHeaderBytes) return false;
    return BadHeader(rest, "it does not end");
  }
  FIELDCOST_ASSIGN(const std::uint64_t length, ParseHeader(rest.substr(0, end)));
  start_ += end + kEndOfHeader.size();
  if (length <= kMaxMessageBytes) {
    content_left_ = length;
    return true;
  }
  const std::uint64_t here = std::min<std::uint64_t>(length, buffer_.size() - start_);
  start_ += static_cast<std::size_t>(here);
  skip_ = length - here;
  return Fail(ErrorCode::kTooLarge, "a message of {} bytes; at most {} are read", length,
              kMaxMessageBytes);
}

Result<std::optional<std::string>> Framer::Next() {
  if (broken_) return Fail(ErrorCode::kCorrupt, "the stream of messages is out of sync");
  if (!content_left_) {
    const Result<bool> header = ReadHeader();
    if (!header) {
      broken_ = header.error().code != ErrorCode::kTooLarge;
      return Error(header.error());
    }
    if (!*header) return std::optional<std::string>();
  }
  const std::size_t length = static_cast<std::size_t>(*content_left_);
  if (buffer_.size() - start_ < length) return std::optional<std::string>();
  std::string content = buffer_.substr(start_, length);
  start_ += length;
  content_left_.reset();
  return std::optional<std::string>(std::move(content));
}

std::string Frame(std::string_view json) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", json.size(), json);
}

}  // namespace fieldcost::lsp
