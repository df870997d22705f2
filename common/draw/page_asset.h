#pragma once

#include <string_view>

namespace fieldcost::draw {

// A style or script embedded in a program (fieldcost_page_assets() in deploy/cmake), and the
// SHA-256 of its text in base64, as content security policies require.
struct PageAsset {
  std::string_view text;
  std::string_view hash;
};

}  // namespace fieldcost::draw
