#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lsp/language.h"

namespace fieldcost::lsp {

// An identifier in code: not a keyword, and not in a comment, literal or include line.
struct Name {
  std::uint32_t begin = 0;      // of the last component
  std::uint32_t end = 0;        // just past it
  std::uint32_t qualified = 0;  // start of "a::b::name"; == begin if there are no scopes
  bool call = false;            // "(" follows
  bool member = false;          // follows "." or "->"
  bool local = false;           // declared by the file itself, so not a library's function

  bool operator==(const Name&) const = default;
};

struct LexedText {
  std::vector<Name> names;  // ascending
  // C++: namespaces that the file is in or uses ("a", "a::b"), for names without a scope.
  std::set<std::string, std::less<>> used_namespaces;
};

// Finds the names in a text. This is a light lexer, not a parser: it recognises comments, literals
// (including raw ones), preprocessor lines, and scopes by braces. A name counts as local from its
// declaration to the end of the scope: variables and parameters ("type name" before = ; , ) [ { :),
// macros, and static functions from their definition or declaration to the end of the file. Never
// fails; linear time.
LexedText Lex(std::string_view untrusted_text, const Language& language);

// The name that contains `offset` or ends there; nullptr if none.
const Name* NameAt(const LexedText& lexed, std::size_t offset);

}  // namespace fieldcost::lsp
