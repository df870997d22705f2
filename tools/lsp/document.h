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

// One edit of a document; without a range the text is all of it.
struct DocumentChange {
  std::optional<Range> range;
  std::string text;
};

// A text that an editor has open, kept equal to it edit by edit. Lines end at \n, \r\n or \r. Not
// thread-safe.
class Document {
 public:
  Document(std::string language, std::string untrusted_text, PositionEncoding encoding);

  // Applies edits one after the other; each range speaks of the text that the one before left. A
  // position behind the end of a line or of the text means that end. kInvalidArgument if a range
  // ends before it starts, kTooLarge if the text passes kMaxDocumentBytes: then the document is not
  // usable() until all of it is sent again, since it may differ from the editor's.
  Status Apply(std::span<const DocumentChange> untrusted_changes);

  // The text is not known any more, until all of it is sent again.
  void Forget();

  bool usable() const { return usable_; }
  const std::string& language() const { return language_; }  // the client's id: "c", "cpp"
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
  // Finds the lines from number `line` on anew.
  void FindLines(std::size_t line);
  std::string_view Line(std::size_t line) const;  // without its end

  std::string language_;
  std::string text_;
  PositionEncoding encoding_;
  std::vector<std::uint32_t> line_starts_;
  bool usable_ = true;
};

}  // namespace fieldcost::lsp
