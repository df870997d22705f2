#include "common/serve/address_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/file.h"

namespace fieldcost::serve {

std::string UrlOf(std::string_view scheme, const std::string& host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", scheme, v6 ? '[' + host + ']' : host, port);
}

std::string UrlOf(const http::ServerOptions& options, const http::Server& server) {
  return UrlOf(options.certificate_file.empty() ? "http" : "https", options.address, server.port());
}

Status WriteAddressFile(const std::filesystem::path& file, const std::string& url) {
  if (file.empty()) return {};
  return WriteFileAtomically(file, url + "\n", 0644);
}

void RemoveAddressFile(const std::filesystem::path& file) {
  if (!file.empty()) ::unlink(file.c_str());
}

}  // namespace fieldcost::serve
