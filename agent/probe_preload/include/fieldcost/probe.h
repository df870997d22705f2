/* Probe points of fieldcost: where time goes between named steps of an event.
 *
 *   FIELDCOST_EVENT(open, "index_open");     an event, to the end of scope
 *   FIELDCOST_POINT("data loaded");          a step of this thread's innermost event, else of the
 *                                            process's own
 *   FIELDCOST_POINT_IN(open, "view ready");  a step of that event, on any thread or task
 *
 * C11, C++11 and later; gcc and clang. No library is required: `fieldcost probe run` loads the
 * runtime, libfieldcost_probe.so, or a program is linked with -lfieldcost_probe. Without the
 * runtime, each point is a load and a test. Labels are string literals of 1 to 64 bytes. Any thread
 * may call anything here at any time, even in signal handlers (a point that interrupts another one
 * is counted, not stored); nothing here locks, allocates, fails or changes errno.
 *
 * With FIELDCOST_PROBE_USDT defined and <sys/sdt.h> available, each point is also a USDT probe:
 * provider "fieldcost", name "point", argument 1 the label.
 */
#ifndef FIELDCOST_PROBE_H
#define FIELDCOST_PROBE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An event; pass it by value to all code that takes part in it. {0, 0} is no event; points in it
 * belong to the process's event. */
typedef struct fieldcost_event {
  uint64_t run;
  uint64_t number;
} fieldcost_event;

/* A place in the source. Has static storage; created by the macros or by
 * fieldcost_probe_make_site. */
typedef struct fieldcost_probe_site {
  uint8_t state; /* 0: permanently off. 1: may be on */
  uint8_t unused[3];
  uint32_t number; /* set by the runtime */
  const char* label;
  const char* file; /* null: unknown; likewise function */
  const char* function;
  uint32_t line;
  uint32_t unused2;
} fieldcost_probe_site;

/* The runtime's functions; null if it is absent. Languages without these macros look them up
 * with dlsym and pass a site to each call. */
#define FIELDCOST_PROBE_WEAK_ __attribute__((weak))

/* Records a point in this thread's innermost event, or else in the process's event. */
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_hit(fieldcost_probe_site* site);
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_hit_in(fieldcost_probe_site* site,
                                                  fieldcost_event event);
/* The same with a value; `event` null: as for fieldcost_probe_hit. */
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_hit_value(fieldcost_probe_site* site,
                                                     const fieldcost_event* event, uint64_t value);
/* Begins an event named after the site's label, which becomes the thread's innermost event, and
 * stores it; stores {0, 0} if points are off. */
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_begin(fieldcost_probe_site* site,
                                                 fieldcost_event* event);
/* Ends the event, on any thread, and sets it to {0, 0}; does nothing if it is {0, 0}. */
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_end(fieldcost_probe_site* site, fieldcost_event* event);
/* Stores this thread's innermost event, or else the process's event. */
FIELDCOST_PROBE_WEAK_ void fieldcost_probe_current(fieldcost_event* event);
/* Formats the event ({0, 0}: the current one) as a zero-terminated W3C traceparent, for a request
 * header or a child's TRACEPARENT variable. Returns 0, with "" in `text`, if points are off. */
FIELDCOST_PROBE_WEAK_ int fieldcost_probe_traceparent(fieldcost_event event, char text[56]);
/* Joins an event of another process. Returns 0 and stores {0, 0} if the text is not a
 * traceparent or points are off. */
FIELDCOST_PROBE_WEAK_ int fieldcost_probe_join(const char* traceparent, fieldcost_event* event);
/* Creates a site for languages without macros. Create one per place and keep it; sites are never
 * released. File and function may be null. Strings are copied; labels are cut to 64 bytes.
 * Returns null if points are off or there are already 2,048 sites. */
FIELDCOST_PROBE_WEAK_ fieldcost_probe_site* fieldcost_probe_make_site(const char* label,
                                                                      const char* file,
                                                                      uint32_t line,
                                                                      const char* function);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* The implementation follows; names that end in _ belong to it. */

#if defined(FIELDCOST_PROBE_USDT) && defined(__has_include)
#if __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define FIELDCOST_PROBE_USDT_(label) DTRACE_PROBE1(fieldcost, point, label)
#endif
#endif
#ifndef FIELDCOST_PROBE_USDT_
#define FIELDCOST_PROBE_USDT_(label) ((void)0)
#endif

#define FIELDCOST_PROBE_INLINE_ static inline __attribute__((always_inline, unused))

#if defined(__cplusplus)
#define FIELDCOST_PROBE_ASSERT_(condition, text) static_assert(condition, text)
#define FIELDCOST_PROBE_NUMBER_(value) static_cast<uint64_t>(value)
#define FIELDCOST_PROBE_NULL_ nullptr
#else
#define FIELDCOST_PROBE_NULL_ ((void*)0)
#define FIELDCOST_PROBE_NUMBER_(value) ((uint64_t)(value))
#define FIELDCOST_PROBE_ASSERT_(condition, text) _Static_assert(condition, text)
#endif
#define FIELDCOST_PROBE_JOIN2_(a, b) a##b
#define FIELDCOST_PROBE_JOIN_(a, b) FIELDCOST_PROBE_JOIN2_(a, b)

/* In programs at a fixed address, linkers resolve missing weak symbols to null at once: there,
 * functions are looked up when they are first needed. */
#if defined(__PIC__) || defined(__PIE__)
#define FIELDCOST_PROBE_FIND_(variable, name) __typeof__(&(name)) const variable = (name)
#else
#ifdef __cplusplus
extern "C" FIELDCOST_PROBE_WEAK_ void* dlsym(void* __restrict, const char* __restrict)
    __attribute__((nothrow));
#else
extern FIELDCOST_PROBE_WEAK_ void* dlsym(void* __restrict, const char* __restrict);
#endif
static __attribute__((noinline, cold, unused)) void fieldcost_probe_find_(const char* name,
                                                                          void** function,
                                                                          unsigned char* known) {
  __atomic_store_n(function, dlsym ? dlsym(FIELDCOST_PROBE_NULL_, name) : FIELDCOST_PROBE_NULL_,
                   __ATOMIC_RELAXED);
  __atomic_store_n(known, 1, __ATOMIC_RELEASE);
}
#define FIELDCOST_PROBE_FIND_(variable, name)                                                \
  static unsigned char variable##_known_;                                                    \
  static void* variable##_found_;                                                            \
  __typeof__(&name) variable = (name);                                                       \
  if (!variable) {                                                                           \
    if (!__atomic_load_n(&variable##_known_, __ATOMIC_ACQUIRE)) {                            \
      fieldcost_probe_find_(#name, &variable##_found_, &variable##_known_);                  \
    }                                                                                        \
    void* const variable##_address_ = __atomic_load_n(&variable##_found_, __ATOMIC_RELAXED); \
    __builtin_memcpy(&variable, &variable##_address_, sizeof variable);                      \
  }                                                                                          \
  ((void)0)
#endif

#define FIELDCOST_PROBE_SITE_(name, text)                               \
  FIELDCOST_PROBE_ASSERT_(sizeof("" text) > 1 && sizeof("" text) <= 65, \
                          "a label has 1 to 64 bytes");                 \
  static fieldcost_probe_site name = {1, {0, 0, 0}, 0, "" text, __FILE__, __func__, __LINE__, 0}
#define FIELDCOST_PROBE_IS_ON_(site) \
  __builtin_expect(__atomic_load_n(&(site).state, __ATOMIC_RELAXED) != 0, 0)

/* Follows a call to prevent a tail call, in which the caller's frame would be gone. */
#define FIELDCOST_PROBE_STAY_() __asm__ volatile("")

FIELDCOST_PROBE_INLINE_ void fieldcost_probe_off_(fieldcost_probe_site* site) {
  __atomic_store_n(&site->state, 0, __ATOMIC_RELAXED);
}
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_hit_(fieldcost_probe_site* site) {
  FIELDCOST_PROBE_FIND_(hit, fieldcost_probe_hit);
  if (hit) {
    hit(site);
    FIELDCOST_PROBE_STAY_();
  } else {
    fieldcost_probe_off_(site);
  }
}
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_hit_in_(fieldcost_probe_site* site,
                                                     fieldcost_event event) {
  FIELDCOST_PROBE_FIND_(hit, fieldcost_probe_hit_in);
  if (hit) {
    hit(site, event);
    FIELDCOST_PROBE_STAY_();
  } else {
    fieldcost_probe_off_(site);
  }
}
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_hit_value_(fieldcost_probe_site* site,
                                                        uint64_t value) {
  FIELDCOST_PROBE_FIND_(hit, fieldcost_probe_hit_value);
  if (hit) {
    hit(site, FIELDCOST_PROBE_NULL_, value);
    FIELDCOST_PROBE_STAY_();
  } else {
    fieldcost_probe_off_(site);
  }
}
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_hit_value_in_(fieldcost_probe_site* site,
                                                           fieldcost_event event, uint64_t value) {
  FIELDCOST_PROBE_FIND_(hit, fieldcost_probe_hit_value);
  if (hit) {
    hit(site, &event, value);
    FIELDCOST_PROBE_STAY_();
  } else {
    fieldcost_probe_off_(site);
  }
}
FIELDCOST_PROBE_INLINE_ fieldcost_event fieldcost_probe_begin_(fieldcost_probe_site* site) {
  fieldcost_event event = {0, 0};
  if (FIELDCOST_PROBE_IS_ON_(*site)) {
    FIELDCOST_PROBE_FIND_(begin, fieldcost_probe_begin);
    if (begin) {
      begin(site, &event);
      FIELDCOST_PROBE_STAY_();
    } else {
      fieldcost_probe_off_(site);
    }
  }
  return event;
}
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_end_(fieldcost_probe_site* site,
                                                  fieldcost_event* event) {
  FIELDCOST_PROBE_FIND_(end, fieldcost_probe_end);
  if (end) {
    end(site, event);
    FIELDCOST_PROBE_STAY_();
  }
}

#ifdef __cplusplus
struct fieldcost_probe_scope_ {
  fieldcost_probe_site* site;
  fieldcost_event* event;
  fieldcost_probe_scope_(fieldcost_probe_site* its_site, fieldcost_event* its_event)
      : site(its_site), event(its_event) {}
  fieldcost_probe_scope_(const fieldcost_probe_scope_&) = delete;
  fieldcost_probe_scope_& operator=(const fieldcost_probe_scope_&) = delete;
  __attribute__((always_inline)) ~fieldcost_probe_scope_() {
    if (__builtin_expect(event->run != 0, 0)) fieldcost_probe_end_(site, event);
  }
};
#define FIELDCOST_PROBE_SCOPE_(name, site, event) const fieldcost_probe_scope_ name(site, event)
#else
struct fieldcost_probe_scope_ {
  fieldcost_probe_site* site;
  fieldcost_event* event;
};
FIELDCOST_PROBE_INLINE_ void fieldcost_probe_leave_(const struct fieldcost_probe_scope_* scope) {
  if (__builtin_expect(scope->event->run != 0, 0)) fieldcost_probe_end_(scope->site, scope->event);
}
#define FIELDCOST_PROBE_SCOPE_(name, site, event) \
  const struct fieldcost_probe_scope_ name        \
      __attribute__((cleanup(fieldcost_probe_leave_), unused)) = {site, event}
#endif

/* These functions may be called whether or not the runtime is present. */
FIELDCOST_PROBE_INLINE_ fieldcost_event fieldcost_event_current(void) {
  fieldcost_event event = {0, 0};
  FIELDCOST_PROBE_FIND_(current, fieldcost_probe_current);
  if (current) current(&event);
  return event;
}
FIELDCOST_PROBE_INLINE_ int fieldcost_event_traceparent(fieldcost_event event, char text[56]) {
  FIELDCOST_PROBE_FIND_(traceparent, fieldcost_probe_traceparent);
  text[0] = '\0';
  return traceparent ? traceparent(event, text) : 0;
}
FIELDCOST_PROBE_INLINE_ fieldcost_event fieldcost_event_join(const char* traceparent) {
  fieldcost_event event = {0, 0};
  FIELDCOST_PROBE_FIND_(join, fieldcost_probe_join);
  if (join) join(traceparent, &event);
  return event;
}

/* An event called `label`, until the end of this scope or FIELDCOST_EVENT_END(name). `name`
 * becomes a variable of type fieldcost_event. */
#define FIELDCOST_EVENT(name, label)                                                         \
  FIELDCOST_PROBE_SITE_(FIELDCOST_PROBE_JOIN_(name, _begin_site_), label);                   \
  FIELDCOST_PROBE_SITE_(FIELDCOST_PROBE_JOIN_(name, _end_site_), "end");                     \
  FIELDCOST_PROBE_USDT_(label);                                                              \
  fieldcost_event name = fieldcost_probe_begin_(&FIELDCOST_PROBE_JOIN_(name, _begin_site_)); \
  FIELDCOST_PROBE_SCOPE_(FIELDCOST_PROBE_JOIN_(name, _scope_),                               \
                         &FIELDCOST_PROBE_JOIN_(name, _end_site_), &(name))

/* Begins an event and assigns it to `event`, an lvalue; the caller must end it. */
#define FIELDCOST_EVENT_BEGIN(event, label)             \
  do {                                                  \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, label);      \
    FIELDCOST_PROBE_USDT_(label);                       \
    (event) = fieldcost_probe_begin_(&fieldcost_site_); \
  } while (0)

/* Ends the event, an lvalue, and sets it to {0, 0}. */
#define FIELDCOST_EVENT_END(event)                      \
  do {                                                  \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, "end");      \
    FIELDCOST_PROBE_USDT_("end");                       \
    if (__builtin_expect((event).run != 0, 0)) {        \
      fieldcost_probe_end_(&fieldcost_site_, &(event)); \
    }                                                   \
  } while (0)

#define FIELDCOST_POINT(label)                                                           \
  do {                                                                                   \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, label);                                       \
    FIELDCOST_PROBE_USDT_(label);                                                        \
    if (FIELDCOST_PROBE_IS_ON_(fieldcost_site_)) fieldcost_probe_hit_(&fieldcost_site_); \
  } while (0)

/* `event` and `value` are evaluated only if points are on. */
#define FIELDCOST_POINT_IN(event, label)                  \
  do {                                                    \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, label);        \
    FIELDCOST_PROBE_USDT_(label);                         \
    if (FIELDCOST_PROBE_IS_ON_(fieldcost_site_)) {        \
      fieldcost_probe_hit_in_(&fieldcost_site_, (event)); \
    }                                                     \
  } while (0)

#define FIELDCOST_POINT_VALUE(label, value)                                         \
  do {                                                                              \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, label);                                  \
    FIELDCOST_PROBE_USDT_(label);                                                   \
    if (FIELDCOST_PROBE_IS_ON_(fieldcost_site_)) {                                  \
      fieldcost_probe_hit_value_(&fieldcost_site_, FIELDCOST_PROBE_NUMBER_(value)); \
    }                                                                               \
  } while (0)

#define FIELDCOST_POINT_VALUE_IN(event, label, value)                                           \
  do {                                                                                          \
    FIELDCOST_PROBE_SITE_(fieldcost_site_, label);                                              \
    FIELDCOST_PROBE_USDT_(label);                                                               \
    if (FIELDCOST_PROBE_IS_ON_(fieldcost_site_)) {                                              \
      fieldcost_probe_hit_value_in_(&fieldcost_site_, (event), FIELDCOST_PROBE_NUMBER_(value)); \
    }                                                                                           \
  } while (0)

#endif /* FIELDCOST_PROBE_H */
