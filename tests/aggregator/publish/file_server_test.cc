// Published files over HTTP: caching times and range requests.
#include "aggregator/publish/file_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

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

TEST_F(FileServerTest, TheNameOfAFileThatIsNamedByItsHashIsItsEtag) {
  EXPECT_EQ(http::Find(Get(wire::FragmentPath(fragment_)).headers, "ETag"),
            '"' + HexEncode(fragment_) + '"');
  // Therefore, nothing is read for these: damage does not change them.
  const std::filesystem::path file = publisher_->directory() / "fragments" / HexEncode(fragment_);
  ASSERT_TRUE(WriteFileAtomically(file, std::string(bytes_.size(), 'x'), 0644).has_value());
  EXPECT_EQ(
      Get(wire::FragmentPath(fragment_), {{"If-None-Match", '"' + HexEncode(fragment_) + '"'}})
          .status,
      304);
}

// Also if another process replaces them, as `policy sign` does, by files of the same size.
TEST_F(FileServerTest, TheEtagOfAFixedNameIsTheHashOfItsPresentContent) {
  const std::filesystem::path file = publisher_->directory() / "policy";
  for (const std::string content : {"first ", "second", "first ", "third "}) {
    ASSERT_TRUE(WriteFileAtomically(file, content, 0644).has_value());
    for (int i = 0; i < 2; ++i) {
      const http::Response response = Get(wire::kPolicyPath);
      EXPECT_EQ(response.body, content);
      EXPECT_EQ(http::Find(response.headers, "ETag"), '"' + crypto::HexSha256(content) + '"');
    }
  }
}

TEST_F(FileServerTest, RefusesWhatIsNotAFile) {
  const std::filesystem::path file = publisher_->directory() / "policy";
  EXPECT_EQ(Get(wire::kPolicyPath).status, 404);
  std::filesystem::create_directory(file);
  EXPECT_EQ(Get(wire::kPolicyPath).status, 404);
  std::filesystem::remove(file);
  std::ofstream(file) << std::string(wire::kMaxPolicyBytes + 1, 'x');
  EXPECT_EQ(Get(wire::kPolicyPath).status, 404);
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
    EXPECT_EQ(head.head_length, bytes_.size()) << "must equal Content-Length";
    EXPECT_EQ(head.body, "");
    EXPECT_EQ(http::Find(head.headers, "Content-Range"), "");
  }
}

TEST_F(FileServerTest, OnlyPublishedNamesReachTheFileSystem) {
  for (const char* target :
       {"/", "/v1", "/v1/root", "/v1/root/", "/v1/root/0", "/v1/root/01", "/v1/root/../timestamp",
        "/v1/fragment/", "/v1/fragment/../../keys/root.key", "/v1/timestamp?x", "/v1/root/2",
        "/v1/fragment/%2e%2e", "/v1/%74imestamp", "/v1/timestamp/", "//v1/timestamp"}) {
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
