#include "common/http/own_host.h"

#include "common/http/certificate.h"
#include "common/http/http_message.h"
#include "common/http/ip_address.h"

namespace fieldcost::http {

bool IsOwnHost(std::string_view untrusted_host, const std::vector<std::string>& names) {
  const bool v6 = untrusted_host.starts_with('[');
  const std::string_view host = v6 ? untrusted_host.substr(1, untrusted_host.find(']') - 1)
                                   : untrusted_host.substr(0, untrusted_host.find(':'));
  if (const auto address = ParseIpAddress(host)) return address->is_v6() == v6;
  if (v6) return false;
  return EqualNames(host, "localhost") || IsCertifiedHost(host, names);
}

}  // namespace fieldcost::http
