#include "common/http/request_target.h"

#include <algorithm>

#include "common/base/clean_text.h"
#include "common/base/text.h"

namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxNameBytes = 64;  // of a parameter shown in an error

enum class Plus { kBlank, kItself };

Result<std::string> Decode(std::string_view untrusted_text, Plus plus) {
  std::string decoded;
  for (std::size_t i = 0; i < untrusted_text.size(); ++i) {
    const char c = untrusted_text[i];
    if (c == '+' && plus == Plus::kBlank) {
      decoded += ' ';
    } else if (c != '%') {
      decoded += c;
    } else {
      const auto byte =
          i + 2 < untrusted_text.size() ? HexDecode(untrusted_text.substr(i + 1, 2)) : std::nullopt;
      if (!byte) return Fail(ErrorCode::kInvalidArgument, "expected two hex digits after '%'");
      decoded += *byte;
      i += 2;
    }
  }
  if (!IsText(decoded, decoded.size())) {
    return Fail(ErrorCode::kInvalidArgument, "expected UTF-8 without control characters");
  }
  return decoded;
}

// Removes and returns the text before `separator`; also removes the separator.
std::string_view Take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

}  // namespace

Result<Parameters> Parameters::Parse(std::string_view untrusted_text) {
  Parameters parameters;
  while (!untrusted_text.empty()) {
    std::string_view value = Take(untrusted_text, '&');
    if (value.empty()) continue;
    if (parameters.values_.size() == kMaxParameters) {
      return Fail(ErrorCode::kInvalidArgument, "the address or form has more than {} parameters",
                  kMaxParameters);
    }
    FIELDCOST_ASSIGN(std::string name, Decode(Take(value, '='), Plus::kBlank));
    FIELDCOST_ASSIGN(std::string decoded, Decode(value, Plus::kBlank));
    parameters.values_.emplace_back(std::move(name), std::move(decoded));
  }
  return parameters;
}

std::string_view Parameters::Find(std::string_view name) const {
  for (const auto& [known, value] : values_) {
    if (known == name) return value;
  }
  return {};
}

std::vector<std::string_view> Parameters::All(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [known, value] : values_) {
    if (known == name) found.push_back(value);
  }
  return found;
}

Status Parameters::CheckKnown(std::string_view names) const {
  for (const auto& [name, value] : values_) {
    bool is_known = false;
    for (std::string_view rest = names; !rest.empty();) {
      is_known = Take(rest, ' ') == name || is_known;
    }
    if (is_known) continue;
    return Fail(ErrorCode::kInvalidArgument, "unknown parameter {}; {}",
                EscapeControl(name.substr(0, kMaxNameBytes)),
                names.empty() ? "this address takes none" : "known ones: " + std::string(names));
  }
  return {};
}

Result<Target> ParseTarget(std::string_view untrusted_target) {
  std::string_view query = untrusted_target;
  std::string_view path = Take(query, '?');
  if (!path.starts_with('/')) {
    return Fail(ErrorCode::kInvalidArgument, "the address does not begin with '/'");
  }
  path.remove_prefix(1);
  Target target;
  while (!path.empty()) {
    if (target.path.size() == kMaxPathParts) {
      return Fail(ErrorCode::kInvalidArgument, "the address has more than {} parts", kMaxPathParts);
    }
    FIELDCOST_ASSIGN(std::string part, Decode(Take(path, '/'), Plus::kItself));
    target.path.push_back(std::move(part));
  }
  FIELDCOST_ASSIGN(target.query, Parameters::Parse(query));
  return target;
}

std::optional<PlainPath> PlainPath::Parse(std::string_view untrusted_target) {
  if (untrusted_target.find_first_of("?%") != std::string_view::npos) return std::nullopt;
  PlainPath path;
  while (!untrusted_target.empty()) {
    if (!untrusted_target.starts_with('/') || path.count_ == kMaxPathParts) return std::nullopt;
    untrusted_target.remove_prefix(1);
    const std::string_view part = untrusted_target.substr(0, untrusted_target.find('/'));
    if (part.empty()) return std::nullopt;
    path.parts_[path.count_++] = part;
    untrusted_target.remove_prefix(part.size());
  }
  return path;
}

std::optional<std::string_view> FindCookie(std::string_view untrusted_header,
                                           std::string_view name) {
  while (!untrusted_header.empty()) {
    std::string_view value = Trim(Take(untrusted_header, ';'));
    if (Take(value, '=') == name) return value;
  }
  return std::nullopt;
}

}  // namespace fieldcost::http
