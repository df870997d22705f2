#include "aggregator/service/start_check.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>

#include "aggregator/ingest/abuse_names.h"
#include "aggregator/ingest/pseudonyms.h"
#include "aggregator/ingest/receipt.h"
#include "aggregator/ingest/token_file.h"
#include "aggregator/publish/key_ring.h"
#include "aggregator/service/service.h"
#include "aggregator/store/directory_lock.h"
#include "common/base/clock.h"
#include "common/base/secret_file.h"
#include "common/http/certificate.h"
#include "common/http/server.h"

namespace fieldcost::aggregator {
namespace {

constexpr std::size_t kMaxSecretFileBytes = 4'096;

Error Advise(Error error, std::string_view what_to_do) {
  error.message += fmt::format("; {}", what_to_do);
  return error;
}

// That this user may make files in it.
Status CheckWritable(std::string_view use, const std::filesystem::path& directory,
                     std::string_view setting) {
  const std::string action = fmt::format("use {}", use);
  const std::string advice = fmt::format("name another in {}, or mend this one", setting);
  struct stat found {};
  int failure = ::stat(directory.c_str(), &found) == 0 ? 0 : errno;
  if (failure == 0 && !S_ISDIR(found.st_mode)) failure = ENOTDIR;
  if (failure == 0 &&
      ::faccessat(AT_FDCWD, directory.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    failure = errno;
  }
  if (failure == 0) return {};
  return Advise(
      ErrnoError(action, directory, failure),
      failure == EACCES || failure == EROFS
          ? fmt::format("let user {} write there, or name another in {}", ::geteuid(), setting)
          : advice);
}

Status CheckCertificate(const Config& config, StartCheck& found) {
  const http::ServerOptions& server = config.server;
  FIELDCOST_ASSIGN(const http::CertificateValidity validity,
                   http::CheckCertificate(server.certificate_file, server.private_key_file));
  FIELDCOST_ASSIGN(const std::vector<std::string> names,
                   http::CertificateNames(server.certificate_file));
  found.facts.push_back(
      fmt::format("certificate {}: until {:%Y-%m-%d %H:%M} UTC, for {}; its key is {}",
                  server.certificate_file.string(),
                  fmt::gmtime(static_cast<std::time_t>(validity.end.time_since_epoch().count())),
                  fmt::join(names, ", "), server.private_key_file.string()));
  const auto now = std::chrono::floor<std::chrono::seconds>(SystemClock().Now());
  if (const std::string why = http::WhyNotValid(validity, now); !why.empty()) {
    found.warnings.push_back(fmt::format(
        "certificate {} {}: no client that checks it stays; put another one there, with its key",
        server.certificate_file.string(), why));
  }
  if (names.empty() && config.ingest.names.empty()) {
    found.warnings.push_back(fmt::format(
        "certificate {} names nobody: no batch is taken; have another issued with a subject "
        "alternative name, or set server.names",
        server.certificate_file.string()));
  }
  struct stat key {};
  if (::stat(server.private_key_file.c_str(), &key) == 0 && (key.st_mode & 007) != 0) {
    found.warnings.push_back(
        fmt::format("private key {}: mode {:04o} lets everybody at it; run chmod o= on it",
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
      const bool missing = token.error().code == ErrorCode::kNotFound;
      if (missing) {
        return Advise(token.error(), fmt::format("put a token there, a line of printable "
                                                 "characters, mode 0600, or take it out of {}",
                                                 setting));
      }
      return token.error();
    }
    if (!files->empty()) found.facts.push_back(fmt::format("{}: {} read", setting, files->size()));
  }
  return {};
}

// What of it is there: a start makes the rest. root's and the policy's may be for root only.
Status CheckSecrets(const std::filesystem::path& keys) {
  for (const char* name :
       {ingest::kPseudonymSecret, ingest::kReceiptSecret, ingest::kAbuseNamesSecret,
        publish::kTimestampKey, publish::kSnapshotKey}) {
    const auto secret = ReadSecretFile("secret file", keys / name, kMaxSecretFileBytes);
    if (!secret && secret.error().code != ErrorCode::kNotFound) return secret.error();
  }
  return {};
}

Status CheckData(const std::filesystem::path& data, StartCheck& found) {
  constexpr char kSetting[] = "store.data_dir";
  std::filesystem::path existing = std::filesystem::absolute(data);
  struct stat status {};
  while (::lstat(existing.c_str(), &status) != 0 && errno == ENOENT &&
         existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  if (existing != std::filesystem::absolute(data)) {
    FIELDCOST_TRY(CheckWritable("as the place for a data directory", existing, kSetting));
    found.facts.push_back(fmt::format("data directory {}: the start will make it", data.string()));
    return {};
  }
  FIELDCOST_TRY(CheckWritable("as data directory", data, kSetting));
  for (const char* below : {"store", "keys", "publish"}) {
    const std::filesystem::path directory = data / below;
    if (::lstat(directory.c_str(), &status) != 0 && errno == ENOENT) continue;
    FIELDCOST_TRY(CheckWritable("as part of the data directory", directory, kSetting));
  }
  FIELDCOST_TRY(CheckSecrets(data / "keys"));
  found.facts.push_back(fmt::format("data directory {}: it can be written", data.string()));
  return {};
}

Status CheckAddressFile(const std::filesystem::path& file, std::string_view setting) {
  if (file.empty()) return {};
  return CheckWritable("as the place for an address file",
                       std::filesystem::absolute(file).parent_path(), setting);
}

Status CheckPort(const Config& config, const http::ServerOptions& server, std::string_view table,
                 Listening listening, StartCheck& found) {
  const std::string place = fmt::format("{} port {}", server.address, server.port);
  const auto free = http::CheckListen(server.address, server.port);
  if (free) {
    found.facts.push_back(server.port == 0
                              ? fmt::format("[{}] {}: any free port", table, server.address)
                              : fmt::format("[{}] {}: free", table, place));
    return {};
  }
  if (free.error().code == ErrorCode::kAlreadyExists) {
    if (listening == Listening::kMayServe && store::IsLocked(config.store.data_dir)) {
      found.facts.push_back(
          fmt::format("[{}] {}: in use, and a server runs with this data directory", table, place));
      return {};
    }
    return Advise(free.error(),
                  fmt::format("another program has it: end that, or set {}.port", table));
  }
  return Advise(free.error(), fmt::format("set {0}.address and {0}.port", table));
}

}  // namespace

Result<StartCheck> CheckStart(const Config& config, Listening listening) {
  StartCheck found;
  http::ServerOptions server = config.server;
  server.reserved_descriptors = kReservedDescriptors;
  FIELDCOST_TRY(http::ReserveDescriptors(server));
  FIELDCOST_TRY(CheckCertificate(config, found));
  FIELDCOST_TRY(CheckTokens(config, found));
  FIELDCOST_TRY(CheckData(config.store.data_dir, found));
  FIELDCOST_TRY(CheckAddressFile(config.address_file, "server.address_file"));
  FIELDCOST_TRY(CheckPort(config, config.server, "server", listening, found));
  if (config.admin) {
    FIELDCOST_TRY(CheckAddressFile(config.admin->address_file, "admin.address_file"));
    FIELDCOST_TRY(CheckPort(config, config.admin->server, "admin", listening, found));
  }
  return found;
}

}  // namespace fieldcost::aggregator
