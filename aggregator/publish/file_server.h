#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "common/base/mutex.h"
#include "common/http/http_message.h"
#include "common/wire/public_tree.h"

namespace fieldcost::publish {

// Answers GET and HEAD for the published files (paths of common/wire/public_tree.h), as
// common/http/conditional.h describes; Cache-Control: immutable if the content of an address never
// changes, otherwise to be revalidated each time. Only names of exactly the expected form reach the
// file system. The ETag is the file's name where that is a hash; the few other files are hashed
// once and again after they have been replaced, so requests hash nothing, and those for HEAD or 304
// read nothing. Thread-safe; reads small files, does not block for long.
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
  // A file that was hashed. Files are only ever replaced as a whole, so another content is another
  // inode or has another time of change.
  struct Hashed {
    struct stat info;
    std::string etag;
  };

  // The ETag of an open file that is not named by its hash, in quotes; "" if it cannot be read.
  std::string EtagOf(const std::string& file, int fd, const struct stat& info) const;

  std::filesystem::path directory_;
  std::atomic<std::uint64_t> root_version_;
  mutable Mutex mutex_;
  // By name. At most one entry per root, and one each for timestamp and policy.
  mutable std::map<std::string, Hashed> hashed_ FIELDCOST_GUARDED_BY(mutex_);
};

}  // namespace fieldcost::publish
