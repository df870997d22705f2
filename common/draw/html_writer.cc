#include "common/draw/html_writer.h"

#include "common/draw/html.h"

namespace fieldcost::draw {

Html& Html::Text(std::string_view untrusted_text) {
  text_ += EscapeHtml(untrusted_text);
  return *this;
}

Html& Html::Link(std::string_view link, std::string_view untrusted_text) {
  return Raw("<a href=\"").Text(link).Raw("\">").Text(untrusted_text).Raw("</a>");
}

Html& Html::Cell(std::string_view untrusted_text) {
  return Raw("<td>").Text(untrusted_text).Raw("</td>");
}

Html& Html::NumberCell(std::string_view untrusted_text) {
  return Raw("<td class=\"n\">").Text(untrusted_text).Raw("</td>");
}

Html& Html::Hidden(std::string_view name, std::string_view untrusted_value) {
  return Raw("<input type=\"hidden\" name=\"")
      .Raw(name)
      .Raw("\" value=\"")
      .Text(untrusted_value)
      .Raw("\">");
}

Html& Html::Field(std::string_view label, std::string_view name, std::string_view type,
                  std::string_view untrusted_value, std::string_view more) {
  return Raw("<label>")
      .Raw(label)
      .Raw(" <input name=\"")
      .Raw(name)
      .Raw("\" type=\"")
      .Raw(type)
      .Raw("\" value=\"")
      .Text(untrusted_value)
      .Raw("\"")
      .Raw(more)
      .Raw("></label>");
}

}  // namespace fieldcost::draw
