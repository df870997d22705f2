#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/http/issue_certificate.h"

namespace fieldcost::serve {

// The contents of a new server's directory.

// The address to listen on: `wanted`, or if it is empty, loopback if all hosts are this machine, or
// else all addresses. Pure.
std::string ListenAddress(const std::string& wanted, const std::vector<std::string>& hosts);

// Issues a certificate for the hosts that is valid for ten years: it is not renewed automatically,
// and its authority issues no other. If all hosts are this machine, it also covers 127.0.0.1, where
// the server listens and which it writes to its address file. Errors of http::IssueCertificate().
Result<http::IssuedCertificate> IssueForYears(const std::vector<std::string>& hosts,
                                              std::chrono::sys_seconds now);

struct CertificateFiles {
  std::filesystem::path authority;
  std::filesystem::path certificate;
  std::filesystem::path private_key;  // mode 0600
};
// Their names in the directory. Pure.
CertificateFiles CertificateFilesIn(const std::filesystem::path& directory);
// Writes them.
Status WriteCertificate(const http::IssuedCertificate& issued, const CertificateFiles& files);

// The certificate named in the configuration of a new directory.
struct NewCertificate {
  CertificateFiles files;                         // without an authority if the operator has it
  std::optional<http::IssuedCertificate> issued;  // still to be written to the files
};
// The existing certificate and key of `given`, as absolute paths, or, if these are empty, a new
// certificate from IssueForYears() for the directory. kInvalidArgument: an existing certificate is
// not for these hosts; errors of http::CheckCertificate() and http::IssueCertificate().
Result<NewCertificate> CertificateFor(const CertificateFiles& given,
                                      const std::vector<std::string>& hosts,
                                      const std::filesystem::path& directory,
                                      std::chrono::sys_seconds now);

// Writes the certificate if it was issued.
Status WriteCertificate(const NewCertificate& certificate);

// The absolute path of a directory. kInvalidArgument: it cannot be written in a systemd unit.
Result<std::filesystem::path> PathForUnit(const std::filesystem::path& directory);

// A file's name as a string in the directory's configuration, relative if it is in the directory.
// Pure.
std::string NameInConfig(const std::filesystem::path& file, const std::filesystem::path& directory);

// A drop-in for the unit of the package `name`, to serve the directory of this configuration with
// the running program instead of the package's. `more` contains further lines of the unit.
Result<std::string> DropInText(std::string_view name, const std::filesystem::path& config,
                               std::string_view more = "");

}  // namespace fieldcost::serve
