#include "common/http/origin.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/http/ip_address.h"

// origin := scheme "://" (name | v4 | "[" v6 "]") (":" port)? "/"?        ; in any case
// name   := letters, digits, "-", "." and "_", at most 253, not beginning with "-" or "."
// port   := 1 to 65535 in decimal
namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxHostBytes = 253;

bool IsHostName(std::string_view text) {
  return !text.empty() && text.size() <= kMaxHostBytes && text.front() != '-' &&
         text.front() != '.' && std::all_of(text.begin(), text.end(), [](char c) {
           return IsDigit(c) || IsLowerLetter(c) || c == '-' || c == '.' || c == '_';
         });
}

bool IsPathPart(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordCharacter(c) || c == '-' || c == '.' || c == '~'; });
}

}  // namespace

std::string Origin::Authority() const {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<Origin> ParseOrigin(std::string_view text, std::string_view scheme,
                           std::uint16_t default_port) {
  const Error error = Fail(ErrorCode::kInvalidArgument, "'{}': expected {}://host[:port]",
                           EscapeControl(text), scheme);
  std::string rest = LowerCase(text);
  const std::string prefix = fmt::format("{}://", scheme);
  if (!rest.starts_with(prefix)) return error;
  rest.erase(0, prefix.size());
  if (rest.ends_with('/')) rest.pop_back();
  Origin origin{.port = default_port};
  std::string port;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string::npos) return error;
    const auto address = ParseIpAddress(rest.substr(1, end - 1));
    if (!address || !address->is_v6()) return error;
    origin.host = address->Text();
    port = rest.substr(end + 1);
    origin.is_address = true;
  } else {
    origin.host = rest.substr(0, rest.find(':'));
    port = rest.substr(origin.host.size());
    if (!IsHostName(origin.host)) return error;
    origin.is_address = ParseIpAddress(origin.host).has_value();
  }
  if (port.empty()) return origin;
  const std::optional<std::uint64_t> number = ParseUint64(std::string_view(port).substr(1));
  if (port.front() != ':' || !number || *number == 0 ||
      *number > std::numeric_limits<std::uint16_t>::max()) {
    return error;
  }
  origin.port = static_cast<std::uint16_t>(*number);
  return origin;
}

Result<BaseUrl> ParseBaseUrl(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::size_t path = scheme == std::string_view::npos ? scheme : text.find('/', scheme + 3);
  if (path == std::string_view::npos) return BaseUrl{.server = std::string(text), .path = {}};
  BaseUrl base{.server = std::string(text.substr(0, path)), .path = std::string(text.substr(path))};
  if (base.path.ends_with('/')) base.path.pop_back();
  bool is_valid = base.path.size() <= kMaxBasePathBytes;
  if (!base.path.empty()) {
    for (const std::string_view part : Split(std::string_view(base.path).substr(1), "/")) {
      is_valid = is_valid && IsPathPart(part);
    }
  }
  if (is_valid) return base;
  return Fail(ErrorCode::kInvalidArgument,
              "'{}': expected https://host[:port][/path], where the path has no '?', '#' or '%' "
              "and no empty part",
              EscapeControl(text));
}

}  // namespace fieldcost::http
