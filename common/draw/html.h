#pragma once

#include <string>
#include <string_view>

namespace fieldcost::draw {

// Text from anywhere as HTML or SVG text or double-quoted attribute value: markup becomes
// characters, control characters become \xNN. Other bytes are kept (pages are UTF-8).
std::string EscapeHtml(std::string_view untrusted_text);

}  // namespace fieldcost::draw
