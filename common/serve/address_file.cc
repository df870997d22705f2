#include "common/serve/address_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/base/file.h"

namespace fieldcost::serve {

std::string UrlOf(const http::ServerOptions& options, const http::Server& server) {
  const bool v6 = options.address.find(':') != std::string::npos;
  return fmt::format("{}://{}:{}", options.certificate_file.empty() ? "http" : "https",
                     v6 ? '[' + options.address + ']' : options.address, server.port());
}

Status WriteAddressFile(const std::filesystem::path& file, const std::string& url) {
  if (file.empty()) return {};
  return WriteFileAtomically(file, url + "\n", 0644);
}

void RemoveAddressFile(const std::filesystem::path& file) {
  if (!file.empty()) ::unlink(file.c_str());
}

}  // namespace fieldcost::serve
