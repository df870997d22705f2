#include "aggregator/operate/aggregator_directory.h"

#include <fmt/format.h>

#include <chrono>

#include "common/base/empty_directory.h"
#include "common/base/file.h"
#include "common/base/text.h"
#include "common/crypto/random.h"
#include "common/serve/address_file.h"
#include "common/serve/new_directory.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kTokenBytes = 32;

// Prompts for the texts that are missing.
std::string OperatorText(const wire::OperatorStatement& operated_by) {
  const auto line = [](std::string_view key, const std::string& text, std::string_view prompt) {
    return text.empty() ? fmt::format("# {} = {}\n", key, QuoteJson(prompt))
                        : fmt::format("{} = {}\n", key, QuoteJson(text));
  };
  return "[operator]\n"
         "# Volunteers read this before they join. The first start signs it into the root; after "
         "a\n"
         "# change: fieldcost-aggregator keys renew\n" +
         line("name", operated_by.name, "Who you are: a person or an organisation") +
         line("contact", operated_by.contact, "How volunteers reach you: an address or a URL") +
         line("privacy", operated_by.privacy,
              "What you promise: how long you keep data and backups, what is in front of the "
              "server");
}

std::string ConfigText(const NewDirectory& wanted, const MadeDirectory& made,
                       const std::filesystem::path& private_key) {
  const auto name = [&](const std::filesystem::path& file) {
    return serve::NameInConfig(file, made.config.parent_path());
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
{})",
                     QuoteJson(serve::ListenAddress(wanted.address, wanted.hosts)), wanted.port,
                     name(made.certificate), name(private_key), wanted.admin_port,
                     wanted.is_open ? "open" : "token", OperatorText(wanted.operated_by));
}

// Ensures that the service's user does not own the keys that sign roots and policies.
std::string KeepKeysOfRoot(const std::filesystem::path& directory) {
  return fmt::format(
      "ExecStartPost=\n"
      "ExecStartPost=+-/usr/bin/find {}/data/keys -maxdepth 1 -type f ( -name root*.key -o "
      "-name policy.key -o -name policy.key.next ) -exec /bin/chown --no-dereference root:root "
      "{{}} +\n",
      directory.string());
}

}  // namespace

Result<MadeDirectory> MakeNewDirectory(const NewDirectory& wanted, const Clock& clock) {
  FIELDCOST_TRY(wire::CheckOperator(wanted.operated_by));
  FIELDCOST_ASSIGN(const std::filesystem::path directory, serve::PathForUnit(wanted.directory));
  FIELDCOST_ASSIGN(const serve::NewCertificate certificate,
                   serve::CertificateFor(wanted.certificate, wanted.hosts, directory,
                                         std::chrono::floor<std::chrono::seconds>(clock.Now())));
  MadeDirectory made{.config = directory / "aggregator.toml",
                     .certificate = certificate.files.certificate,
                     .authority = certificate.files.authority,
                     .admin_token = directory / "admin.token",
                     .unit_drop_in = directory / "fieldcost-aggregator.conf",
                     .untrusted_host = wanted.hosts.front()};
  FIELDCOST_ASSIGN(const std::string drop_in, serve::DropInText("fieldcost-aggregator", made.config,
                                                                KeepKeysOfRoot(directory)));
  FIELDCOST_TRY(MakeEmptyDirectory(directory, 0700));
  FIELDCOST_TRY(serve::WriteCertificate(certificate));
  const std::string token = HexEncode(crypto::RandomBytes(kTokenBytes));
  FIELDCOST_TRY(WriteFileAtomically(made.admin_token, token + "\n", 0600));
  FIELDCOST_TRY(WriteFileAtomically(made.unit_drop_in, drop_in, 0644));
  FIELDCOST_TRY(WriteFileAtomically(made.config,
                                    ConfigText(wanted, made, certificate.files.private_key), 0644));
  if (wanted.port != 0) made.url = serve::UrlOf("https", wanted.hosts.front(), wanted.port);
  return made;
}

}  // namespace fieldcost::aggregator
