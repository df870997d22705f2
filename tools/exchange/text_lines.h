#pragma once

#include <algorithm>
#include <string_view>

#include "common/base/check.h"
#include "common/base/result.h"
#include "tools/exchange/exchange_limits.h"

namespace fieldcost::exchange {

// The lines of a text, without their ends ("\n" or "\r\n").
class TextLines {
 public:
  explicit TextLines(std::string_view untrusted_text) : rest_(untrusted_text) {}

  bool at_end() const { return rest_.empty(); }
  std::size_t number() const { return number_; }  // of the last line taken, from 1

  // kTooLarge beyond kMaxLineBytes. REQUIRES: !at_end().
  Result<std::string_view> Take() {
    FIELDCOST_CHECK(!at_end());
    ++number_;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    if (end > kMaxLineBytes) {
      return Fail(ErrorCode::kTooLarge, "line {} has more than {} bytes", number_, kMaxLineBytes);
    }
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

// Removes and returns the first word; empty if none.
inline std::string_view TakeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

}  // namespace fieldcost::exchange
