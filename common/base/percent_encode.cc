#include "common/base/percent_encode.h"

#include <fmt/core.h>

#include "common/base/ascii.h"

namespace fieldcost {

std::string PercentEncode(std::string_view untrusted_text, std::string_view plain) {
  std::string encoded;
  encoded.reserve(untrusted_text.size());
  for (const char c : untrusted_text) {
    if (IsLetterOrDigit(c) || plain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string FileUrl(std::string_view untrusted_path) {
  return "file://" + PercentEncode(untrusted_path, "/-._~");
}

}  // namespace fieldcost
