#pragma once

#include <string>
#include <string_view>

namespace fieldcost::draw {

// Escapes external text for HTML or SVG text or a double-quoted attribute value: markup characters
// become entities, control characters become \xNN. Other bytes are kept (pages are UTF-8).
std::string EscapeHtml(std::string_view untrusted_text);

}  // namespace fieldcost::draw
