#pragma once

#include <string_view>

namespace fieldcost::lsp {

// The properties of a language that the lexer needs.
enum class Family {
  kC,       // C and its dialects: C names
  kCxx,     // C++, Objective-C++, CUDA: C names and qualified names
  kPython,  // attributes of libraries loaded by ctypes or cffi
  kOther,   // any identifier is a plain symbol
};

struct Language {
  Family family = Family::kOther;
  std::string_view line_comment = "//";  // empty = none
  std::string_view block_begin = "/*";
  std::string_view block_end = "*/";
  std::string_view quotes = "\"'";  // characters that delimit string literals
  bool quoted_lines = false;        // whether such literals may span lines
};

// Selects by the client's language id ("c", "cpp", "python" ...).
Language LanguageOf(std::string_view untrusted_id);

}  // namespace fieldcost::lsp
