#include "common/serve/start_check.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <vector>

#include "common/base/check.h"
#include "common/base/file.h"
#include "common/base/time_text.h"
#include "common/http/certificate.h"

namespace fieldcost::serve {

Error Advise(Error error, std::string_view what_to_do) {
  error.message += fmt::format("; {}", what_to_do);
  return error;
}

std::filesystem::path NearestExisting(const std::filesystem::path& path) {
  std::filesystem::path existing = std::filesystem::absolute(path);
  struct stat found {};
  while (::lstat(existing.c_str(), &found) != 0 && errno == ENOENT &&
         existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  return existing;
}

Status CheckWritable(std::string_view use, const std::filesystem::path& directory,
                     std::string_view setting) {
  struct stat found {};
  int failure = ::stat(directory.c_str(), &found) == 0 ? 0 : errno;
  if (failure == 0 && !S_ISDIR(found.st_mode)) failure = ENOTDIR;
  if (failure == 0 &&
      ::faccessat(AT_FDCWD, directory.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    failure = errno;
  }
  if (failure == 0) return {};
  return Advise(
      ErrnoError(fmt::format("use {}", use), directory, failure),
      failure == EACCES || failure == EROFS
          ? fmt::format("let user {} write there, or name another in {}", ::geteuid(), setting)
          : fmt::format("name another in {}, or repair this one", setting));
}

Result<CertificateFound> CheckCertificate(const http::ServerOptions& options,
                                          std::chrono::sys_seconds now) {
  FIELDCOST_CHECK(!options.certificate_file.empty() && !options.private_key_file.empty());
  FIELDCOST_ASSIGN(const http::CertificateValidity validity,
                   http::CheckCertificate(options.certificate_file, options.private_key_file));
  FIELDCOST_ASSIGN(const std::vector<std::string> names,
                   http::CertificateNames(options.certificate_file));
  return CertificateFound{
      .fact = fmt::format("certificate {}: until {}, for {}; its key is {}",
                          options.certificate_file.string(), MinuteText(validity.end),
                          fmt::join(names, ", "), options.private_key_file.string()),
      .why_not_valid = http::WhyNotValid(validity, now),
      .names_anybody = !names.empty()};
}

std::string PlaceOf(const http::ServerOptions& options, std::string_view table) {
  return fmt::format("[{}] {} port {}", table, options.address, options.port);
}

Result<std::string> CheckPort(const http::ServerOptions& options, std::string_view table) {
  const auto free = http::CheckListen(options.address, options.port);
  if (!free) {
    return Advise(free.error(),
                  free.error().code == ErrorCode::kAlreadyExists
                      ? fmt::format("another program uses it: stop that, or set {}.port", table)
                      : fmt::format("set {0}.address and {0}.port", table));
  }
  if (options.port == 0) return fmt::format("[{}] {}: any free port", table, options.address);
  return PlaceOf(options, table) + ": free";
}

}  // namespace fieldcost::serve
