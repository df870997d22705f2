#pragma once

#include "aggregator/probe_server/web/visit.h"
#include "common/http/http_server.h"

namespace fieldcost::probe_server {

// The handlers of all routes, which site.cc lists. Errors become pages, or JSON below /v1.

// web_login.cc
Result<http::Response> ShowLogin(Visit& visit);
Result<http::Response> LogIn(Visit& visit);
Result<http::Response> LogOut(Visit& visit);
Result<http::Response> ChangePassword(Visit& visit);
Result<http::Response> EnrolDevice(Visit& visit);

// account_pages.cc
Result<http::Response> ShowAccount(Visit& visit);
Result<http::Response> RevokeOwnDevice(Visit& visit);

// event_pages.cc
Result<http::Response> ShowLabels(Visit& visit);
Result<http::Response> ShowEvents(Visit& visit);
Result<http::Response> ShowEvent(Visit& visit);
Result<http::Response> ShowStep(Visit& visit);
Result<http::Response> ShowComparison(Visit& visit);
Result<http::Response> ShowHistory(Visit& visit);

// mark_pages.cc
Result<http::Response> MarkByForm(Visit& visit);
Result<http::Response> AskToPurge(Visit& visit);
Result<http::Response> PurgeByForm(Visit& visit);

// web_api.cc
Result<http::Response> ApiEvents(Visit& visit);
Result<http::Response> ApiEvent(Visit& visit);
Result<http::Response> ApiCompare(Visit& visit);
Result<http::Response> ApiHistory(Visit& visit);
Result<http::Response> ApiExport(Visit& visit);

// api_writes.cc
Result<http::Response> ApiMark(Visit& visit);
Result<http::Response> ApiPurge(Visit& visit);

// web_ingest.cc: responds after the commit, from another thread.
void Ingest(const Visit& visit, const http::Respond& respond);

}  // namespace fieldcost::probe_server
