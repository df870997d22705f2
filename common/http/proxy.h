#pragma once

#include <cstdint>

#include <string>
#include <string_view>

#include "common/base/result.h"

namespace fieldcost::http {

// The environment's proxy settings. Lower-case names take precedence, as in most programs.
struct ProxyVariables {
  std::string https_proxy;  // https_proxy, HTTPS_PROXY
  std::string no_proxy;     // no_proxy, NO_PROXY

  static ProxyVariables FromEnvironment();
};

// Returns the ClientOptions::proxy_url for the server at `url`: `configured` unless that is empty,
// else the proxy from the variables; empty = connect directly. A variable without a scheme means
// http://. Client::Create() checks whether the proxy is usable. Pure.
std::string ChooseProxy(std::string_view url, std::string_view configured,
                        const ProxyVariables& variables);

// The same with the variables of this process.
std::string ChooseProxy(std::string_view url, std::string_view configured);

// Whether a NO_PROXY list contains the server: names and addresses separated by commas or spaces.
// "example.org" and ".example.org" also match every name below it, "host:port" only that port,
// "10.0.0.0/8" and "fd00::/8" the addresses of a network, "*" everything. Pure.
bool IsExcepted(std::string_view no_proxy, std::string_view host, std::uint16_t port);

}  // namespace fieldcost::http
