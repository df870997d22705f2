// Checks what the startup needs from the machine: certificate, directory, ports.
#include <fmt/format.h>

#include <chrono>

#include "aggregator/probe_server/probe_service.h"
#include "common/serve/start_check.h"

namespace fieldcost::probe_server {
namespace {

Result<std::string> CheckCertificate(const Config& config) {
  const http::ServerOptions& server = config.server;
  if (server.certificate_file.empty()) {
    return std::string("no certificate: plain HTTP, for this machine only\n");
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
  FIELDCOST_ASSIGN(const serve::CertificateFound certificate, serve::CheckCertificate(server, now));
  std::string text = certificate.fact + '\n';
  if (!certificate.why_not_valid.empty()) {
    text += fmt::format(
        "warning: certificate {} {}: browsers will warn about it; install a valid one\n",
        server.certificate_file.string(), certificate.why_not_valid);
  }
  return text;
}

// The directory, or the one in which the startup would create it.
Result<std::string> CheckData(const std::filesystem::path& data) {
  const std::filesystem::path existing = serve::NearestExisting(data);
  FIELDCOST_TRY(serve::CheckWritable("as the place for data", existing, "data.dir"));
  return fmt::format(
      "data directory {}: {}\n", data.string(),
      existing == std::filesystem::absolute(data) ? "writable" : "will be created at the start");
}

}  // namespace

Result<std::string> CheckStart(const Config& config) {
  FIELDCOST_ASSIGN(std::string text, CheckCertificate(config));
  FIELDCOST_ASSIGN(const std::string data, CheckData(config.data_dir));
  FIELDCOST_ASSIGN(const std::string port, serve::CheckPort(config.server, "server"));
  text += data + port + '\n';
  if (config.admin) {
    FIELDCOST_ASSIGN(const std::string admin, serve::CheckPort(*config.admin, "admin"));
    text += admin + '\n';
  }
  return text;
}

}  // namespace fieldcost::probe_server
