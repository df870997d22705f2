#include "common/draw/html_writer.h"

#include <gtest/gtest.h>

namespace fieldcost::draw {
namespace {

TEST(HtmlWriterTest, EscapesAllUntrustedText) {
  constexpr std::string_view kText = "\"'><b>&";
  Html html;
  html.Text(kText).Link(kText, kText).Cell(kText).NumberCell(kText).Hidden("n", kText);
  const std::string text = html.Field("Name", "n", "text", kText).Take();
  EXPECT_EQ(text.find("<b>"), std::string::npos);
  EXPECT_EQ(text.find("'>"), std::string::npos);
  EXPECT_EQ(text.find("\"\""), std::string::npos) << "no attribute ends early";
}

TEST(HtmlWriterTest, WritesInTheOrderOfTheCalls) {
  EXPECT_EQ(Html().Raw("<tr>").Cell("a").NumberCell("1").Raw("</tr>").Take(),
            "<tr><td>a</td><td class=\"n\">1</td></tr>");
}

}  // namespace
}  // namespace fieldcost::draw
