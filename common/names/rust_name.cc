#include "common/names/rust_name.h"

// libc declares basename(); libiberty's declaration would conflict.
#define HAVE_DECL_BASENAME 1
#include <libiberty/demangle.h>

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <string>

#include "common/names/cxx_name.h"

namespace fieldcost::names {
namespace {

constexpr std::size_t kHashDigits = 16;
constexpr std::string_view kHash = "::h";  // precedes the digits

// A name's references to its own parts can make the output exponentially long, and libiberty has no
// limit: the only way to stop it is longjmp(). It is C, and holds no heap memory while it prints,
// except for the text of a non-ASCII identifier, which is then leaked.
struct Output {
  std::jmp_buf full;
  char* text;
  std::size_t size;
};

void Append(const char* data, std::size_t size, void* opaque) {
  auto* const output = static_cast<Output*>(opaque);
  if (size > kMostDemangledBytes - output->size) std::longjmp(output->full, 1);
  for (std::size_t i = 0; i < size; ++i) output->text[output->size++] = data[i];
}

// Returns false if the symbol is not a Rust name or the output is too long. Has no objects with
// destructors, since longjmp() would skip these.
bool Demangle(const char* symbol, Output& output) {
  if (setjmp(output.full) != 0) return false;
  return ::rust_demangle_callback(symbol, DMGL_NO_OPTS, Append, &output) != 0;
}

// Whether the name ends with "::h" and the digits of a hash.
bool EndsWithHash(std::string_view name) {
  const std::size_t size = kHash.size() + kHashDigits;
  if (name.size() <= size) return false;
  const std::string_view hash = name.substr(name.size() - size);
  return hash.starts_with(kHash) &&
         hash.find_first_not_of("0123456789abcdef", kHash.size()) == std::string_view::npos;
}

}  // namespace

std::optional<std::string> DemangledRustName(std::string_view untrusted_symbol) {
  const bool is_new = untrusted_symbol.starts_with("_R");
  if (!is_new && !untrusted_symbol.starts_with("_ZN")) return std::nullopt;
  const std::string symbol(untrusted_symbol);
  if (symbol.size() > kMostRustBytes || symbol.find('\0') != std::string::npos) {
    return std::nullopt;
  }
  std::string text(kMostDemangledBytes, '\0');
  Output output{};
  output.text = text.data();
  if (!Demangle(symbol.c_str(), output) || output.size == 0) return std::nullopt;
  text.resize(output.size);
  return text;
}

std::string WithoutRustEncoding(std::string_view untrusted_name) {
  if (!EndsWithHash(untrusted_name)) return std::string(untrusted_name);
  // Mangles the name again: each part with its length.
  std::string symbol = "_ZN";
  for (std::size_t at = 0; at <= untrusted_name.size();) {
    const std::size_t end = std::min(untrusted_name.find("::", at), untrusted_name.size());
    symbol += std::to_string(end - at);
    symbol += untrusted_name.substr(at, end - at);
    at = end + 2;
  }
  if (auto name = DemangledRustName(symbol + "E")) return *std::move(name);
  return std::string(untrusted_name.substr(0, untrusted_name.size() - kHash.size() - kHashDigits));
}

}  // namespace fieldcost::names
