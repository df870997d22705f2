#pragma once

#include <string>
#include <string_view>

namespace fieldcost::draw {

// Builds markup piece by piece. All untrusted text goes through Text(), both between tags and in
// double-quoted attributes.
class Html {
 public:
  Html& Raw(std::string_view markup) {
    text_ += markup;
    return *this;
  }
  Html& Text(std::string_view untrusted_text);
  // <a href="LINK">TEXT</a>; `link` is a URL.
  Html& Link(std::string_view link, std::string_view untrusted_text);
  // <td>TEXT</td>, <td class="n">TEXT</td>
  Html& Cell(std::string_view untrusted_text);
  Html& NumberCell(std::string_view untrusted_text);
  // <input type="hidden" ...>
  Html& Hidden(std::string_view name, std::string_view untrusted_value);
  // A label and a text field in a row of a form.
  Html& Field(std::string_view label, std::string_view name, std::string_view type,
              std::string_view untrusted_value, std::string_view more = "");

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace fieldcost::draw
