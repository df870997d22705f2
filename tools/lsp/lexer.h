#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lsp/language.h"

namespace fieldcost::lsp {

// An identifier in code: not in a comment, a text or an include line, and no keyword.
struct Name {
  std::uint32_t begin = 0;      // of its last component
  std::uint32_t end = 0;        // behind it
  std::uint32_t qualified = 0;  // begin of "a::b::name"; == begin if there is no scope in front
  bool call = false;            // "(" follows
  bool member = false;          // "." or "->" stands in front
  bool local = false;           // the file declares it here itself, so it is no library's

  bool operator==(const Name&) const = default;
};

struct LexedText {
  std::vector<Name> names;  // ascending
  // C++: namespaces that the file is in or uses ("a", "a::b"), for names without a scope.
  std::set<std::string, std::less<>> used_namespaces;
};

// Finds the names of a text. A light lexer, no parser: it knows comments, texts (raw ones too),
// preprocessor lines and scopes by braces. A name counts as local from its declaration to the end
// of the scope: variables and parameters ("type name" before = ; , ) [ { :), macros, and static
// functions from their definition or declaration on, everywhere in the file. Never fails; linear in
// the text.
LexedText Lex(std::string_view untrusted_text, const Language& language);

// The name that `offset` is in or behind; nullptr if there is none.
const Name* NameAt(const LexedText& lexed, std::size_t offset);

}  // namespace fieldcost::lsp
