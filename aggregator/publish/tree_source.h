#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace fieldcost::publish {

// The names below DIR/v1 of a published tree, as paths relative to DIR, ascending.
struct TreeListing {
  std::vector<std::string> files;      // those of common/wire/public_tree.h
  std::vector<std::string> temporary;  // left by interrupted writes
  std::vector<std::string> unknown;    // anything else
};
// An absent directory is empty. kIo, kPermissionDenied: it cannot be listed.
Result<TreeListing> ListTree(const std::filesystem::path& directory);

// A published tree to be checked, on disk or at an address. Nothing in it is trusted.
class TreeSource {
 public:
  virtual ~TreeSource() = default;
  // The file at a public path ("/v1/timestamp"). kNotFound: there is none, which a server may also
  // express by 403 or 410; kTooLarge: it is longer than `max_bytes`; kUnavailable,
  // kDeadlineExceeded, kUnauthenticated: the server cannot be reached or trusted; other codes: this
  // file cannot be read.
  virtual Result<std::string> Read(const std::string& path, std::size_t max_bytes) = 0;
  // nullopt: this source cannot list its files.
  virtual Result<std::optional<TreeListing>> List() = 0;
  // The name of a path for people: a file or a URL.
  virtual std::string NameOf(std::string_view path) const = 0;
};

// `where`: a directory, or a URL as http::ClientOptions::url accepts it. `ca_file`: of the server's
// authority; empty = the system's. kInvalidArgument; kNotFound: there is no such directory.
Result<std::unique_ptr<TreeSource>> OpenTree(const std::string& where,
                                             const std::filesystem::path& ca_file);

}  // namespace fieldcost::publish
