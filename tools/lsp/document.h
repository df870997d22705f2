#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "tools/lsp/text_position.h"

namespace fieldcost::lsp {

// One edit of a document; without a range, the text replaces the whole document.
struct DocumentChange {
  std::optional<Range> range;
  std::string text;
};

// A copy of a text that is open in the editor, updated by each edit. Lines end with \n, \r\n or \r.
// Not thread-safe.
class Document {
 public:
  Document(std::string language, std::string untrusted_text, PositionEncoding encoding);

  // Applies edits one after the other; each range refers to the text left by the previous edit. A
  // position past the end of a line or of the text means that end. kInvalidArgument if a range ends
  // before it starts, kTooLarge if the text exceeds kMaxDocumentBytes: then the document is not
  // usable() until its full text is sent again, since it may differ from the editor's.
  Status Apply(std::span<const DocumentChange> untrusted_changes);

  // Marks the text as unknown until its full text is sent again.
  void Forget();

  bool usable() const { return usable_; }
  const std::string& language() const { return language_; }  // the client's language id: "c", "cpp"
  const std::string& text() const { return text_; }

  std::size_t OffsetOf(Position untrusted_position) const;
  // REQUIRES: offset <= text().size()
  Position PositionOf(std::size_t offset) const;
  Range RangeOf(std::size_t begin, std::size_t end) const {
    return {PositionOf(begin), PositionOf(end)};
  }

 private:
  Status ApplyOne(const DocumentChange& untrusted_change);
  void Replace(std::string untrusted_text);
  // Recomputes the starts of lines from number `line` on.
  void FindLines(std::size_t line);
  std::string_view Line(std::size_t line) const;  // without its end

  std::string language_;
  std::string text_;
  PositionEncoding encoding_;
  std::vector<std::uint32_t> line_starts_;
  bool usable_ = true;
};

}  // namespace fieldcost::lsp
