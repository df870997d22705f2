/* The functions of the runtime, for programs in which it is never loaded: each turns its site
 * off. */
#include "fieldcost/probe.h"

void fieldcost_probe_hit(fieldcost_probe_site* site) { site->state = 0; }
void fieldcost_probe_hit_in(fieldcost_probe_site* site, fieldcost_event event) {
  (void)event;
  site->state = 0;
}
void fieldcost_probe_hit_value(fieldcost_probe_site* site, const fieldcost_event* event,
                               uint64_t value) {
  (void)event;
  (void)value;
  site->state = 0;
}
void fieldcost_probe_begin(fieldcost_probe_site* site, fieldcost_event* event) {
  event->run = event->number = 0;
  site->state = 0;
}
void fieldcost_probe_end(fieldcost_probe_site* site, fieldcost_event* event) {
  event->run = event->number = 0;
  site->state = 0;
}
void fieldcost_probe_current(fieldcost_event* event) { event->run = event->number = 0; }
int fieldcost_probe_traceparent(fieldcost_event event, char text[56]) {
  (void)event;
  text[0] = '\0';
  return 0;
}
int fieldcost_probe_join(const char* traceparent, fieldcost_event* event) {
  (void)traceparent;
  event->run = event->number = 0;
  return 0;
}
fieldcost_probe_site* fieldcost_probe_make_site(const char* label, const char* file, uint32_t line,
                                                const char* function) {
  (void)label;
  (void)file;
  (void)line;
  (void)function;
  return 0;
}
