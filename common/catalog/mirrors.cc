#include "common/catalog/mirrors.h"

#include <algorithm>
#include <numeric>

#include "common/base/text.h"
#include "common/catalog/root_chain.h"
#include "common/catalog/rotation.h"
#include "common/crypto/sha256.h"

namespace fieldcost::catalog {

Result<Mirrors> Mirrors::Create(std::vector<Mirror> mirrors, std::uint64_t seed) {
  if (mirrors.empty() || mirrors.size() > kMaxMirrors) {
    return Fail(ErrorCode::kInvalidArgument, "expected 1 to {} mirrors of the catalogue, not {}",
                kMaxMirrors, mirrors.size());
  }
  std::vector<Place> places;
  for (const std::uint32_t number :
       FragmentOrder(seed, static_cast<std::uint32_t>(mirrors.size()))) {
    Place place{.mirror = std::move(mirrors[number]), .base = {}};
    FIELDCOST_ASSIGN(place.base, http::ParseBaseUrl(place.mirror.url));
    places.push_back(std::move(place));
  }
  return Mirrors(std::move(places));
}

Mirrors::Mirrors(std::vector<Place> places)
    : places_(std::move(places)), problems_(places_.size()) {}
Mirrors::Mirrors(Mirrors&& other) noexcept : places_(other.places_), problems_(places_.size()) {}

std::optional<std::size_t> Mirrors::Usable(std::size_t number) const {
  const MutexLock lock(mutex_);
  for (std::size_t step = 0; step < problems_.size(); ++step) {
    const std::size_t candidate = (number + step) % problems_.size();
    if (problems_[candidate].empty()) return candidate;
  }
  return std::nullopt;
}

void Mirrors::Skip(std::size_t number, const Error& why) {
  const MutexLock lock(mutex_);
  if (problems_[number].empty()) problems_[number] = EscapeControl(why.message);
}

std::vector<std::string> Mirrors::Skipped() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> skipped;
  for (std::size_t number = 0; number < problems_.size(); ++number) {
    if (problems_[number].empty()) continue;
    skipped.push_back(
        fmt::format("{}: {}", EscapeControl(places_[number].mirror.url), problems_[number]));
  }
  return skipped;
}

bool IsOfMirror(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kUnauthenticated:
    case ErrorCode::kCorrupt:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnavailable:
    case ErrorCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

Status MirrorConnection::Choose() {
  const std::optional<std::size_t> usable = mirrors_.Usable(current_);
  if (!usable) return Problem(Fail(ErrorCode::kUnavailable, "no mirror is left"));
  if (client_ && *usable == current_) return {};
  client_.reset();
  current_ = *usable;
  http::ClientOptions options = options_;
  options.url = mirrors_.at(current_).base.server;
  options.proxy_url = mirrors_.at(current_).mirror.proxy_url;
  FIELDCOST_ASSIGN(client_, http::Client::Create(std::move(options)));
  return {};
}

Result<std::string> MirrorConnection::Fetch(const std::string& path, std::size_t max_bytes,
                                            std::string_view what) {
  FIELDCOST_TRY(Choose());
  return catalog::Fetch(*client_, mirrors_.at(current_).base.path + path, max_bytes, what);
}

Result<std::string> MirrorConnection::FetchWhole(const NamedFile& file) {
  FIELDCOST_ASSIGN(std::string untrusted_bytes, Fetch(file.path, file.size_bytes, file.what));
  if (untrusted_bytes.size() == file.size_bytes && crypto::Sha256(untrusted_bytes) == file.sha256) {
    return untrusted_bytes;
  }
  return Fail(ErrorCode::kUnauthenticated, "{} is not the one that the {} names (mix-and-match)",
              file.what, file.named_by);
}

Result<std::string> MirrorConnection::FetchNamed(const NamedFile& file) {
  for (std::size_t tried = 1;; ++tried) {
    Result<std::string> bytes = FetchWhole(file);
    if (bytes || !IsOfMirror(bytes.error())) return bytes;
    if (bytes.error().code != ErrorCode::kNotFound) {
      FIELDCOST_TRY(SkipMirror(bytes.error()));
    } else if (tried >= mirrors_.size()) {
      return Problem(bytes.error());
    } else {
      client_.reset();
      current_ = (current_ + 1) % mirrors_.size();
    }
  }
}

Status MirrorConnection::SkipMirror(const Error& why) {
  mirrors_.Skip(current_, why);
  client_.reset();
  if (!mirrors_.Usable(current_)) return Problem(why);
  return {};
}

Error MirrorConnection::Problem(const Error& last) const {
  if (mirrors_.size() == 1) return last;
  std::string skipped;
  for (const std::string& mirror : mirrors_.Skipped()) {
    skipped += skipped.empty() ? mirror : "; " + mirror;
  }
  if (last.code != ErrorCode::kNotFound || skipped.empty()) {
    return Fail(last.code, "{}",
                skipped.empty() ? last.message + "; no other mirror has it"
                                : "no mirror could be used: " + skipped);
  }
  return Fail(last.code, "{}; no other mirror has it; skipped {}", last.message, skipped);
}

}  // namespace fieldcost::catalog
