#include "common/http/conditional.h"

#include <gtest/gtest.h>

namespace fieldcost::http {
namespace {

Response Ask(Headers headers, const std::string& method = "GET") {
  return ConditionalAnswer({.method = method, .headers = std::move(headers)},
                           {.bytes = "0123456789",
                            .etag = "\"a\"",
                            .type = "text/css",
                            .cache_control = "max-age=3600"});
}

TEST(ConditionalAnswerTest, SendsAllOfItWithItsHeaders) {
  for (const char* method : {"GET", "HEAD"}) {
    const Response response = Ask({}, method);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "0123456789") << "also for Content-Length of HEAD";
    EXPECT_EQ(Find(response.headers, "ETag"), "\"a\"");
    EXPECT_EQ(Find(response.headers, "Content-Type"), "text/css");
    EXPECT_EQ(Find(response.headers, "Cache-Control"), "max-age=3600");
  }
  EXPECT_EQ(Find(Ask({}, "POST").headers, "Allow"), "GET, HEAD");
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
