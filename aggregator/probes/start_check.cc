// Checks what a start needs of the machine: certificate, directory, ports.
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "aggregator/probes/service.h"
#include "common/base/file.h"
#include "common/http/certificate.h"

namespace fieldcost::probe_server {
namespace {

Result<std::string> CheckCertificate(const Config& config) {
  const http::ServerOptions& server = config.server;
  if (server.certificate_file.empty()) {
    return std::string("no certificate: plain HTTP, for this machine only\n");
  }
  FIELDCOST_ASSIGN(const http::CertificateValidity validity,
                   http::CheckCertificate(server.certificate_file, server.private_key_file));
  FIELDCOST_ASSIGN(const std::vector<std::string> names,
                   http::CertificateNames(server.certificate_file));
  std::string text = fmt::format(
      "certificate {}: until {:%Y-%m-%d %H:%M} UTC, for {}\n", server.certificate_file.string(),
      fmt::gmtime(static_cast<std::time_t>(validity.end.time_since_epoch().count())),
      fmt::join(names, ", "));
  const auto now = std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
  if (const std::string why = http::WhyNotValid(validity, now); !why.empty()) {
    text += fmt::format("warning: certificate {} {}: no browser stays; put another one there\n",
                        server.certificate_file.string(), why);
  }
  return text;
}

// The directory, or what a start would make it in.
Result<std::string> CheckData(const std::filesystem::path& data) {
  std::filesystem::path existing = std::filesystem::absolute(data);
  struct stat found {};
  while (::lstat(existing.c_str(), &found) != 0 && errno == ENOENT &&
         existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  int failure = ::stat(existing.c_str(), &found) == 0 ? 0 : errno;
  if (failure == 0 && !S_ISDIR(found.st_mode)) failure = ENOTDIR;
  if (failure == 0 &&
      ::faccessat(AT_FDCWD, existing.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    failure = errno;
  }
  if (failure != 0) {
    Error error = ErrnoError("use as the place for data", existing, failure);
    error.message +=
        fmt::format("; let user {} write there, or name another in data.dir", ::geteuid());
    return error;
  }
  return fmt::format(
      "data directory {}: {}\n", data.string(),
      existing == std::filesystem::absolute(data) ? "it can be written" : "the start will make it");
}

Result<std::string> CheckPort(const http::ServerOptions& server, std::string_view table) {
  const auto free = http::CheckListen(server.address, server.port);
  if (free) return fmt::format("[{}] {} port {}: free\n", table, server.address, server.port);
  Error error = free.error();
  error.message += error.code == ErrorCode::kAlreadyExists
                       ? fmt::format("; another program has it: end that, or set {}.port", table)
                       : fmt::format("; set {0}.address and {0}.port", table);
  return error;
}

}  // namespace

Result<std::string> CheckStart(const Config& config) {
  FIELDCOST_ASSIGN(std::string text, CheckCertificate(config));
  FIELDCOST_ASSIGN(const std::string data, CheckData(config.data_dir));
  FIELDCOST_ASSIGN(const std::string port, CheckPort(config.server, "server"));
  text += data + port;
  if (config.admin) {
    FIELDCOST_ASSIGN(const std::string admin, CheckPort(*config.admin, "admin"));
    text += admin;
  }
  return text;
}

}  // namespace fieldcost::probe_server
