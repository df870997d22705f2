#pragma once

#include <string_view>

namespace fieldcost::lsp {

// What the light lexer has to know about a language.
enum class Family {
  kC,       // C and its dialects: names of C
  kCxx,     // C++, Objective-C++, CUDA: names of C, and qualified ones
  kPython,  // attributes of what ctypes or cffi has loaded
  kOther,   // any identifier is a plain symbol
};

struct Language {
  Family family = Family::kOther;
  std::string_view line_comment = "//";  // empty = none
  std::string_view block_begin = "/*";
  std::string_view block_end = "*/";
  std::string_view quotes = "\"'";  // characters that begin and end a text
  bool quoted_lines = false;        // whether such a text may go over several lines
};

// Goes by the client's language id ("c", "cpp", "python" ...).
Language LanguageOf(std::string_view untrusted_id);

}  // namespace fieldcost::lsp
