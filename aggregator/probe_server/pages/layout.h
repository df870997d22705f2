#pragma once

#include <string>
#include <string_view>

namespace fieldcost::probe_server {

// The frame of every page. Pure.

struct Frame {
  std::string title;
  std::string user;        // the logged-in user; empty: none
  std::string form_token;  // carried by each form of the page
  std::string notice;      // a sentence at the top: the result of the last action
  bool is_error = false;
};

// `body`: markup.
std::string Document(const Frame& frame, std::string_view body);

// A page that contains only this message.
std::string MessagePage(Frame frame, std::string_view untrusted_message);

// The beginning of a form with its token; a form that is only a button.
std::string OpenForm(std::string_view action, const Frame& frame);
std::string Button(std::string_view action, const Frame& frame, std::string_view label);

}  // namespace fieldcost::probe_server
