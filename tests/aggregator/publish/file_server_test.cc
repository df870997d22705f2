// Published files over HTTP: caching times and range requests.
#include "aggregator/publish/file_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/aggregator/publish/publish_fixture.h"

namespace fieldcost::publish {
namespace {

using ::testing::HasSubstr;

class FileServerTest : public PublishTest {
 protected:
  FileServerTest() {
    Contribute(1, 1, 2900);
    publisher_ = std::make_unique<Publisher>(MustOpen(Options(1)));
    MustPublish(*publisher_);
    files_ = std::make_unique<FileServer>(publisher_->directory(), 1);
    fragment_ = MustVerify(*publisher_).fragments[0].sha256;
    bytes_ = MustRead(publisher_->directory() / "fragments" / HexEncode(fragment_));
  }

  http::Response Get(const std::string& target, http::Headers headers = {}) const {
    return files_->Handle({.method = "GET", .target = target, .headers = std::move(headers)});
  }

  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<FileServer> files_;
  std::string fragment_;
  std::string bytes_;
};

TEST_F(FileServerTest, ContentNamedFilesAreImmutableAndOthersRevalidated) {
  const http::Response fragment = Get(wire::FragmentPath(fragment_));
  EXPECT_EQ(fragment.status, 200);
  EXPECT_EQ(fragment.body, bytes_);
  EXPECT_THAT(std::string(http::Find(fragment.headers, "Cache-Control")), HasSubstr("immutable"));
  for (const std::string& path :
       {std::string(wire::kRootPath), std::string(wire::kTimestampPath)}) {
    const http::Response response = Get(path);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(http::Find(response.headers, "Cache-Control"), "no-cache");
  }
  EXPECT_EQ(Get(wire::RootVersionPath(1)).body, Get(wire::kRootPath).body);
}

TEST_F(FileServerTest, AnUnchangedFileIsNotSentAgain) {
  const http::Response first = Get(wire::kTimestampPath);
  const std::string etag(http::Find(first.headers, "ETag"));
  const http::Response second = Get(wire::kTimestampPath, {{"If-None-Match", etag}});
  EXPECT_EQ(second.status, 304);
  EXPECT_TRUE(second.body.empty());
  MustPublish(*publisher_);
  EXPECT_EQ(Get(wire::kTimestampPath, {{"If-None-Match", etag}}).status, 200);
}

TEST_F(FileServerTest, RangesGiveExactlyThoseBytes) {
  const std::string path = wire::FragmentPath(fragment_);
  const std::size_t size = bytes_.size();
  const std::string n = std::to_string(size);
  const struct {
    std::string range;
    int status;
    std::string body;
    std::string content_range;
  } cases[] = {
      {"bytes=0-9", 206, bytes_.substr(0, 10), "bytes 0-9/" + n},
      {"bytes=10-", 206, bytes_.substr(10), "bytes 10-" + std::to_string(size - 1) + "/" + n},
      {"bytes=-4", 206, bytes_.substr(size - 4),
       "bytes " + std::to_string(size - 4) + "-" + std::to_string(size - 1) + "/" + n},
      {"bytes=1-99999999", 206, bytes_.substr(1), "bytes 1-" + std::to_string(size - 1) + "/" + n},
      {"bytes=" + n + "-", 416, "", "bytes */" + n},
      {"bytes=5-2", 200, bytes_, ""},
      {"bytes=0-1,4-5", 200, bytes_, ""},
      {"lines=1-2", 200, bytes_, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.range);
    const http::Response response = Get(path, {{"Range", c.range}});
    EXPECT_EQ(response.status, c.status);
    if (c.status != 416) {
      EXPECT_EQ(response.body, c.body);
    }
    EXPECT_EQ(http::Find(response.headers, "Content-Range"), c.content_range);
  }
}

// RFC 9110 section 13.1.5: the rest of a file is sent only to a client that has the first part of
// the same file.
TEST_F(FileServerTest, SendsRangesOnlyOfTheUnchangedFile) {
  const std::string path = wire::FragmentPath(fragment_);
  const std::string etag(http::Find(Get(path).headers, "ETag"));
  const auto status_if = [&](const std::string& condition) {
    const http::Response response = Get(path, {{"Range", "bytes=0-9"}, {"If-Range", condition}});
    EXPECT_EQ(response.body, response.status == 206 ? bytes_.substr(0, 10) : bytes_) << condition;
    return response.status;
  };
  EXPECT_EQ(status_if(etag), 206);
  EXPECT_EQ(status_if("\"another\""), 200);
  EXPECT_EQ(status_if("W/" + etag), 200);
  EXPECT_EQ(status_if("*"), 200);
  EXPECT_EQ(status_if(etag + ", " + etag), 200);
  EXPECT_EQ(status_if("Sun, 22 Nov 2026 10:00:00 GMT"), 200) << "we send no Last-Modified";
  EXPECT_EQ(Get(path, {{"If-Range", "\"another\""}}).status, 200);
}

TEST_F(FileServerTest, OnlyGetHasRanges) {
  const std::string path = wire::FragmentPath(fragment_);
  for (const char* range : {"bytes=0-9", "bytes=99999999-"}) {
    const http::Response head =
        files_->Handle({.method = "HEAD", .target = path, .headers = {{"Range", range}}});
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.body.size(), bytes_.size()) << "must equal Content-Length";
    EXPECT_EQ(http::Find(head.headers, "Content-Range"), "");
  }
}

TEST_F(FileServerTest, OnlyPublishedNamesReachTheFileSystem) {
  for (const char* target :
       {"/", "/v1", "/v1/metadata/root/0", "/v1/metadata/root/01", "/v1/metadata/root/../timestamp",
        "/v1/fragments/", "/v1/fragments/../../keys/root.key", "/v1/metadata/timestamp?x",
        "/v1/metadata/root/2", "/v1/fragments/%2e%2e", "/v1/metadata/%74imestamp",
        "/v1/metadata/timestamp/", "//v1/metadata/timestamp"}) {
    EXPECT_EQ(Get(target).status, 404) << target;
  }
  std::string upper = wire::FragmentPath(fragment_);
  upper.back() = 'G';
  EXPECT_EQ(Get(upper).status, 404);
  const http::Response post =
      files_->Handle({.method = "POST", .target = wire::kTimestampPath, .body = "x"});
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(http::Find(post.headers, "Allow"), "GET, HEAD");
}

}  // namespace
}  // namespace fieldcost::publish
