/* Uses the whole header, in C and C++; prints "alone" if no recorder is present. */
#include <errno.h>
#include <fieldcost/probe.h>
#include <stdio.h>

static int asked;
static int ask(void) { return ++asked; }

static void part(fieldcost_event event) {
  FIELDCOST_POINT_IN(event, "part");
  FIELDCOST_POINT_VALUE_IN(event, "part's value", -1);
}

static fieldcost_event begin(void) {
  fieldcost_event event;
  FIELDCOST_EVENT_BEGIN(event, "begun");
  return event;
}

int main(void) {
  fieldcost_event begun;
  char text[56] = "x";
  int is_alone;
  errno = 7;
  FIELDCOST_EVENT(open, "index_open");
  FIELDCOST_POINT("data loaded");
  FIELDCOST_POINT_VALUE("value", 3.5);
  part(open);
  {
    FIELDCOST_EVENT(inner, "a label of exactly sixty-four bytes, which is as long as may be.");
    if (inner.run != 0) FIELDCOST_POINT("in a branch without braces");
  }
  for (int i = 0; i < 3; ++i) {
    if (i == 1) continue;
    FIELDCOST_EVENT(each, "each");
    if (i == 2) break;
  }
  begun = begin();
  FIELDCOST_EVENT_END(begun);
  FIELDCOST_EVENT_END(open);
  FIELDCOST_POINT_VALUE("asked once at most", ask());
  is_alone = fieldcost_event_current().run == 0 && fieldcost_event_traceparent(open, text) == 0 &&
             text[0] == '\0' && fieldcost_event_join("x").run == 0;
  puts(is_alone && errno == 7 && asked <= 1 ? "alone" : "not alone");
  return 0;
}
