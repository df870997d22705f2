#include "aggregator/probe_server/pages/account_page.h"

#include <fmt/format.h>

#include "common/draw/html_writer.h"

namespace fieldcost::probe_server {

std::string LoginPage(const Frame& frame, std::string_view untrusted_user, std::string_view next) {
  draw::Html html;
  html.Raw("<form class=\"column\" method=\"post\" action=\"/login\">\n")
      .Field("Name", "user", "text", untrusted_user,
             " autocomplete=\"username\" required maxlength=\"64\"")
      .Field("Password", "password", "password", "",
             " autocomplete=\"current-password\" required maxlength=\"512\"")
      .Hidden("next", next)
      .Raw("<p><button>Log in</button></p></form>\n");
  return Document(frame, html.Take());
}

std::string AccountPage(const Frame& frame, std::span<const DeviceLine> devices) {
  draw::Html html;
  html.Raw("<h2>Devices</h2>\n");
  if (devices.empty()) {
    html.Raw(
        "<p>None yet. Run <code>fieldcost probe login</code> on a machine to add "
        "it.</p>\n");
  } else {
    html.Raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Devices\"><table>\n"
        "<caption>Machines that send for you</caption>\n<thead><tr><th "
        "scope=\"col\">Name</th><th scope=\"col\">Since</th><th "
        "scope=\"col\">State</th></tr></thead>\n<tbody>\n");
    for (const DeviceLine& device : devices) {
      html.Raw("<tr>").Cell(device.name).Cell(device.made).Raw("<td>");
      html.Raw(device.is_revoked ? std::string("revoked")
                                 : Button(fmt::format("/devices/{}/revoke", device.id), frame,
                                          "Revoke " + device.name));
      html.Raw("</td></tr>\n");
    }
    html.Raw("</tbody></table></div>\n");
  }
  html.Raw("<h2>Password</h2>\n<form class=\"column\" method=\"post\" action=\"/account\">")
      .Hidden("form_token", frame.form_token)
      .Field("Name", "user", "text", frame.user, " autocomplete=\"username\" readonly")
      .Field("Current password", "password", "password", "",
             " autocomplete=\"current-password\" required maxlength=\"512\"")
      .Field("New password, at least 12 characters", "new_password", "password", "",
             " autocomplete=\"new-password\" required minlength=\"12\" maxlength=\"512\"")
      .Raw(
          "<label><input type=\"checkbox\" name=\"keep_devices\" value=\"yes\"> Keep my devices; "
          "only if no one else knew the password</label>\n"
          "<p><button>Change the password</button></p></form>\n"
          "<p>This ends all your other sessions, and revokes your devices: they must log in "
          "again.</p>\n");
  return Document(frame, html.Take());
}

}  // namespace fieldcost::probe_server
