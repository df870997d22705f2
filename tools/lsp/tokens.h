#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/lsp/language.h"

namespace fieldcost::lsp {

struct Token {
  enum class Kind : std::uint8_t {
    kName,
    kKeyword,
    kScope,  // "::"
    kArrow,  // "->"
    kMark,   // any other character
    kOther,  // a number or a literal
  };
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  Kind kind = Kind::kOther;
  char mark = 0;     // the character of a kMark
  bool far = false;  // too far from the start of its line to be shown
};

// Splits a text into tokens. Skips comments, whitespace and, in C and C++, #include, #pragma and
// the like; "define" and "undef" in such lines are keywords. Reads up to kMaxTokens.
std::vector<Token> Tokenise(std::string_view untrusted_text, const Language& language);

inline std::string_view TextOf(std::string_view text, const Token& token) {
  return text.substr(token.begin, token.end - token.begin);
}

}  // namespace fieldcost::lsp
