#include "common/serve/new_directory.h"

#include <algorithm>

#include "common/base/file.h"

namespace fieldcost::serve {
namespace {

constexpr std::chrono::days kCertificateLifetime{3'650};
constexpr char kLoopback[] = "127.0.0.1";

bool IsThisMachine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

bool AreThisMachine(const std::vector<std::string>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(), IsThisMachine);
}

}  // namespace

std::string ListenAddress(const std::string& wanted, const std::vector<std::string>& hosts) {
  if (!wanted.empty()) return wanted;
  return AreThisMachine(hosts) ? kLoopback : "0.0.0.0";
}

Result<http::IssuedCertificate> IssueForYears(const std::vector<std::string>& hosts,
                                              std::chrono::sys_seconds now) {
  std::vector<std::string> names = hosts;
  if (AreThisMachine(hosts) && std::find(names.begin(), names.end(), kLoopback) == names.end()) {
    names.push_back(kLoopback);
  }
  return http::IssueCertificate(names, now, kCertificateLifetime);
}

CertificateFiles CertificateFilesIn(const std::filesystem::path& directory) {
  return {.authority = directory / "ca.pem",
          .certificate = directory / "certificate.pem",
          .private_key = directory / "private_key.pem"};
}

Status WriteCertificate(const http::IssuedCertificate& issued, const CertificateFiles& files) {
  FIELDCOST_TRY(WriteFileAtomically(files.authority, issued.authority, 0644));
  FIELDCOST_TRY(WriteFileAtomically(files.private_key, issued.private_key, 0600));
  return WriteFileAtomically(files.certificate, issued.certificate, 0644);
}

}  // namespace fieldcost::serve
