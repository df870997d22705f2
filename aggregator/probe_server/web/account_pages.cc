// The page of the user's own account: its devices and their revocation.
#include "aggregator/probe_server/pages/account_page.h"

#include <fmt/format.h>

#include "aggregator/probe_server/pages/page_numbers.h"
#include "aggregator/probe_server/web/web_handlers.h"
#include "common/base/clock.h"
#include "common/base/text.h"
#include "common/http/answers.h"

namespace fieldcost::probe_server {

Result<http::Response> ShowAccount(Visit& visit) {
  FIELDCOST_ASSIGN(const std::vector<Device> devices,
                   ListDevices(visit.data.database(), visit.viewer->user));
  std::vector<DeviceLine> lines;
  for (const Device& device : devices) {
    lines.push_back({.id = device.id.value(),
                     .name = device.name,
                     .made = DayText(MicrosOf(device.created) * 1'000),
                     .is_revoked = device.is_revoked});
  }
  Frame frame = visit.PageFrame("Account");
  const std::string_view done = visit.target.query.Find("done");
  if (done == "password") frame.notice = "The password is changed.";
  if (done == "device") frame.notice = "The device is revoked.";
  return http::HtmlAnswer(200, AccountPage(frame, lines));
}

Result<http::Response> RevokeOwnDevice(Visit& visit) {
  const auto number = ParseUint64(visit.Part(1));
  if (!number) return Fail(ErrorCode::kNotFound, "there is no such device");
  const Status revoked = visit.site.writer.Run([&](Data& data) -> Status {
    FIELDCOST_TRY(RevokeDevice(data.database(), DeviceId(*number), visit.viewer->user));
    return Audit(data, visit.Audited("device revoked", visit.viewer->name,
                                     fmt::format("device {}", *number)));
  });
  FIELDCOST_TRY(revoked);
  return http::Redirect("/account?done=device");
}

}  // namespace fieldcost::probe_server
