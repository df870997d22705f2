#include "common/http/strict_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace fieldcost::http {
namespace {

constexpr std::size_t kMaxBodyBytes = 1000;

int StatusOf(const std::string& text) {
  const auto head = ParseHead(text, kMaxBodyBytes);
  return head ? 200 : head.error().status;
}

std::string WithLine(const std::string& line) {
  return "POST /x HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n";
}

TEST(StrictHeadTest, ParsesAPlainRequest) {
  const auto head = ParseHead(
      "POST /v1/x?a=b%2F.. HTTP/1.1\r\nhOST: example.org:8443\r\ncontent-length: 1000\r\n"
      "X-Empty:\r\nX-Blank: \t v w\t \r\nConnection: keep-alive, Close\r\nExpect: 100-Continue"
      "\r\n\r\n",
      kMaxBodyBytes);
  ASSERT_TRUE(head) << head.error().reason;
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->target, "/v1/x?a=b%2F..");
  EXPECT_EQ(head->content_length, 1000u);
  EXPECT_TRUE(head->close);
  EXPECT_TRUE(head->expects_continue);
  EXPECT_EQ(Find(head->headers, "X-Empty"), "");
  EXPECT_EQ(Find(head->headers, "X-Blank"), "v w");
  EXPECT_EQ(head->headers.size(), 6u);
}

TEST(StrictHeadTest, BodyLengthIsOneNumberOrNothing) {
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0")), 200);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 1000")), 200);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 1001")), 413);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 99999999999999999999999")), 413);
  EXPECT_EQ(StatusOf(WithLine("X: y")), 411);
  for (const char* value :
       {"", "-1", "+1", "1,1", "1, 1", "0x1", "1 1", "01", "1.0", "one", "1;"}) {
    EXPECT_EQ(StatusOf(WithLine(std::string("Content-Length: ") + value)), 400) << value;
  }
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 5\r\nContent-Length: 5")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 5\r\ncontent-length: 6")), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"), 200);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"), 400);
}

TEST(StrictHeadTest, NoTransferEncodingIsTaken) {
  for (const char* value : {"chunked", "xchunked", "identity", "gzip, chunked",
                            "\x0b"
                            "chunked",
                            ""}) {
    const std::string line = std::string("Transfer-Encoding: ") + value;
    EXPECT_THAT(StatusOf(WithLine(line)), ::testing::AnyOf(400, 411)) << value;
    EXPECT_EQ(StatusOf(WithLine(line + "\r\nContent-Length: 5")), 400) << value;
    EXPECT_THAT(StatusOf("GET / HTTP/1.1\r\nHost: a\r\n" + line + "\r\n\r\n"),
                ::testing::AnyOf(400, 411));
  }
}

TEST(StrictHeadTest, ExactlyOneValidHostIsNeeded) {
  const auto with_hosts = [](const std::string& lines) {
    return StatusOf("GET / HTTP/1.1\r\n" + lines + "\r\n");
  };
  EXPECT_EQ(with_hosts(""), 400);
  EXPECT_EQ(with_hosts("Host: a\r\nHost: a\r\n"), 400);
  EXPECT_EQ(with_hosts("Host: a\r\nhost: b\r\n"), 400);
  for (const char* host : {"a", "a:1", "127.0.0.1:8443", "[::1]", "[::1]:8443", "A-b_c.d"}) {
    EXPECT_EQ(with_hosts(std::string("Host: ") + host + "\r\n"), 200) << host;
  }
  for (const char* host : {"", "a b", "a/b", "a@b", "a,b", ":1", "a:", "a:b", "a:123456", "[", "[]",
                           "[::1", "[x]", "a?b", "::1"}) {
    EXPECT_EQ(with_hosts(std::string("Host: ") + host + "\r\n"), 400) << host;
  }
}

TEST(StrictHeadTest, OddHeadersAreRefused) {
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX: a\r\n b")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX: a\r\n\tb")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX : a")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length : 0")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\n: a")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX(y): a")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX: a\rb")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX: a\nb")), 400);
  EXPECT_EQ(StatusOf(WithLine(std::string("Content-Length: 0\r\nX: a\0b", 25))), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nX: \xc3\xa4")), 400);
  EXPECT_EQ(StatusOf(WithLine("Content-Length: 0\r\nExpect: 200-ok")), 417);
}

TEST(StrictHeadTest, NumberOfHeadersIsLimited) {
  const auto with_extra = [](std::size_t extra) {
    std::string lines = "Content-Length: 0";
    for (std::size_t i = 0; i < extra; ++i) lines += "\r\nX: y";
    return StatusOf(WithLine(lines));
  };
  EXPECT_EQ(with_extra(kMaxHeaderLines - 2), 200);
  EXPECT_EQ(with_extra(kMaxHeaderLines - 1), 431);
}

TEST(StrictHeadTest, OnlyOriginFormTargetsAreTaken) {
  for (const char* target : {"/", "/a.b/c", "/?", "/a?b=c&d=%20+..", "/a%20b", "/a!b:c@d", "/.a"}) {
    EXPECT_TRUE(IsOriginForm(target)) << target;
  }
  for (const char* target :
       {"",        "*",        "a",     "a:80",      "http://a/", "https://a/x",
        "//a",     "/a#b",     "/a\\b", "/..",       "/a/../b",   "/a/..",
        "/a..b",   "/%2e%2e/", "/%2E",  "/a%2fb",    "/a%5Cb",    "/%00",
        "/%0d%0a", "/%7f",     "/%",    "/%2",       "/%zz",      "/?%",
        "/?a=%g0", "/a b",     "/\x7f", "/\xc3\xa4", "/\t",       "?"}) {
    EXPECT_FALSE(IsOriginForm(target)) << target;
    EXPECT_EQ(StatusOf(std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\n\r\n"), 400)
        << target;
  }
}

TEST(StrictHeadTest, LongTargetsAre414) {
  const auto of_size = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(StatusOf(of_size(kMaxTargetBytes)), 200);
  EXPECT_EQ(StatusOf(of_size(kMaxTargetBytes + 1)), 414);
}

TEST(StrictHeadTest, OtherMethodsAndVersionsAreRefused) {
  const auto line = [](const std::string& text) { return StatusOf(text + "\r\nHost: a\r\n\r\n"); };
  for (const char* method : {"PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "get", "PRI"}) {
    EXPECT_EQ(line(std::string(method) + " / HTTP/1.1"), 405) << method;
  }
  EXPECT_EQ(line("GET / HTTP/1.0"), 505);
  EXPECT_EQ(line("GET / HTTP/1.2"), 505);
  EXPECT_EQ(line("GET / HTTP/0.9"), 505);
  EXPECT_EQ(line("PRI * HTTP/2.0"), 505);
  for (const char* text : {"", "GET", "GET /", "GET  / HTTP/1.1", " GET / HTTP/1.1",
                           "GET / HTTP/1.1 ", "GET / http/1.1", "GET / HTTP/", "G(T / HTTP/1.1",
                           "GET\t/ HTTP/1.1", "GET / x HTTP/1.1", "\r\nGET / HTTP/1.1"}) {
    EXPECT_EQ(line(text), 400) << text;
  }
}

TEST(HeadScanTest, FindsTheEndHoweverTheBytesArrive) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  const std::string bytes = head + "rest\r\n\r\n";
  HeadScan scan;
  for (std::size_t size = 0; size < head.size(); ++size) {
    ASSERT_EQ(scan.Scan(bytes.substr(0, size)), HeadScan::Outcome::kIncomplete) << size;
  }
  EXPECT_EQ(scan.Scan(bytes.substr(0, head.size())), HeadScan::Outcome::kComplete);
  EXPECT_EQ(scan.scanned, head.size());
  HeadScan at_once;
  EXPECT_EQ(at_once.Scan(bytes), HeadScan::Outcome::kComplete);
  EXPECT_EQ(at_once.scanned, head.size());
}

TEST(HeadScanTest, RefusesAtTheFirstBadByte) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\n"), std::string("GET\r/"), std::string("\x16\x03\x01"),
        std::string("GET /\0", 6), std::string("a\x7f"), std::string("\r\r\n")}) {
    HeadScan scan;
    EXPECT_EQ(scan.Scan(bytes), HeadScan::Outcome::kMalformed) << bytes;
  }
}

}  // namespace
}  // namespace fieldcost::http
