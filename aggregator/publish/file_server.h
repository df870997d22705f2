#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

#include "common/http/http_message.h"

namespace fieldcost::publish {

// Answers GET and HEAD for the published files (paths of common/wire/metadata.h), as
// common/http/conditional.h describes; Cache-Control: immutable if the name is the content's hash,
// otherwise to be revalidated each time. Only names of exactly the expected form
// reach the file system. Thread-safe; reads small files, does not block for long.
class FileServer {
 public:
  // `directory`: Publisher::directory(). `root_version`: the root whose keys sign now; newer roots
  // are not served until the files signed with their keys exist.
  FileServer(std::filesystem::path directory, std::uint64_t root_version)
      : directory_(std::move(directory)), root_version_(root_version) {}

  // Call after a publication with the version of Publisher::root().
  void SetRootVersion(std::uint64_t root_version) { root_version_ = root_version; }

  // 404 for any other target, 405 for any other method.
  http::Response Handle(const http::Request& untrusted_request) const;

 private:
  std::filesystem::path directory_;
  std::atomic<std::uint64_t> root_version_;
};

}  // namespace fieldcost::publish
