#include "aggregator/probes/new_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/http/issue_certificate.h"

namespace fieldcost::probe_server {
namespace {

// Nobody is there to renew it, and its authority has no other.
constexpr std::chrono::days kCertificateLifetime{3'650};

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string ConfigText(const NewDirectory& wanted) {
  const bool loopback = std::all_of(wanted.hosts.begin(), wanted.hosts.end(), IsThisMachine);
  const std::string address = !wanted.address.empty() ? wanted.address
                              : loopback              ? "127.0.0.1"
                                                      : "0.0.0.0";
  return fmt::format(R"(# Made by fieldcost-probe-server init. All settings: probe-server.toml(5).
[server]
address = {}
port = {}
certificate = "certificate.pem"
private_key = "private_key.pem"
address_file = "address"
[admin]
port = {}
address_file = "admin-address"
[data]
dir = "data"
)",
                     QuoteJson(address), wanted.port, wanted.admin_port);
}

}  // namespace

Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::absolute(wanted.directory, error);
  if (error) return ErrnoError("find", wanted.directory, error.value());
  FIELDCOST_ASSIGN(
      const http::IssuedCertificate issued,
      http::IssueCertificate(wanted.hosts, std::chrono::floor<std::chrono::seconds>(clock.Now()),
                             kCertificateLifetime));
  FIELDCOST_TRY(MakeEmptyDirectory(directory, 0700));
  const MadeDirectory made{.config = directory / "probe-server.toml",
                           .authority = directory / "ca.pem"};
  FIELDCOST_TRY(WriteFileAtomically(made.authority, issued.authority, 0644));
  FIELDCOST_TRY(WriteFileAtomically(directory / "private_key.pem", issued.private_key, 0600));
  FIELDCOST_TRY(WriteFileAtomically(directory / "certificate.pem", issued.certificate, 0644));
  FIELDCOST_TRY(WriteFileAtomically(made.config, ConfigText(wanted), 0644));
  return made;
}

}  // namespace fieldcost::probe_server
