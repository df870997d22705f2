#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/http/http_server.h"

namespace fieldcost::serve {

// "https://example.org:8443"; IPv6 addresses are put in brackets. Pure.
std::string UrlOf(std::string_view scheme, const std::string& host, std::uint16_t port);
// The URL at which the server listens: "https://127.0.0.1:8443"; without a certificate "http://…".
std::string UrlOf(const http::ServerOptions& options, const http::Server& server);

// Writes the server's URL to a file, for programs that wait for it. Does nothing if the name is
// empty.
Status WriteAddressFile(const std::filesystem::path& file, const std::string& url);
void RemoveAddressFile(const std::filesystem::path& file);

}  // namespace fieldcost::serve
