#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/draw/terminal.h"

namespace fieldcost::draw {

// Function names for people: "module!function", or the function alone. Accepts any bytes. Pure;
// thread-safe.

// Replaces names of the standard library by those used in source code: std::string for
// std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >.
std::string WithStandardNames(std::string_view untrusted_name);

// Escapes the name and shortens it to `width`. Keeps what identifies the function as long as
// possible: drops first its arguments, then its template arguments, its outer scopes one by one,
// the module, and only then letters of its own name:
//   libvault.so!vault::Compressor::pack<char>(std::vector<char> const&)
//   libvault.so!vault::Compressor::pack
//   libvault.so!…::pack
//   pack
// Go functions are shortened in the same way: "raft.(*node).step", "….(*node).step", "step". In a
// stack, "outer;inner", the outer functions are dropped after all arguments. The origin of a name
// (its source file, line or build-id) is dropped before anything else: "f (file.c)",
// "JS:*f /a.js:5:18", "libz.so+0x5d80 [1f95d549]". Leading blanks, such as a tree's indentation,
// stay unless they leave too little room for up to 16 columns of the function's own name.
std::string ShortenName(std::string_view untrusted_name, std::size_t max_width, const Style& style);

// The parts that ShortenName() drops, in order; for pages whose scripts shorten names to the screen
// by the same rule (tools/report/page_parts/short_names.js).
struct NamePieces {
  std::size_t module_bytes = 0;     // from the start, including the '!'
  std::size_t whole_bytes = 0;      // from the start, without the origin
  std::size_t named_bytes = 0;      // from the start, without arguments and origin
  std::vector<std::string> scopes;  // with their separators: "vault::", "(*node)."
  // The function's own name or, for a place without a function but with an origin, "libz.so!+0x12".
  // Empty: only letters in the middle can be dropped.
  std::string name;
};
// REQUIRES: the name is escaped and does not begin with a blank.
NamePieces PiecesOf(std::string_view escaped_name);

// Shortens an escaped path to at most `max_width` columns. Keeps its end, if possible from a '/' on
// ("…/main.cc:61").
std::string ShortenPath(std::string_view path, std::size_t max_width, const Style& style);

// Shortens an escaped library name: drops first ".so" and everything after it ("libsqlite3"), then
// letters in the middle.
std::string ShortenLibrary(std::string_view name, std::size_t max_width, const Style& style);

// Shortens an escaped remark: drops the part after a comma, then its last words ("heavy-tailed",
// "grows with…").
std::string ShortenRemark(std::string_view remark, std::size_t max_width, const Style& style);

}  // namespace fieldcost::draw
