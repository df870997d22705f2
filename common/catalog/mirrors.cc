#include "common/catalog/mirrors.h"

#include <algorithm>
#include <numeric>

#include "common/base/file.h"
#include "common/base/text.h"
#include "common/catalog/root_chain.h"
#include "common/catalog/rotation.h"
#include "common/crypto/sha256.h"

namespace fieldcost::catalog {
namespace {

constexpr int kPartialContent = 206;
constexpr int kUnsatisfiable = 416;

// Adds the body of a response, possibly one that was cut off, to the first bytes of a file.
// Discards all of them and returns false if it does not continue them.
bool AddBody(const http::Response& untrusted_response, const NamedFile& file,
             std::string& untrusted_part) {
  const std::string& body = untrusted_response.body;
  if (untrusted_response.status == 200) {
    if (body.size() > untrusted_part.size()) untrusted_part = body;
    return true;
  }
  const auto range =
      http::ParseContentRange(http::Find(untrusted_response.headers, "Content-Range"));
  if (untrusted_response.status == kPartialContent && range && !untrusted_part.empty() &&
      range->first == untrusted_part.size() &&
      range->size.value_or(file.size_bytes) == file.size_bytes &&
      body.size() <= file.size_bytes - untrusted_part.size()) {
    untrusted_part += body;
    return true;
  }
  untrusted_part.clear();
  return false;
}

}  // namespace

Result<Mirrors> Mirrors::Create(std::vector<Mirror> mirrors, std::uint64_t seed) {
  if (mirrors.empty() || mirrors.size() > kMaxMirrors) {
    return Fail(ErrorCode::kInvalidArgument, "expected 1 to {} mirrors of the catalogue, not {}",
                kMaxMirrors, mirrors.size());
  }
  std::vector<Place> places;
  for (const std::uint32_t number :
       FragmentOrder(seed, static_cast<std::uint32_t>(mirrors.size()))) {
    Place place{.mirror = std::move(mirrors[number]), .base = {}};
    if (place.mirror.directory.empty()) {
      FIELDCOST_ASSIGN(place.base, http::ParseBaseUrl(place.mirror.url));
    }
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
    if (!problems_[candidate]) return candidate;
  }
  return std::nullopt;
}

void Mirrors::Skip(std::size_t number, const Error& why) {
  const MutexLock lock(mutex_);
  if (problems_[number]) return;
  problems_[number] = Error{.code = why.code, .message = EscapeControl(why.message)};
  last_skipped_ = number;
}

Error Mirrors::LastProblem() const {
  const MutexLock lock(mutex_);
  return problems_[last_skipped_].value();
}

std::vector<std::string> Mirrors::Skipped() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> skipped;
  for (std::size_t number = 0; number < problems_.size(); ++number) {
    if (!problems_[number]) continue;
    skipped.push_back(fmt::format("{}: {}", EscapeControl(places_[number].mirror.Name()),
                                  problems_[number]->message));
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
  if (!usable) return Problem(mirrors_.LastProblem());
  if (client_ && *usable == current_) return {};
  client_.reset();
  current_ = *usable;
  if (!current().directory.empty()) return {};
  http::ClientOptions options = options_;
  options.url = mirrors_.at(current_).base.server;
  options.proxy_url = mirrors_.at(current_).mirror.proxy_url;
  FIELDCOST_ASSIGN(client_, http::Client::Create(std::move(options)));
  return {};
}

Result<std::string> MirrorConnection::Fetch(const std::string& path, std::size_t max_bytes,
                                            std::string_view what) {
  FIELDCOST_TRY(Choose());
  if (!current().directory.empty()) return FetchFromDisk(path, max_bytes, what);
  return catalog::Fetch(*client_, mirrors_.at(current_).base.path + path, max_bytes, what);
}

Result<std::string> MirrorConnection::FetchFromDisk(const std::string& path, std::size_t max_bytes,
                                                    std::string_view what) const {
  auto untrusted_bytes = ReadFile(current().directory / path.substr(1), max_bytes);
  if (!untrusted_bytes) return Within(untrusted_bytes.error(), fmt::format("fetch {}", what));
  return untrusted_bytes;
}

Status MirrorConnection::Continue(const NamedFile& file, std::string& untrusted_part) {
  FIELDCOST_TRY(Choose());
  if (!current().directory.empty()) {
    FIELDCOST_ASSIGN(untrusted_part, FetchFromDisk(file.path, file.size_bytes, file.what));
    return {};
  }
  http::Request request{.target = mirrors_.at(current_).base.path + file.path};
  if (!untrusted_part.empty()) {
    request.headers.emplace_back("Range", fmt::format("bytes={}-", untrusted_part.size()));
  }
  Result<http::Response> response = client_->Send(request, file.size_bytes);
  if (!response) {
    if (client_->incomplete()) AddBody(*client_->incomplete(), file, untrusted_part);
    return Within(response.error(), fmt::format("fetch {}", file.what));
  }
  if (response->status == kPartialContent || response->status == kUnsatisfiable) {
    if (AddBody(*response, file, untrusted_part)) return {};
    return Fail(ErrorCode::kCorrupt, "fetch {}: {} sent another part than the requested one",
                file.what, current().Name());
  }
  if (response->status != 200) {
    return NotServed(response->status, client_->origin(), request.target, file.what);
  }
  untrusted_part = std::move(response->body);
  return {};
}

Result<std::string> MirrorConnection::FetchHere(const NamedFile& file,
                                                std::string& untrusted_part) {
  for (int requests = 1;; ++requests) {
    const std::size_t kept_bytes = untrusted_part.size();
    const Status received =
        kept_bytes < file.size_bytes ? Continue(file, untrusted_part) : Status();
    if (received && untrusted_part.size() == file.size_bytes &&
        crypto::Sha256(untrusted_part) == file.sha256) {
      return std::exchange(untrusted_part, {});
    }
    Error error = received ? Fail(ErrorCode::kUnauthenticated,
                                  "{} is not the one that the {} names (mix-and-match)", file.what,
                                  file.named_by)
                           : received.error();
    if (received) untrusted_part.clear();
    // The part that was kept may have come from another mirror, so this one is asked for all of it.
    const bool starts_again = kept_bytes != 0 && untrusted_part.empty();
    const bool was_cut =
        error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded;
    const bool continues = was_cut && untrusted_part.size() > kept_bytes;
    if (requests == kMaxRequestsPerFile || (!starts_again && !continues)) return error;
  }
}

Result<std::string> MirrorConnection::FetchNamed(const NamedFile& file,
                                                 std::string& untrusted_part) {
  for (std::size_t tried = 1;; ++tried) {
    Result<std::string> bytes = FetchHere(file, untrusted_part);
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
