#include "aggregator/probe_server/pages/layout.h"

#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {

std::string Document(const Frame& frame, std::string_view body) {
  draw::Html html;
  html.Raw(
          "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>")
      .Text(frame.title)
      .Raw(
          " – fieldcost probes</title>\n<link rel=\"icon\" href=\"/icon.svg\" "
          "type=\"image/svg+xml\">\n<link rel=\"stylesheet\" "
          "href=\"/style.css\">\n</head>\n<body>\n"
          "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n"
          "<span class=\"name\">fieldcost probes</span>\n");
  if (!frame.user.empty()) {
    html.Raw(
            "<nav aria-label=\"Pages\"><a href=\"/\">Labels</a> <a href=\"/events\">Events</a> "
            "<a href=\"/account\">Account</a></nav>\n")
        .Raw("<span class=\"user\">")
        .Text(frame.user)
        .Raw("</span>\n")
        .Raw(Button("/logout", frame, "Log out"));
  }
  html.Raw("</header>\n<main id=\"main\">\n<h1>").Text(frame.title).Raw("</h1>\n");
  if (!frame.notice.empty()) {
    html.Raw(frame.is_error ? "<p class=\"error\" role=\"alert\">" : "<p role=\"status\">")
        .Text(frame.notice)
        .Raw("</p>\n");
  }
  return html.Raw(body).Raw("</main>\n</body>\n</html>\n").Take();
}

std::string MessagePage(Frame frame, std::string_view untrusted_message) {
  frame.notice = untrusted_message;
  frame.is_error = true;
  return Document(frame, "<p><a href=\"/\">Back to the labels</a></p>\n");
}

std::string OpenForm(std::string_view action, const Frame& frame) {
  draw::Html html;
  html.Raw("<form method=\"post\" action=\"").Text(action).Raw("\">");
  if (!frame.form_token.empty()) html.Hidden("form_token", frame.form_token);
  return html.Take();
}

std::string Button(std::string_view action, const Frame& frame, std::string_view label) {
  return draw::Html()
      .Raw(OpenForm(action, frame))
      .Raw("<button>")
      .Text(label)
      .Raw("</button></form>\n")
      .Take();
}

}  // namespace fieldcost::probe_server
