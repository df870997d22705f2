#include "aggregator/probe_server/probe_server_directory.h"

#include <fmt/format.h>

#include <chrono>

#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/serve/new_directory.h"

namespace fieldcost::probe_server {
namespace {

std::string ConfigText(const NewDirectory& wanted, const std::filesystem::path& directory,
                       const serve::CertificateFiles& files) {
  const auto name = [&](const std::filesystem::path& file) {
    return serve::NameInConfig(file, directory);
  };
  return fmt::format(R"(# Made by fieldcost-probe-server init. All settings: probe-server.toml(5).
[server]
address = {}
port = {}
certificate = {}
private_key = {}
address_file = "address"
[admin]
port = {}
address_file = "admin-address"
[data]
dir = "data"
)",
                     QuoteJson(serve::ListenAddress(wanted.address, wanted.hosts)), wanted.port,
                     name(files.certificate), name(files.private_key), wanted.admin_port);
}

}  // namespace

Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock) {
  FIELDCOST_ASSIGN(const std::filesystem::path directory, serve::PathForUnit(wanted.directory));
  FIELDCOST_ASSIGN(const serve::NewCertificate certificate,
                   serve::CertificateFor(wanted.certificate, wanted.hosts, directory,
                                         std::chrono::floor<std::chrono::seconds>(clock.Now())));
  const MadeDirectory made{.config = directory / "probe-server.toml",
                           .authority = certificate.files.authority,
                           .unit_drop_in = directory / "fieldcost-probe-server.conf"};
  FIELDCOST_ASSIGN(const std::string drop_in,
                   serve::DropInText("fieldcost-probe-server", made.config));
  FIELDCOST_TRY(MakeEmptyDirectory(directory, 0700));
  FIELDCOST_TRY(serve::WriteCertificate(certificate));
  FIELDCOST_TRY(WriteFileAtomically(made.unit_drop_in, drop_in, 0644));
  FIELDCOST_TRY(
      WriteFileAtomically(made.config, ConfigText(wanted, directory, certificate.files), 0644));
  return made;
}

}  // namespace fieldcost::probe_server
