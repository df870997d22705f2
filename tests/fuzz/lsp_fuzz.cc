#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "tools/lsp/enclosing_call.h"
#include "tools/lsp/framing.h"
#include "tools/lsp/lexer.h"
#include "tools/lsp/lsp_limits.h"
#include "tools/lsp/lsp_server.h"

namespace {

using namespace fieldcost;
using namespace fieldcost::lsp;

constexpr std::size_t kMaxInput = 1 << 16;

// An unbounded number of responses to one input would also be a bug: each message causes at most
// one response, and one notification per document.
constexpr std::size_t kMaxSentPerMessage = 2 + kMaxDocuments;

}  // namespace

// An editor's messages: the stream in two pieces, its messages to a server without a catalogue, and
// the input as a document in each language family.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > kMaxInput) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::size_t sent = 0;
  Server server({.catalog_file = "/nonexistent/catalog.db",
                 .check_file = "/nonexistent/check.json",
                 .clock = &SystemClock(),
                 .version = "0",
                 .send = [&](std::string_view json) { sent += json.empty() ? 0 : 1; }});
  const auto token = std::make_shared<std::atomic<bool>>(false);
  Framer framer;
  std::size_t messages = 0;
  for (const std::string_view piece : {input.substr(0, size / 2), input.substr(size / 2)}) {
    framer.Feed(piece);
    for (;;) {
      const Result<std::optional<std::string>> next = framer.Next();
      if (!next && next.error().code != ErrorCode::kTooLarge) break;
      if (!next) continue;
      if (!*next) break;
      ++messages;
      server.Handle(ParseMessage(**next), token);
      server.OnIdle();
    }
  }
  FIELDCOST_CHECK(sent <= messages * kMaxSentPerMessage);
  for (const char* language : {"c", "cpp", "python", "lua"}) {
    const LexedText lexed = Lex(input, LanguageOf(language));
    std::uint32_t end = 0;
    const auto called = EnclosingCall(input, LanguageOf(language), input.size() / 2);
    FIELDCOST_CHECK(!called || *called < input.size() / 2);
    for (const lsp::Name& name : lexed.names) {
      FIELDCOST_CHECK(name.begin >= end && name.qualified <= name.begin && name.begin < name.end);
      end = name.end;
    }
    FIELDCOST_CHECK(end <= size);
  }
  return 0;
}
