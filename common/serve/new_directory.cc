#include "common/serve/new_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/http/certificate.h"

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

Result<std::filesystem::path> Absolute(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return ErrnoError("find", path, error.value());
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

Status CheckGiven(const CertificateFiles& given, const std::vector<std::string>& hosts) {
  FIELDCOST_TRY(http::CheckCertificate(given.certificate, given.private_key));
  FIELDCOST_ASSIGN(const std::vector<std::string> names, http::CertificateNames(given.certificate));
  for (const std::string& host : hosts) {
    if (http::IsCertifiedHost(host, names)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "certificate {} is for {}, not for {}; use one for that name, or change --host",
                given.certificate.string(),
                names.empty() ? "no name" : fmt::format("{}", fmt::join(names, ", ")),
                EscapeControl(host));
  }
  return {};
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

Result<NewCertificate> CertificateFor(const CertificateFiles& given,
                                      const std::vector<std::string>& hosts,
                                      const std::filesystem::path& directory,
                                      std::chrono::sys_seconds now) {
  NewCertificate wanted;
  if (given.certificate.empty()) {
    FIELDCOST_ASSIGN(wanted.issued, IssueForYears(hosts, now));
    wanted.files = CertificateFilesIn(directory);
    return wanted;
  }
  FIELDCOST_ASSIGN(wanted.files.certificate, Absolute(given.certificate));
  FIELDCOST_ASSIGN(wanted.files.private_key, Absolute(given.private_key));
  FIELDCOST_TRY(CheckGiven(wanted.files, hosts));
  return wanted;
}

Status WriteCertificate(const NewCertificate& certificate) {
  return certificate.issued ? WriteCertificate(*certificate.issued, certificate.files) : Status();
}

Result<std::filesystem::path> PathForUnit(const std::filesystem::path& directory) {
  FIELDCOST_ASSIGN(std::filesystem::path path, Absolute(directory));
  const std::string text = path.string();
  // Spaces, quotes, '%' and '$' have special meanings for systemd.
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetterOrDigit(c) || std::string_view("/._-+@:").find(c) != std::string_view::npos;
  });
  if (plain) return path;
  return Fail(ErrorCode::kInvalidArgument,
              "make {}: a systemd unit names it, so it may have only letters, digits and "
              "/._-+@:; choose another",
              EscapeControl(text));
}

std::string NameInConfig(const std::filesystem::path& file,
                         const std::filesystem::path& directory) {
  const bool here = file.parent_path() == directory;
  return QuoteJson(here ? file.filename().string() : file.string());  // TOML accepts JSON's escapes
}

Result<std::string> DropInText(std::string_view name, const std::filesystem::path& config,
                               std::string_view more) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return ErrnoError("find this program by", "/proc/self/exe", error.value());
  return fmt::format(R"(# Made by {0} init: has the unit serve {1}.
[Service]
ExecStart=
ExecStart={2} --config {3}
{4}ReadWritePaths={1}
)",
                     name, config.parent_path().string(), program.string(), config.string(), more);
}

}  // namespace fieldcost::serve
