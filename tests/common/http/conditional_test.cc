#include "common/http/conditional.h"

#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

constexpr std::string_view kDigits = "0123456789";

// `reads`, if not null, counts how often the content was read.
Response Ask(Headers headers, const std::string& method = "GET", int* reads = nullptr) {
  return ConditionalAnswer(
      {.method = method, .headers = std::move(headers)},
      {.size_bytes = kDigits.size(),
       .etag = "\"a\"",
       .type = "text/css",
       .cache_control = "max-age=3600"},
      [reads](ByteRange range) {
        if (reads != nullptr) ++*reads;
        return std::optional(std::string(kDigits.substr(range.first, range.end - range.first)));
      });
}

TEST(ConditionalAnswerTest, SendsAllOfItWithItsHeaders) {
  for (const char* method : {"GET", "HEAD"}) {
    const bool is_head = std::string_view(method) == "HEAD";
    const Response response = Ask({}, method);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, is_head ? "" : kDigits);
    EXPECT_EQ(response.head_length.value_or(response.body.size()), kDigits.size())
        << "also for Content-Length of HEAD";
    EXPECT_EQ(Find(response.headers, "ETag"), "\"a\"");
    EXPECT_EQ(Find(response.headers, "Content-Type"), "text/css");
    EXPECT_EQ(Find(response.headers, "Cache-Control"), "max-age=3600");
  }
  EXPECT_EQ(Find(Ask({}, "POST").headers, "Allow"), "GET, HEAD");
}

TEST(ConditionalAnswerTest, ReadsOnlyWhatItSends) {
  int reads = 0;
  EXPECT_EQ(Ask({}, "HEAD", &reads).status, 200);
  EXPECT_EQ(Ask({{"If-None-Match", "\"a\""}}, "GET", &reads).status, 304);
  EXPECT_EQ(Ask({{"Range", "bytes=10-"}}, "GET", &reads).status, 416);
  EXPECT_EQ(Ask({}, "POST", &reads).status, 405);
  EXPECT_EQ(reads, 0);
  EXPECT_EQ(Ask({{"Range", "bytes=2-4"}}, "GET", &reads).body, "234");
  EXPECT_EQ(reads, 1);
}

TEST(ConditionalAnswerTest, ReportsContentThatCannotBeRead) {
  const auto fail = [](ByteRange) { return std::optional<std::string>(); };
  EXPECT_EQ(ConditionalAnswer({}, {.size_bytes = 1, .etag = "\"a\""}, fail).status, 500);
}

TEST(ConditionalAnswerTest, DoesNotSendWhatTheClientHas) {
  for (const char* known : {"\"a\"", "\"b\", \"a\"", "W/\"a\"", "*"}) {
    const Response response = Ask({{"If-None-Match", known}});
    EXPECT_EQ(response.status, 304) << known;
    EXPECT_EQ(response.body, "") << known;
    EXPECT_EQ(Find(response.headers, "ETag"), "\"a\"") << known;
  }
  EXPECT_EQ(Ask({{"If-None-Match", "\"b\""}}).status, 200);
}

TEST(ConditionalAnswerTest, SendsOneRangeOfTheSameContent) {
  const Response some = Ask({{"Range", "bytes=2-4"}});
  EXPECT_EQ(some.status, 206);
  EXPECT_EQ(some.body, "234");
  EXPECT_EQ(Find(some.headers, "Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(Ask({{"Range", "bytes=-3"}}).body, "789");
  EXPECT_EQ(Ask({{"Range", "bytes=10-"}}).status, 416);
  EXPECT_EQ(Ask({{"Range", "bytes=0-1"}, {"If-Range", "\"a\""}}).status, 206);
  EXPECT_EQ(Ask({{"Range", "bytes=0-1"}, {"If-Range", "\"b\""}}).status, 200);
  EXPECT_EQ(Ask({{"Range", "bytes=0-1"}}, "HEAD").status, 200);
}

}  // namespace
}  // namespace fieldcost::http
