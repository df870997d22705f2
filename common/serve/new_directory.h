#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/http/issue_certificate.h"

namespace fieldcost::serve {

// The contents of a new server's directory.

// The address to listen on: `wanted`; if it is empty, loopback if all hosts are this machine, else
// all addresses. Pure.
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

}  // namespace fieldcost::serve
