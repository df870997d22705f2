#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/mutex.h"
#include "common/base/result.h"
#include "common/http/client.h"
#include "common/http/origin.h"

namespace fieldcost::catalog {

// Servers of the same published files, or directories. Any of them may be down, outdated or
// hostile: signatures and hashes decide what is accepted, so a mirror can only delay a sync.

inline constexpr std::size_t kMaxMirrors = 16;
// Requests for one file from one mirror: each continues where the connection was cut.
inline constexpr int kMaxRequestsPerFile = 16;

struct Mirror {
  std::string url;        // "https://host[:port][/path]"
  std::string proxy_url;  // as in http::ClientOptions
  // Instead of a server: a tree as written by `fieldcost-aggregator publish --to`.
  std::filesystem::path directory = {};

  std::string Name() const { return directory.empty() ? url : directory.string(); }
};

// The mirrors of one sync, in random order: clients spread over them, and one that fails is not
// preferred the next time. Thread-safe: all connections of a sync share it.
class Mirrors {
 public:
  // The order is a function of `seed`. kInvalidArgument: none, more than kMaxMirrors, or an invalid
  // URL.
  static Result<Mirrors> Create(std::vector<Mirror> mirrors, std::uint64_t seed);
  Mirrors(Mirrors&& other) noexcept;

  struct Place {
    Mirror mirror;
    http::BaseUrl base;
  };
  // Numbers 0 to size() - 1 are in the order of this sync.
  std::size_t size() const { return places_.size(); }
  const Place& at(std::size_t number) const { return places_[number]; }

  // The first usable mirror at or after `number`, cyclically; nullopt if none is left.
  std::optional<std::size_t> Usable(std::size_t number) const FIELDCOST_EXCLUDES(mutex_);
  // Does not use the mirror again in this sync.
  void Skip(std::size_t number, const Error& why) FIELDCOST_EXCLUDES(mutex_);
  // Why the last mirror was skipped. REQUIRES: one was.
  Error LastProblem() const FIELDCOST_EXCLUDES(mutex_);
  // "https://a.example/x: fetch …: connection refused", for each skipped mirror.
  std::vector<std::string> Skipped() const FIELDCOST_EXCLUDES(mutex_);

 private:
  explicit Mirrors(std::vector<Place> places);

  const std::vector<Place> places_;
  mutable Mutex mutex_;
  std::vector<std::optional<Error>> problems_ FIELDCOST_GUARDED_BY(mutex_);  // by number
  std::size_t last_skipped_ FIELDCOST_GUARDED_BY(mutex_) = 0;
};

// Whether another mirror may succeed where one failed with this error. Otherwise it has a local
// cause: the disk, or the user has stopped it.
bool IsOfMirror(const Error& error);

// A published file with a known hash.
struct NamedFile {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::string sha256;
  std::string what;      // "fragment 7"
  std::string named_by;  // "snapshot"
};

// A connection to one mirror at a time. Not thread-safe.
class MirrorConnection {
 public:
  // `mirrors` must outlive it. The url and proxy_url of `options` are ignored.
  MirrorConnection(Mirrors& mirrors, http::ClientOptions options)
      : mirrors_(mirrors), options_(std::move(options)) {}

  // Fetches from the current mirror only, as catalog::Fetch() (root_chain.h).
  Result<std::string> Fetch(const std::string& path, std::size_t max_bytes, std::string_view what);
  // The same for a file with a known hash, from the first mirror that has it. A mirror that fails,
  // or sends other bytes, is skipped; one that only lacks this file is not.
  //
  // `untrusted_part`: the first bytes of the file, if an earlier call was cut off, from any mirror.
  // They are not sent again unless they turn out to be wrong. After an error it holds the first
  // bytes received so far, for a later call; at most size_bytes.
  Result<std::string> FetchNamed(const NamedFile& file, std::string& untrusted_part);

  // Skips the current mirror because of what it has sent, and continues with the next one. Returns
  // the error if there is none; with several mirrors it names all of them.
  Status SkipMirror(const Error& why);
  const Mirror& current() const { return mirrors_.at(current_).mirror; }

 private:
  // Connects to a usable mirror.
  Status Choose();
  Result<std::string> FetchFromDisk(const std::string& path, std::size_t max_bytes,
                                    std::string_view what) const;
  // The same from the current mirror.
  Result<std::string> FetchHere(const NamedFile& file, std::string& untrusted_part);
  // Requests the rest, and adds what is received, also if it fails.
  Status Continue(const NamedFile& file, std::string& untrusted_part);
  Error Problem(const Error& last) const;

  Mirrors& mirrors_;
  http::ClientOptions options_;
  std::size_t current_ = 0;
  std::optional<http::Client> client_;  // to the current mirror
};

}  // namespace fieldcost::catalog
