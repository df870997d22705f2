#pragma once

#include <cstdint>

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::http {

// The environment's wishes about proxies. The lower-case names go first, as most programs have it.
struct ProxyVariables {
  std::string https_proxy;  // https_proxy, HTTPS_PROXY
  std::string no_proxy;     // no_proxy, NO_PROXY

  static ProxyVariables FromEnvironment();
};

// The ClientOptions::proxy_url for the server at `url`: `configured` unless that is empty, else
// what the variables say; empty = connect directly. A variable without a scheme means http://.
// Whether it can be used is for Client::Create() to say. Pure.
std::string ChooseProxy(std::string_view url, std::string_view configured,
                        const ProxyVariables& variables);

// The same, by the variables of this process.
std::string ChooseProxy(std::string_view url, std::string_view configured);

// Whether a list as in NO_PROXY has the server: names and addresses separated by commas or spaces.
// "example.org" and ".example.org" also match every name below it, "host:port" only that port,
// "10.0.0.0/8" and "fd00::/8" the addresses of a network, "*" everything. Pure.
bool IsExcepted(std::string_view no_proxy, std::string_view host, std::uint16_t port);

}  // namespace fieldcost::http
