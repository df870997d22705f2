#include "tools/report/file_names.h"

#include <fmt/format.h>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/crypto/sha256.h"

namespace fieldcost::report {
namespace {

constexpr std::size_t kHashBytes = 8;

bool IsSafe(char c) { return IsWordCharacter(c) || c == '-' || c == '.'; }

std::string HashOf(std::string_view text) {
  const std::string hash = crypto::Sha256(text);
  return HexEncode(std::string_view(hash.data(), kHashBytes));
}

}  // namespace

std::string SafeFileName(std::string_view untrusted_name) {
  std::string name;
  for (const char c : untrusted_name) {
    if (IsSafe(c) && !(name.empty() && (c == '.' || c == '-'))) {
      name += c;
    } else {
      name += fmt::format("~{:02X}", static_cast<unsigned char>(c));
    }
  }
  if (!name.empty() && name.size() <= kMaxFileNameBytes) return name;
  // "~-" occurs in no other name.
  return name.substr(0, kMaxFileNameBytes) + "~-" + HashOf(untrusted_name);
}

std::string PagePath(const stats::ApiKey& untrusted_api) {
  const std::string folder = SafeFileName(untrusted_api.soname);
  const std::string page = SafeFileName(untrusted_api.symbol) + ".html";
  // "~69" stands for the "i", which occurs in no other name.
  const auto apart = [](const std::string& name) {
    return name == "index.html" ? "~69ndex.html" : name;
  };
  return apart(folder) + "/" + apart(page);
}

std::string FileNames::Take(std::string_view untrusted_name) {
  std::string name = SafeFileName(untrusted_name);
  if (!taken_.insert(LowerCase(name)).second) {
    name += "~-" + HashOf(untrusted_name);
    taken_.insert(LowerCase(name));
  }
  return name;
}

}  // namespace fieldcost::report
