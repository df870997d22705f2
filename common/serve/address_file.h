#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/http/server.h"

namespace fieldcost::serve {

// "https://example.org:8443"; an address of IPv6 gets its brackets. Pure.
std::string UrlOf(std::string_view scheme, const std::string& host, std::uint16_t port);
// Where the server listens: "https://127.0.0.1:8443"; without a certificate "http://…".
std::string UrlOf(const http::ServerOptions& options, const http::Server& server);

// The file in which others who wait for a server find its URL. Nothing is done without a name.
Status WriteAddressFile(const std::filesystem::path& file, const std::string& url);
void RemoveAddressFile(const std::filesystem::path& file);

}  // namespace fieldcost::serve
