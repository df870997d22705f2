#include "aggregator/probes/new_directory.h"

#include <fmt/format.h>

#include <chrono>

#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/serve/new_directory.h"

namespace fieldcost::probe_server {
namespace {

std::string ConfigText(const NewDirectory& wanted) {
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
                     QuoteJson(serve::ListenAddress(wanted.address, wanted.hosts)), wanted.port,
                     wanted.admin_port);
}

}  // namespace

Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock) {
  std::error_code error;
  const std::filesystem::path directory = std::filesystem::absolute(wanted.directory, error);
  if (error) return ErrnoError("find", wanted.directory, error.value());
  FIELDCOST_ASSIGN(
      const http::IssuedCertificate issued,
      serve::IssueForYears(wanted.hosts, std::chrono::floor<std::chrono::seconds>(clock.Now())));
  FIELDCOST_TRY(MakeEmptyDirectory(directory, 0700));
  const serve::CertificateFiles files = serve::CertificateFilesIn(directory);
  const MadeDirectory made{.config = directory / "probe-server.toml", .authority = files.authority};
  FIELDCOST_TRY(serve::WriteCertificate(issued, files));
  FIELDCOST_TRY(WriteFileAtomically(made.config, ConfigText(wanted), 0644));
  return made;
}

}  // namespace fieldcost::probe_server
