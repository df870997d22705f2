#include "aggregator/publish/file_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "aggregator/publish/policy_publisher.h"
#include "common/base/file.h"
#include "common/crypto/sha256.h"
#include "common/http/conditional.h"

namespace fieldcost::publish {
namespace {

constexpr char kForever[] = "public, max-age=31536000, immutable";
constexpr char kAskAgain[] = "no-cache";

// The file below the directory of publications; "" if it is not public.
std::string FileOf(const wire::PublicName& name, std::uint64_t root_version) {
  switch (name.path->kind) {
    case wire::PublicKind::kTimestamp:
      return "timestamp";
    case wire::PublicKind::kPolicy:
      return kPolicyFile;
    case wire::PublicKind::kNewestRoot:
      return fmt::format("root/{}", root_version);
    case wire::PublicKind::kRoot:
      return name.version <= root_version ? fmt::format("root/{}", name.version) : std::string();
    case wire::PublicKind::kSnapshot:
      return fmt::format("snapshots/{}", name.name);
    case wire::PublicKind::kFragment:
      return fmt::format("fragments/{}", name.name);
  }
  return {};
}

std::string Quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

bool IsSame(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

std::optional<std::string> ReadRange(int fd, http::ByteRange range) {
  std::string bytes(range.end - range.first, '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(fd, bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(range.first + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

std::string FileServer::EtagOf(const std::string& file, int fd, const struct stat& info) const {
  {
    const MutexLock lock(mutex_);
    const auto known = hashed_.find(file);
    if (known != hashed_.end() && IsSame(known->second.info, info)) return known->second.etag;
  }
  const auto bytes = ReadRange(fd, {0, static_cast<std::size_t>(info.st_size)});
  if (!bytes) return {};
  std::string etag = Quoted(crypto::HexSha256(*bytes));
  const MutexLock lock(mutex_);
  hashed_.insert_or_assign(file, Hashed{.info = info, .etag = etag});
  return etag;
}

http::Response FileServer::Handle(const http::Request& untrusted_request) const {
  const auto name = wire::ParsePublicPath(untrusted_request.target);
  if (!name) return http::NotFound();
  const std::string file = FileOf(*name, root_version_);
  if (file.empty()) return http::NotFound();
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  const UniqueFd fd(::open((directory_ / file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return http::NotFound();
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > name->path->max_bytes) return http::NotFound();
  std::string etag =
      name->path->is_named_by_its_hash ? Quoted(name->name) : EtagOf(file, fd.get(), info);
  if (etag.empty()) return http::NotFound();
  return http::ConditionalAnswer(
      untrusted_request,
      {.size_bytes = size,
       .etag = std::move(etag),
       .type = "application/octet-stream",
       .cache_control = name->path->is_immutable ? kForever : kAskAgain},
      [&fd](http::ByteRange range) { return ReadRange(fd.get(), range); });
}

}  // namespace fieldcost::publish
