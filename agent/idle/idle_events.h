/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The events that the program in the kernel sends to the collector: layouts shared by C and C++. */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

enum {
  FC_STACK_BYTES = 2048, /* copied from the innermost part of a stack; a power of two */
  FC_MOST_CPUS = 1024,
};

enum fc_kind {
  FC_STACK = 1, /* a thread's registers and stack, once */
  FC_IDLE = 2,  /* a CPU was idle */
  FC_ON = 3,    /* a monitored thread resumed on a CPU that had been idle, but not first */
};

/* What made a thread runnable. */
enum fc_waker {
  FC_WAKER_UNKNOWN = 0,
  FC_WAKER_STACK = 1,     /* its stack is known */
  FC_WAKER_INTERRUPT = 2, /* a timer, a device */
  FC_WAKER_KERNEL = 3,    /* a kernel thread */
  FC_WAKER_OTHER = 4,     /* a process that is not monitored */
};

/* A stack. Its number has the CPU on which it was taken from bit 48 up, and a count below. */
struct fc_stack {
  __u32 kind;
  __u32 pid;
  __u32 tid;
  __u32 state; /* the thread's state in the kernel's numbering when it left its CPU; 0: runnable */
  __u64 number;
  __u64 time; /* CLOCK_MONOTONIC, ns */
  __s64 call; /* number of the system call; negative: none */
  __u64 ip, sp, bp, bx, r12, r13, r14, r15;
  __u32 bytes;      /* of `stack` that are set; 0: thread ended, or stack not in memory */
  __u32 is_running; /* 1: a waker's */
  unsigned char stack[FC_STACK_BYTES];
};

struct fc_from {
  __u64 stack; /* number; FC_NOBODY: no monitored thread */
  __u64 waker; /* number, if FC_WAKER_STACK */
  __u32 waker_kind;
  __u32 reserved;
};

struct fc_idle {
  __u32 kind;
  __u32 cpu;
  __u64 begin;
  __u64 end;
  __u64 to;            /* number of a stack; FC_NOBODY: no monitored thread ran there; FC_MOVED */
  struct fc_from from; /* the thread that runs next, if it is monitored */
};

struct fc_on {
  __u32 kind;
  __u32 cpu;
  __u64 time;
  struct fc_from from;
};

/* Numbers that do not denote a stack. FC_NOBODY: no monitored thread; FC_MOVED (in `to`): the
 * thread that left the CPU idle runs elsewhere; FC_NEW (in fc_from): the thread had not run before.
 */
enum { FC_NOBODY = 0, FC_MOVED = 1, FC_NEW = 1, FC_FIRST_STACK = 2 };

/* The state of a CPU in the kernel; its counters are read at the end. */
struct fc_cpu {
  __u64 idle_begin; /* 0: not idle. Exchanged by the CPU that reports the time since then. */
  __u64 since;      /* the same, but accessed by this CPU only */
  __u64 slot;       /* number of the stack of the last monitored thread here, or FC_... */
  __u64 stacks;     /* taken so far */
  __u64 idle_ns;    /* total */
  __u64 lost_ns;    /* idle time whose event was lost because the ring was full */
  __u64 lost_events;
  __u64 switches; /* of monitored threads off this CPU */
  __u32 somebody; /* 1: it was idle, and no monitored thread has run since */
  __u32 reserved;
};

/* The program's settings, set before it is loaded. */
struct fc_settings {
  __u32 pid_to_mark; /* the process whose threads are monitored; 0: all processes */
  __u32 not_pid;     /* the recorder itself, never monitored */
  __u32 all;         /* 1: new processes are monitored, regardless of parent */
  __u32 reserved;
};
