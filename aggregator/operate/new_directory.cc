#include "aggregator/operate/new_directory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "aggregator/ingest/service_names.h"
#include "common/base/ascii.h"
#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/http/certificate.h"
#include "common/http/issue_certificate.h"
#include "common/serve/address_file.h"
#include "common/serve/new_directory.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kTokenBytes = 32;

Result<std::filesystem::path> Absolute(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path absolute = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return ErrnoError("find", path, error.value());
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

// Spaces, quotes, '%' and '$' have special meanings for systemd.
Status CheckForUnit(const std::filesystem::path& path) {
  const std::string text = path.string();
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return IsLetterOrDigit(c) || std::string_view("/._-+@:").find(c) != std::string_view::npos;
  });
  if (plain) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "make {}: a systemd unit names it, so it may have only letters, digits and "
              "/._-+@:; choose another",
              EscapeControl(text));
}

Status CheckGiven(const NewDirectory& wanted) {
  FIELDCOST_TRY(http::CheckCertificate(wanted.certificate_file, wanted.private_key_file));
  FIELDCOST_ASSIGN(const std::vector<std::string> names,
                   http::CertificateNames(wanted.certificate_file));
  const ingest::ServiceNames known(names);
  for (const std::string& host : wanted.hosts) {
    if (known.Has(host)) continue;
    return Fail(ErrorCode::kInvalidArgument,
                "certificate {} is for {}, not for {}; have one issued for it, or change --host",
                wanted.certificate_file.string(),
                names.empty() ? "no name" : fmt::format("{}", fmt::join(names, ", ")),
                EscapeControl(host));
  }
  return {};
}

std::string ConfigText(const NewDirectory& wanted, const MadeDirectory& made) {
  const auto name = [&](const std::filesystem::path& file) {
    const bool here = file.parent_path() == made.config.parent_path();
    return QuoteJson(here ? file.filename().string() : file.string());  // JSON's escapes are TOML's
  };
  return fmt::format(R"(# Made by fieldcost-aggregator init. All settings: aggregator.toml(5).
[server]
address = {}
port = {}
certificate = {}
private_key = {}
address_file = "address"
[admin]
port = {}
address_file = "admin-address"
token_files = ["admin.token"]
[store]
data_dir = "data"
[enrolment]
mode = "{}"
)",
                     QuoteJson(serve::ListenAddress(wanted.address, wanted.hosts)), wanted.port,
                     name(made.certificate), name(wanted.private_key_file), wanted.admin_port,
                     wanted.is_open ? "open" : "token");
}

// The settings with which the package's unit serves this directory instead of its own.
Result<std::string> DropInText(const MadeDirectory& made) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return ErrnoError("find this program by", "/proc/self/exe", error.value());
  const std::string directory = made.config.parent_path().string();
  return fmt::format(R"(# Made by fieldcost-aggregator init: has the unit serve {0}.
[Service]
ExecStart=
ExecStart={1} --config {2}
ExecStartPost=
ExecStartPost=+-/usr/bin/find {0}/data/keys -maxdepth 1 -type f ( -name root*.key -o -name policy.key -o -name policy.key.next ) -exec /bin/chown --no-dereference root:root {{}} +
ReadWritePaths={0}
)",
                     directory, program.string(), made.config.string());
}

}  // namespace

Result<MadeDirectory> MakeNewDirectory(const NewDirectory& untrusted_wanted, const Clock& clock) {
  NewDirectory wanted = untrusted_wanted;
  FIELDCOST_ASSIGN(const std::filesystem::path directory, Absolute(wanted.directory));
  FIELDCOST_TRY(CheckForUnit(directory));
  MadeDirectory made{.config = directory / "aggregator.toml",
                     .admin_token = directory / "admin.token",
                     .unit_drop_in = directory / "fieldcost-aggregator.conf"};
  const serve::CertificateFiles files = serve::CertificateFilesIn(directory);
  http::IssuedCertificate issued;
  const bool given = !wanted.certificate_file.empty();
  if (given) {
    FIELDCOST_ASSIGN(made.certificate, Absolute(wanted.certificate_file));
    FIELDCOST_ASSIGN(wanted.private_key_file, Absolute(wanted.private_key_file));
    FIELDCOST_TRY(CheckGiven(wanted));
  } else {
    FIELDCOST_ASSIGN(
        issued,
        serve::IssueForYears(wanted.hosts, std::chrono::floor<std::chrono::seconds>(clock.Now())));
    made.certificate = files.certificate;
    made.authority = files.authority;
    wanted.private_key_file = files.private_key;
  }
  FIELDCOST_ASSIGN(const std::string drop_in, DropInText(made));
  FIELDCOST_TRY(MakeEmptyDirectory(directory, 0700));
  if (!given) FIELDCOST_TRY(serve::WriteCertificate(issued, files));
  const std::string token = HexEncode(crypto::RandomBytes(kTokenBytes));
  FIELDCOST_TRY(WriteFileAtomically(made.admin_token, token + "\n", 0600));
  FIELDCOST_TRY(WriteFileAtomically(made.unit_drop_in, drop_in, 0644));
  FIELDCOST_TRY(WriteFileAtomically(made.config, ConfigText(wanted, made), 0644));
  made.untrusted_host = wanted.hosts.front();
  if (wanted.port != 0) made.url = serve::UrlOf("https", wanted.hosts.front(), wanted.port);
  return made;
}

}  // namespace fieldcost::aggregator
