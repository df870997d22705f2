#include "tools/lsp/framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/lsp/lsp_limits.h"

namespace fieldcost::lsp {
namespace {

using ::testing::HasSubstr;

std::string NextOf(Framer& framer) {
  auto next = framer.Next();
  if (!next) return "error: " + next.error().message;
  return *next ? **next : "(more)";
}

TEST(FramerTest, ReassemblesMessagesFromAnyPieces) {
  const std::string stream = Frame("{\"a\":1}") + Frame("{}");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    Framer framer;
    std::vector<std::string> messages;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      framer.Feed(std::string_view(stream).substr(at, piece));
      for (std::string next = NextOf(framer); next != "(more)"; next = NextOf(framer)) {
        messages.push_back(next);
      }
    }
    EXPECT_THAT(messages, ::testing::ElementsAre("{\"a\":1}", "{}")) << piece;
  }
}

TEST(FramerTest, AcceptsHeaderNamesInAnyCaseAndSkipsOthers) {
  Framer framer;
  framer.Feed(
      "content-LENGTH:  2 \r\nX-Other: 1\r\n"
      "Content-Type: application/vscode-jsonrpc; charset=\"utf8\"\r\n\r\n{}");
  EXPECT_EQ(NextOf(framer), "{}");
}

TEST(FramerTest, AnInvalidHeaderEndsTheStream) {
  for (const char* header :
       {"{\"jsonrpc\":\"2.0\"}\r\n\r\n", "Content-Length: -1\r\n\r\n",
        "Content-Length: 1e3\r\n\r\n", "Content-Length: 18446744073709551616\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n", "X-Other: 1\r\n\r\n", ": 5\r\n\r\n",
        "\r\n\r\n", "Content-Type: text/plain; charset=utf-16\r\nContent-Length: 2\r\n\r\n"}) {
    Framer framer;
    framer.Feed(header);
    EXPECT_THAT(NextOf(framer), HasSubstr("header")) << header;
    framer.Feed(Frame("{}"));
    EXPECT_THAT(NextOf(framer), HasSubstr("out of sync")) << header;
  }
}

TEST(FramerTest, AHeaderWithoutEndIsRefusedBeforeItFillsTheMemory) {
  Framer framer;
  framer.Feed(std::string(kMaxHeaderBytes, 'x'));
  EXPECT_THAT(NextOf(framer), HasSubstr("does not end"));
}

TEST(FramerTest, AMessageAboveTheLimitIsSkippedAndTheNextOneRead) {
  Framer framer;
  const std::string big(kMaxMessageBytes + 1, ' ');
  const std::string stream = Frame(big) + Frame("{}");
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < stream.size(); at += kReadBytes) {
    framer.Feed(std::string_view(stream).substr(at, kReadBytes));
    for (std::string next = NextOf(framer); next != "(more)"; next = NextOf(framer)) {
      messages.push_back(next);
    }
  }
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[0], HasSubstr("a message of 16777217 bytes; at most 16777216 are read"));
  EXPECT_EQ(messages[1], "{}");
}

TEST(FramerTest, AHugeLengthTakesNoMemory) {
  Framer framer;
  framer.Feed("Content-Length: 18446744073709551615\r\n\r\n{}");
  EXPECT_THAT(NextOf(framer), HasSubstr("at most"));
  EXPECT_EQ(NextOf(framer), "(more)");
}

}  // namespace
}  // namespace fieldcost::lsp
