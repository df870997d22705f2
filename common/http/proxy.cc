#include "common/http/proxy.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "common/base/ascii.h"
#include "common/base/text.h"
#include "common/http/ip_address.h"
#include "common/http/origin.h"

namespace fieldcost::http {
namespace {

std::string Variable(const char* lower, const char* upper) {
  for (const char* name : {lower, upper}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

bool InNetwork(const IpAddress& address, const IpAddress& network, std::size_t bits) {
  if (address.size != network.size || bits > network.size * 8) return false;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    const int mask = 0x80 >> (bit % 8);
    if (((address.bytes[bit / 8] ^ network.bytes[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

bool MatchesAddress(std::string_view entry, const IpAddress& host) {
  const std::size_t slash = entry.find('/');
  const auto network = ParseIpAddress(entry.substr(0, slash));
  if (!network) return false;
  if (slash == std::string_view::npos) return InNetwork(host, *network, network->size * 8);
  const auto bits = ParseUint64(entry.substr(slash + 1));
  return bits && *bits <= network->size * 8 && InNetwork(host, *network, *bits);
}

bool MatchesName(std::string_view entry, std::string_view host) {
  if (entry.starts_with('.')) entry.remove_prefix(1);
  if (entry.empty() || !host.ends_with(entry)) return false;
  return host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.';
}

// Removes ":port" and the brackets of an IPv6 address; nullopt if the port differs.
std::optional<std::string_view> WithoutPort(std::string_view entry, std::uint16_t port) {
  std::string_view given;
  if (entry.starts_with('[')) {
    const std::size_t end = entry.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    given = entry.substr(end + 1);
    entry = entry.substr(1, end - 1);
  } else if (std::count(entry.begin(), entry.end(), ':') == 1) {
    given = entry.substr(entry.find(':'));
    entry = entry.substr(0, entry.find(':'));
  }
  if (given.empty()) return entry;
  if (ParseUint64(given.substr(1)) != port) return std::nullopt;
  return entry;
}

}  // namespace

ProxyVariables ProxyVariables::FromEnvironment() {
  return {.https_proxy = Variable("https_proxy", "HTTPS_PROXY"),
          .no_proxy = Variable("no_proxy", "NO_PROXY")};
}

bool IsExcepted(std::string_view no_proxy, std::string_view host, std::uint16_t port) {
  const std::string list = LowerCase(no_proxy);
  const auto address = ParseIpAddress(host);
  constexpr std::string_view kSeparators = ", \t";
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find_first_of(kSeparators, at), list.size());
    const std::string_view entry = std::string_view(list).substr(at, end - at);
    at = end + 1;
    if (entry.empty()) continue;
    if (entry == "*") return true;
    const auto name = WithoutPort(entry, port);
    if (!name) continue;
    if (address ? MatchesAddress(*name, *address) : MatchesName(*name, host)) return true;
  }
  return false;
}

std::string ChooseProxy(std::string_view url, std::string_view configured,
                        const ProxyVariables& variables) {
  if (!configured.empty()) return std::string(configured);
  if (variables.https_proxy.empty()) return {};
  const auto origin = ParseOrigin(url, "https", kHttpsPort);
  if (origin && IsExcepted(variables.no_proxy, origin->host, origin->port)) return {};
  if (variables.https_proxy.find("://") != std::string::npos) return variables.https_proxy;
  return "http://" + variables.https_proxy;
}

std::string ChooseProxy(std::string_view url, std::string_view configured) {
  return ChooseProxy(url, configured, ProxyVariables::FromEnvironment());
}

}  // namespace fieldcost::http
