// A tag file and a page, as Doxygen or rustdoc may have written them.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/check.h"
#include "common/names/cxx_name.h"
#include "tools/cli/docs/doxygen_pages.h"
#include "tools/cli/docs/rustdoc_pages.h"
#include "tools/report/cards/cost_card.h"

using namespace fieldcost;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::map<std::string, std::string> cards;
  const std::string card =
      std::string(report::kCardBegin) + "\nX\n" + std::string(report::kCardEnd) + "\n";
  if (const auto functions = cli::ReadTagFile(bytes)) {
    for (const cli::DocumentedFunction& function : *functions) cards[function.anchor] = card;
  }
  (void)names::NameWithoutArguments(bytes);
  cards["a"] = card;
  const cli::PageWithCards once = cli::InsertCards(bytes, cards);
  FIELDCOST_CHECK(once.cards == 0 || once.html.find(card) != std::string::npos);
  (void)cli::InsertCards(once.html, cards);
  (void)cli::ExternalFunction("fn.a.html", bytes);
  const std::string below = cli::WithCardsBelowDeclaration(bytes, card);
  FIELDCOST_CHECK(below.size() <= bytes.size() + card.size());
  return 0;
}
