#include "common/tree/identity.h"

#include <algorithm>
#include <array>

#include "common/base/ascii.h"
#include "common/names/cxx_name.h"
#include "common/names/rust_name.h"
#include "common/tree/tree_limits.h"

namespace fieldcost::tree {
namespace {

constexpr std::string_view kDeleted = " (deleted)";  // the suffix in /proc/PID/maps
constexpr std::string_view kSharedObject = ".so";

// GCC's and LLVM's clones that are the same function in the source code.
constexpr std::array<std::string_view, 14> kClones = {
    "isra",       "constprop", "part",        "cold",    "hot",    "unlikely", "lto_priv",
    "localalias", "llvm",      "specialized", "argprom", "__uniq", "__part",   "simdclone"};

bool IsNumber(std::string_view text) { return !text.empty() && AreAll(text, IsDigit); }

bool IsClone(std::string_view word) {
  return std::find(kClones.begin(), kClones.end(), word) != kClones.end();
}

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether the name ends as in ".so", ".so.1", ".so.1.2.13"; sets `end` to where the version begins.
bool EndsAsSharedObject(std::string_view name, std::size_t& end) {
  for (std::size_t at = name.rfind(kSharedObject); at != std::string_view::npos && at != 0;
       at = name.rfind(kSharedObject, at - 1)) {
    const std::string_view version = name.substr(at + kSharedObject.size());
    if (version.empty() ||
        (version.front() == '.' && version.find_first_not_of(".0123456789") == version.npos)) {
      end = at + kSharedObject.size();
      return true;
    }
  }
  return false;
}

std::string_view WithoutVersion(std::string_view symbol) {
  const std::size_t at = symbol.find('@');
  if (at == std::string_view::npos || at == 0 || symbol.substr(at) == "@plt") return symbol;
  return symbol.substr(0, at);
}

std::string_view WithoutClones(std::string_view symbol) {
  for (;;) {
    std::size_t dot = symbol.rfind('.');
    if (dot == std::string_view::npos) return symbol;
    std::string_view word = symbol.substr(dot + 1);
    if (IsNumber(word) && dot != 0) {
      const std::size_t end = dot;
      dot = symbol.rfind('.', end - 1);
      if (dot == std::string_view::npos) return symbol;
      word = symbol.substr(dot + 1, end - dot - 1);
    }
    if (!IsClone(word) || dot == 0) return symbol;
    symbol = symbol.substr(0, dot);
  }
}

std::string Cut(std::string text, std::size_t most) {
  if (text.size() > most) text.resize(most);
  return text;
}

}  // namespace

std::string ModuleName(std::string_view untrusted_soname_or_path) {
  std::string_view name = untrusted_soname_or_path;
  if (name.ends_with(kDeleted)) name.remove_suffix(kDeleted.size());
  name = BaseName(name);
  if (std::size_t end = 0; EndsAsSharedObject(name, end)) name = name.substr(0, end);
  return std::string(name);
}

std::string FunctionName(std::string_view untrusted_symbol) {
  const std::string_view symbol = WithoutClones(WithoutVersion(untrusted_symbol));
  if (auto rust = names::DemangledRustName(symbol)) return *std::move(rust);
  if (names::IsCxxSymbol(symbol)) return names::DemangledName(symbol);
  return names::WithoutRustEncoding(symbol);
}

Frame MakeFrame(const RawSymbol& untrusted_symbol) {
  Frame frame = {.module = Cut(ModuleName(untrusted_symbol.module), kMaxNameBytes)};
  if (untrusted_symbol.symbol.empty()) {
    frame.kind = FrameKind::kUnnamed;
    frame.build_id = Cut(untrusted_symbol.build_id, kMaxBuildIdBytes);
    frame.offset = untrusted_symbol.offset;
    return frame;
  }
  frame.function = Cut(FunctionName(untrusted_symbol.symbol), kMaxNameBytes);
  if (untrusted_symbol.is_local) {
    frame.file = Cut(std::string(BaseName(untrusted_symbol.source_file)), kMaxNameBytes);
  }
  return frame;
}

}  // namespace fieldcost::tree
