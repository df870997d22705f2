#pragma once

#include <filesystem>

namespace fieldcost::testing {

// A throw-away certificate authority and a server certificate for localhost and 127.0.0.1, created
// in `directory` with the openssl command.
struct Certificates {
  std::filesystem::path ca;           // PEM
  std::filesystem::path certificate;  // PEM
  std::filesystem::path key;          // PEM
};
Certificates MakeCertificates(const std::filesystem::path& directory);

}  // namespace fieldcost::testing
