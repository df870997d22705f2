#include "common/http/http_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/http/message_text.h"
#include "common/http/origin.h"

namespace fieldcost::http {
namespace {

TEST(MessageTest, FindsHeadersInAnyCase) {
  const Headers headers = {{"Content-Type", "a"}, {"X", "1"}, {"content-type", "b"}};
  EXPECT_EQ(Find(headers, "CONTENT-TYPE"), "a");
  EXPECT_EQ(Find(headers, "Content"), "");
  EXPECT_EQ(Find({}, "X"), "");
}

TEST(MessageTest, AWrongMethodGetsTheListOfAllowedOnes) {
  const Response response = WrongMethod("GET, HEAD");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(Find(response.headers, "Allow"), "GET, HEAD");
  EXPECT_NE(response.body.find("this address accepts GET, HEAD only"), std::string::npos);
}

TEST(MessageTest, JsonErrorsStayJsonForAnyQuotation) {
  const Response response = JsonError(400, "corrupt", "a\"b\\c\nd\x01\xff");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(Find(response.headers, "Content-Type"), "application/json");
  EXPECT_EQ(response.body,
            "{\"error\":\"corrupt\",\"message\":\"a\\\"b\\\\c\\u000ad\\u0001\\ufffd\"}\n");
}

TEST(MessageTextTest, TheServerAcceptsTheRequestHeads) {
  const Result<std::string> get = RequestHead({.target = "/a?b", .headers = {{"X", "y"}}}, "h:1");
  ASSERT_TRUE(get);
  EXPECT_EQ(*get, "GET /a?b HTTP/1.1\r\nHost: h:1\r\nUser-Agent: fieldcost\r\nX: y\r\n\r\n");
  const Result<std::string> post = RequestHead(
      {.method = "POST", .headers = {{"user-agent", "me"}}, .body = "12345"}, "[::1]:2");
  ASSERT_TRUE(post);
  EXPECT_EQ(*post,
            "POST / HTTP/1.1\r\nHost: [::1]:2\r\nContent-Length: 5\r\nuser-agent: me\r\n\r\n");
}

TEST(MessageTextTest, RefusesFieldsThatWouldChangeTheMessage) {
  for (const Request& request :
       {Request{.method = "GET /x HTTP/1.1\r\n"}, Request{.target = "/ HTTP/1.1\r\nX: y"},
        Request{.target = "relative"}, Request{.headers = {{"X\r\nY", "z"}}},
        Request{.headers = {{"X", "y\r\nZ: a"}}}, Request{.headers = {{"content-length", "1"}}},
        Request{.headers = {{"Transfer-Encoding", "chunked"}}}, Request{.headers = {{"Host", "b"}}},
        Request{.headers = {{"Connection", "close"}}}, Request{.headers = {{"", "z"}}}}) {
    const Result<std::string> head = RequestHead(request, "h");
    ASSERT_FALSE(head) << *head;
    EXPECT_EQ(head.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(head.error().message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(ResponseHead({.status = 100}, {}));
  EXPECT_FALSE(ResponseHead({.status = 1000}, {}));
  EXPECT_FALSE(ResponseHead({.headers = {{"Connection", "x"}}}, {}));
}

TEST(MessageTextTest, ResponseHeadsStateLengthAndClose) {
  EXPECT_EQ(ResponseHead({.body = "abc"}, {.close = true, .date = "D"}).value(),
            "HTTP/1.1 200 OK\r\nDate: D\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(ResponseHead({.head_length = 7}, {}).value(),
            "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
  EXPECT_EQ(ResponseHead({.status = 204}, {}).value(), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(OriginTest, ParsesHostsAndPorts) {
  const struct {
    const char* url;
    const char* host;
    int port;
    bool is_address;
    const char* authority;
  } kRows[] = {
      {"https://example.org", "example.org", 443, false, "example.org:443"},
      {"HTTPS://Example.ORG:8443/", "example.org", 8443, false, "example.org:8443"},
      {"https://127.0.0.1:1", "127.0.0.1", 1, true, "127.0.0.1:1"},
      {"https://[::1]:65535", "::1", 65535, true, "[::1]:65535"},
      {"https://[fe80::1]", "fe80::1", 443, true, "[fe80::1]:443"},
  };
  for (const auto& row : kRows) {
    const Result<Origin> origin = ParseOrigin(row.url, "https", 443);
    ASSERT_TRUE(origin) << origin.error().message;
    EXPECT_EQ(origin->host, row.host);
    EXPECT_EQ(origin->port, row.port);
    EXPECT_EQ(origin->is_address, row.is_address) << row.url;
    EXPECT_EQ(origin->Authority(), row.authority);
  }
}

TEST(OriginTest, AnythingElseIsRefusedAndNamed) {
  for (const char* url : {"",
                          "example.org",
                          "http://example.org",
                          "https://",
                          "https:///",
                          "https://a/b",
                          "https://a?b",
                          "https://a#b",
                          "https://u@a",
                          "https://u:p@a",
                          "https://a:",
                          "https://a:0",
                          "https://a:65536",
                          "https://a:x",
                          "https://a:1:2",
                          "https://::1",
                          "https://[::1",
                          "https://[::1]x",
                          "https://[a]",
                          "https://a b",
                          "https://a\r\n",
                          "https://-a",
                          "https://.a",
                          "https://a\x01"}) {
    const Result<Origin> origin = ParseOrigin(url, "https", 443);
    ASSERT_FALSE(origin) << url;
    EXPECT_EQ(origin.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(origin.error().message, ::testing::HasSubstr("expected https://host[:port]"));
  }
}

TEST(DescribeAnswerTest, ReportsTheMessageOfAnError) {
  const auto reason = [](std::string body) {
    return DescribeAnswer({.status = 401, .headers = {}, .body = std::move(body)});
  };
  EXPECT_EQ(reason(JsonError(401, "unauthenticated", "name or password is wrong").body),
            "status 401: name or password is wrong");
  EXPECT_EQ(reason(JsonError(401, "unauthenticated", "\"a\\b\"").body), "status 401: \"a\\x5cb\"");
  EXPECT_EQ(reason("no route\n"), "status 401: no route");
  EXPECT_EQ(reason("{\"error\":\"x\",\"message\":\"cut"),
            "status 401: {\"error\":\"x\",\"message\":\"cut");
  EXPECT_EQ(reason(""), "status 401: ");
  EXPECT_EQ(reason("\x1b[2J"), "status 401: \\x1b[2J");
}

}  // namespace
}  // namespace fieldcost::http
