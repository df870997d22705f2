#include "aggregator/service/service_start_check.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/receipt.h"
#include "aggregator/ingest/token_file.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/service/service.h"
#include "aggregator/store/directory_lock.h"
#include "common/base/clock.h"
#include "common/base/secret_file.h"
#include "common/http/http_server.h"
#include "common/serve/disk_room.h"
#include "common/serve/start_check.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kMaxSecretFileBytes = 4'096;

Status CheckCertificate(const Config& config, StartCheck& found) {
  const http::ServerOptions& server = config.server;
  const auto now = std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
  FIELDCOST_ASSIGN(const serve::CertificateFound certificate, serve::CheckCertificate(server, now));
  found.facts.push_back(certificate.fact);
  if (!certificate.why_not_valid.empty()) {
    found.warnings.push_back(
        fmt::format("certificate {} {}: clients refuse it; replace it and its key",
                    server.certificate_file.string(), certificate.why_not_valid));
  }
  if (!certificate.names_anybody && config.ingest.names.empty()) {
    found.warnings.push_back(
        fmt::format("certificate {} has no names, so no batch is accepted; use one with a subject "
                    "alternative name, or set server.names",
                    server.certificate_file.string()));
  }
  struct stat key {};
  if (::stat(server.private_key_file.c_str(), &key) == 0 && (key.st_mode & 007) != 0) {
    found.warnings.push_back(
        fmt::format("private key {}: mode {:04o} gives every user access; run chmod o= on it",
                    server.private_key_file.string(), key.st_mode & 07777));
  }
  return {};
}

Status CheckTokens(const Config& config, StartCheck& found) {
  const std::vector<std::filesystem::path> none;
  for (const auto& [setting, files] :
       {std::pair{"admin.token_files", config.admin ? &config.admin->token_files : &none},
        std::pair{"enrolment.token_files", &config.token_files}}) {
    for (const std::filesystem::path& file : *files) {
      const auto token = ingest::ReadTokenFile(file);
      if (token) continue;
      if (token.error().code != ErrorCode::kNotFound) return token.error();
      return serve::Advise(token.error(),
                           fmt::format("put a token there (one line of printable characters, mode "
                                       "0600), or remove it from {}",
                                       setting));
    }
    if (!files->empty()) found.facts.push_back(fmt::format("{}: {} read", setting, files->size()));
  }
  return {};
}

// Checks the existing secrets; a start creates the others. Keys of root and policy may be readable
// to the user root only.
Status CheckSecrets(const std::filesystem::path& keys) {
  for (const char* name :
       {ingest::kPseudonymSecret, ingest::kReceiptSecret, ingest::kAbuseNamesSecret,
        publish::kTimestampKey, publish::kSnapshotKey}) {
    const auto secret = ReadSecretFile("secret file", keys / name, kMaxSecretFileBytes);
    if (!secret && secret.error().code != ErrorCode::kNotFound) return secret.error();
  }
  return {};
}

// A start works on a full disk, but accepts nothing.
void CheckRoom(const Config& config, const std::filesystem::path& existing, StartCheck& found) {
  const std::optional<std::uint64_t> free_bytes = serve::FreeBytes(existing);
  if (!free_bytes || *free_bytes >= config.min_free_bytes) return;
  found.warnings.push_back(fmt::format(
      "data directory {}: {} MiB are free on its disk, less than store.min_free_mib = {}: no batch "
      "will be accepted; free some space or lower it",
      config.store.data_dir.string(), *free_bytes / kMiB, config.min_free_bytes / kMiB));
}

Status CheckData(const Config& config, StartCheck& found) {
  constexpr char kSetting[] = "store.data_dir";
  const std::filesystem::path& data = config.store.data_dir;
  const std::filesystem::path existing = serve::NearestExisting(data);
  CheckRoom(config, existing, found);
  if (existing != std::filesystem::absolute(data)) {
    FIELDCOST_TRY(serve::CheckWritable("as the place for a data directory", existing, kSetting));
    found.facts.push_back(
        fmt::format("data directory {}: will be created at the start", data.string()));
    return {};
  }
  FIELDCOST_TRY(serve::CheckWritable("as data directory", data, kSetting));
  for (const char* below : {"store", "keys", "publish"}) {
    const std::filesystem::path directory = data / below;
    struct stat status {};
    if (::lstat(directory.c_str(), &status) != 0 && errno == ENOENT) continue;
    FIELDCOST_TRY(serve::CheckWritable("as part of the data directory", directory, kSetting));
  }
  FIELDCOST_TRY(CheckSecrets(data / "keys"));
  found.facts.push_back(fmt::format("data directory {}: writable", data.string()));
  return {};
}

Status CheckAddressFile(const std::filesystem::path& file, std::string_view setting) {
  if (file.empty()) return {};
  return serve::CheckWritable("as the place for an address file",
                              std::filesystem::absolute(file).parent_path(), setting);
}

Status CheckPort(const Config& config, const http::ServerOptions& server, std::string_view table,
                 Listening listening, StartCheck& found) {
  auto free = serve::CheckPort(server, table);
  if (free) {
    found.facts.push_back(std::move(*free));
    return {};
  }
  const bool is_ours = free.error().code == ErrorCode::kAlreadyExists &&
                       listening == Listening::kMayServe && store::IsLocked(config.store.data_dir);
  if (!is_ours) return free.error();
  found.facts.push_back(serve::PlaceOf(server, table) +
                        ": in use, and a server runs with this data directory");
  return {};
}

}  // namespace

Result<StartCheck> CheckStart(const Config& config, Listening listening) {
  StartCheck found;
  http::ServerOptions server = config.server;
  server.reserved_descriptors = kReservedDescriptors;
  FIELDCOST_TRY(http::ReserveDescriptors(server));
  FIELDCOST_TRY(CheckCertificate(config, found));
  FIELDCOST_TRY(CheckTokens(config, found));
  FIELDCOST_TRY(CheckData(config, found));
  FIELDCOST_TRY(CheckAddressFile(config.address_file, "server.address_file"));
  FIELDCOST_TRY(CheckPort(config, config.server, "server", listening, found));
  if (config.admin) {
    FIELDCOST_TRY(CheckAddressFile(config.admin->address_file, "admin.address_file"));
    FIELDCOST_TRY(CheckPort(config, config.admin->server, "admin", listening, found));
  }
  return found;
}

}  // namespace fieldcost::aggregator
