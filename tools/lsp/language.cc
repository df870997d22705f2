#include "tools/lsp/language.h"

#include <algorithm>
#include <array>

namespace fieldcost::lsp {
namespace {

template <std::size_t N>
bool IsOneOf(std::string_view id, const std::array<std::string_view, N>& ids) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

constexpr std::array<std::string_view, 4> kC = {"c", "objective-c", "objc", "opencl"};
constexpr std::array<std::string_view, 7> kCxx = {"cpp",  "c++",      "objective-cpp", "objcpp",
                                                  "cuda", "cuda-cpp", "arduino"};
constexpr std::array<std::string_view, 9> kHash = {"ruby",  "perl", "shellscript", "sh",    "r",
                                                   "julia", "tcl",  "nim",         "elixir"};
constexpr std::array<std::string_view, 5> kDashes = {"lua", "haskell", "ada", "sql", "vhdl"};
constexpr std::array<std::string_view, 3> kBraces = {"pascal", "delphi", "modula2"};

}  // namespace

Language LanguageOf(std::string_view untrusted_id) {
  if (IsOneOf(untrusted_id, kC)) return {.family = Family::kC};
  if (IsOneOf(untrusted_id, kCxx)) return {.family = Family::kCxx};
  if (untrusted_id == "python") {
    return {.family = Family::kPython, .line_comment = "#", .block_begin = "", .block_end = ""};
  }
  if (IsOneOf(untrusted_id, kHash)) {
    return {.line_comment = "#", .block_begin = "", .block_end = "", .quoted_lines = true};
  }
  if (IsOneOf(untrusted_id, kDashes)) {
    return {.line_comment = "--", .block_begin = "", .block_end = ""};
  }
  if (IsOneOf(untrusted_id, kBraces)) {
    return {.block_begin = "{", .block_end = "}", .quotes = "'"};
  }
  // Go, JavaScript and TypeScript have a third kind of string literal.
  return {.quotes = "\"'`"};
}

}  // namespace fieldcost::lsp
