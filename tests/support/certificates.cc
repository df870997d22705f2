#include "tests/support/certificates.h"

#include "common/base/check.h"
#include "tests/support/process.h"

namespace fieldcost::testing {

Certificates MakeCertificates(const std::filesystem::path& directory) {
  const Certificates made{directory / "ca.pem", directory / "server.pem", directory / "server.key"};
  const auto openssl = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                         "ec_paramgen_curve:P-256", "-nodes", "-days", "30"});
    FIELDCOST_CHECK(RunProcess({.arguments = arguments}).exit_status == 0);
  };
  const std::string ca_key = (directory / "ca.key").string();
  openssl({"-subj", "/CN=fieldcost test CA", "-keyout", ca_key, "-out", made.ca.string()});
  openssl({"-subj", "/CN=localhost", "-CA", made.ca.string(), "-CAkey", ca_key, "-addext",
           "subjectAltName=DNS:localhost,IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE",
           "-keyout", made.key.string(), "-out", made.certificate.string()});
  return made;
}

}  // namespace fieldcost::testing
