#include "common/draw/html.h"

#include "common/base/text.h"

namespace fieldcost::draw {

std::string EscapeHtml(std::string_view untrusted_text) {
  std::string html;
  for (const char c : EscapeControl(untrusted_text)) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

}  // namespace fieldcost::draw
