#include "tools/lsp/document.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {

Document::Document(std::string language, std::string untrusted_text, PositionEncoding encoding)
    : language_(std::move(language)), encoding_(encoding) {
  Replace(std::move(untrusted_text));
}

void Document::Replace(std::string untrusted_text) {
  text_ = std::move(untrusted_text);
  if (text_.size() > kMaxDocumentBytes) return Forget();
  usable_ = true;
  line_starts_.assign(1, 0);
  FindLines(0);
}

void Document::Forget() {
  usable_ = false;
  text_ = std::string();
  line_starts_.assign(1, 0);
}

void Document::FindLines(std::size_t line) {
  line_starts_.resize(line + 1);
  std::size_t at = line_starts_[line];
  while ((at = text_.find_first_of("\n\r", at)) != std::string::npos) {
    at += text_.compare(at, 2, "\r\n") == 0 ? 2 : 1;
    line_starts_.push_back(static_cast<std::uint32_t>(at));
  }
}

Status Document::Apply(std::span<const DocumentChange> untrusted_changes) {
  for (const DocumentChange& change : untrusted_changes) {
    if (const Status applied = ApplyOne(change); !applied) {
      Forget();
      return Error(applied.error());
    }
  }
  return {};
}

Status Document::ApplyOne(const DocumentChange& untrusted_change) {
  if (!untrusted_change.range) {
    Replace(untrusted_change.text);
    if (usable_) return {};
    return Fail(ErrorCode::kTooLarge, "a document of more than {} bytes", kMaxDocumentBytes);
  }
  if (!usable_) return Fail(ErrorCode::kInvalidArgument, "the document's text is not known");
  const Range& range = *untrusted_change.range;
  if (range.end < range.start) {
    return Fail(ErrorCode::kInvalidArgument, "an edit's range ends before it starts");
  }
  const std::size_t begin = OffsetOf(range.start);
  const std::size_t end = OffsetOf(range.end);
  if (text_.size() - (end - begin) + untrusted_change.text.size() > kMaxDocumentBytes) {
    return Fail(ErrorCode::kTooLarge, "a document of more than {} bytes", kMaxDocumentBytes);
  }
  const auto line = std::upper_bound(line_starts_.begin(), line_starts_.end(), begin) - 1;
  // Include the previous line: the "\r" at its end may have become part of "\r\n".
  const auto first = line - line_starts_.begin();
  text_.replace(begin, end - begin, untrusted_change.text);
  FindLines(static_cast<std::size_t>(std::max<std::ptrdiff_t>(first - 1, 0)));
  return {};
}

std::string_view Document::Line(std::size_t line) const {
  const std::size_t begin = line_starts_[line];
  const std::size_t next = line + 1 < line_starts_.size() ? line_starts_[line + 1] : text_.size();
  std::string_view content = std::string_view(text_).substr(begin, next - begin);
  if (line + 1 == line_starts_.size()) return content;
  content.remove_suffix(content.ends_with("\r\n") ? 2 : 1);
  return content;
}

std::size_t Document::OffsetOf(Position untrusted_position) const {
  if (untrusted_position.line >= line_starts_.size()) return text_.size();
  return line_starts_[untrusted_position.line] +
         ByteOffset(Line(untrusted_position.line), untrusted_position.character, encoding_);
}

Position Document::PositionOf(std::size_t offset) const {
  FIELDCOST_CHECK(offset <= text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const auto line = static_cast<std::size_t>(next - line_starts_.begin() - 1);
  const std::string_view content = Line(line);
  const std::size_t within = std::min(offset - line_starts_[line], content.size());
  return {static_cast<std::uint32_t>(line), CharacterOf(content, within, encoding_)};
}

}  // namespace fieldcost::lsp
