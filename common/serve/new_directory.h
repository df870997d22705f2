#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/http/issue_certificate.h"

namespace fieldcost::serve {

// What a directory is filled with that has all that a new server needs.

// Where to listen: `wanted`, or, if it is empty, on loopback if every one of the hosts is this
// machine, else on all addresses. Pure.
std::string ListenAddress(const std::string& wanted, const std::vector<std::string>& hosts);

// A certificate for the hosts that is valid for ten years: nobody is there to renew it, and its
// authority issues no other. If every host is this machine, the certificate is also for 127.0.0.1,
// where the server listens and which it writes to its address file. Errors of
// http::IssueCertificate().
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

}  // namespace fieldcost::serve
