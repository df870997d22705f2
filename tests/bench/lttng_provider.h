// The two tracepoints of lttng_cost.c. LTTng's macros require a header that is included several
// times.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fieldcost_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tests/bench/lttng_provider.h"

#if !defined(TESTS_BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TESTS_BENCH_LTTNG_PROVIDER_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(fieldcost_bench, enter, LTTNG_UST_TP_ARGS(int, call),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, call, call)))
LTTNG_UST_TRACEPOINT_EVENT(fieldcost_bench, leave, LTTNG_UST_TP_ARGS(int, call),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, call, call)))

#endif

#include <lttng/tracepoint-event.h>
