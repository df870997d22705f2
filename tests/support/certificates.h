#pragma once

#include <filesystem>

namespace fieldcost::testing {

// A throw-away certificate authority and a server certificate for localhost and 127.0.0.1, made
// with the openssl command in `directory`.
struct Certificates {
  std::filesystem::path ca;           // PEM
  std::filesystem::path certificate;  // PEM
  std::filesystem::path key;          // PEM
};
Certificates MakeCertificates(const std::filesystem::path& directory);

}  // namespace fieldcost::testing
