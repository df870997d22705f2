#include "aggregator/publish/tree_source.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "common/base/ascii.h"
#include "common/base/file.h"
#include "common/http/client.h"
#include "common/http/proxy.h"
#include "common/wire/public_tree.h"

namespace fieldcost::publish {
namespace {

using Path = std::filesystem::path;

// Whether WriteFileAtomically() could have left this name next to a published file.
bool IsTemporary(const std::string& path) {
  constexpr std::size_t kSuffix = 6;
  const std::size_t dot = path.rfind('.');
  return dot != std::string::npos && path.size() == dot + 1 + kSuffix &&
         AreAll(std::string_view(path).substr(dot + 1), IsLetterOrDigit) &&
         wire::ParsePublicPath('/' + path.substr(0, dot));
}

class DirectorySource : public TreeSource {
 public:
  explicit DirectorySource(Path directory) : directory_(std::move(directory)) {}

  Result<std::string> Read(const std::string& path, std::size_t max_bytes) override {
    return ReadFile(NameOf(path), max_bytes);
  }
  Result<std::optional<TreeListing>> List() override {
    FIELDCOST_ASSIGN(TreeListing listing, ListTree(directory_));
    return std::optional(std::move(listing));
  }
  std::string NameOf(std::string_view path) const override {
    return (directory_ / path.substr(1)).string();
  }

 private:
  const Path directory_;
};

class ServerSource : public TreeSource {
 public:
  explicit ServerSource(http::Client client) : client_(std::move(client)) {}

  Result<std::string> Read(const std::string& path, std::size_t max_bytes) override {
    auto response = client_.Send({.target = path});
    if (!response) return response.error();
    switch (response->status) {
      case 200:
        break;
      case 403:
      case 404:
      case 410:
        return Fail(ErrorCode::kNotFound, "{}: {}", NameOf(path), http::DescribeAnswer(*response));
      default:
        return Fail(ErrorCode::kIo, "{}: {}", NameOf(path), http::DescribeAnswer(*response));
    }
    if (response->body.size() > max_bytes) {
      return Fail(ErrorCode::kTooLarge, "{}: larger than {} bytes", NameOf(path), max_bytes);
    }
    return std::move(response->body);
  }
  Result<std::optional<TreeListing>> List() override { return std::optional<TreeListing>(); }
  std::string NameOf(std::string_view path) const override {
    return client_.origin() + std::string(path);
  }

 private:
  http::Client client_;
};

}  // namespace

Result<TreeListing> ListTree(const Path& directory) {
  TreeListing listing;
  const Path top = directory / "v1";
  std::error_code error;
  if (!std::filesystem::exists(top, error)) return listing;
  for (auto it = std::filesystem::recursive_directory_iterator(top, error);
       !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    const bool is_folder = it->is_directory(ignored) && !it->is_symlink(ignored);
    if (is_folder) continue;
    std::string path = it->path().lexically_relative(directory).generic_string();
    if (wire::ParsePublicPath('/' + path)) {
      listing.files.push_back(std::move(path));
    } else {
      (IsTemporary(path) ? listing.temporary : listing.unknown).push_back(std::move(path));
    }
  }
  if (error) return ErrnoError("list", top, error.value());
  for (auto* names : {&listing.files, &listing.temporary, &listing.unknown}) {
    std::sort(names->begin(), names->end());
  }
  return listing;
}

Result<std::unique_ptr<TreeSource>> OpenTree(const std::string& where, const Path& ca_file) {
  if (where.find("://") != std::string::npos) {
    FIELDCOST_ASSIGN(http::Client client,
                     http::Client::Create({.url = where,
                                           .ca_file = ca_file,
                                           .max_response_bytes = wire::kMaxMetadataBytes,
                                           .proxy_url = http::ChooseProxy(where, "")}));
    return std::unique_ptr<TreeSource>(std::make_unique<ServerSource>(std::move(client)));
  }
  std::error_code error;
  if (!std::filesystem::is_directory(where, error)) {
    return Fail(ErrorCode::kNotFound, "{} is neither a directory nor a URL", where);
  }
  return std::unique_ptr<TreeSource>(std::make_unique<DirectorySource>(where));
}

}  // namespace fieldcost::publish
