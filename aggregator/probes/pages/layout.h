#pragma once

#include <string>
#include <string_view>

namespace fieldcost::probe_server {

// What is around each page. Pure.

struct Frame {
  std::string title;
  std::string user;        // who is logged in; empty: nobody
  std::string form_token;  // that each form of the page carries
  std::string notice;      // a sentence on top: what was just done, or could not be
  bool is_error = false;
};

// `body`: markup.
std::string Document(const Frame& frame, std::string_view body);

// A page with nothing but this message.
std::string MessagePage(Frame frame, std::string_view untrusted_message);

// A form's beginning with its token, and a button that is one by itself.
std::string OpenForm(std::string_view action, const Frame& frame);
std::string Button(std::string_view action, const Frame& frame, std::string_view label);

}  // namespace fieldcost::probe_server
