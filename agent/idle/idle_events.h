/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the program in the kernel tells the collector: layouts, the same for both (C and C++). */
#pragma once

#ifdef __cplusplus
#include <linux/types.h>
#endif

enum {
  FC_STACK_BYTES = 2048, /* of the innermost part of a stack; a power of two */
  FC_MOST_CPUS = 1024,
};

enum fc_kind {
  FC_STACK = 1, /* a thread's registers and stack, once */
  FC_IDLE = 2,  /* a CPU was idle */
  FC_ON = 3,    /* a monitored thread goes on where another one had, after the CPU was idle */
};

/* Of who made a thread runnable. */
enum fc_waker {
  FC_WAKER_UNKNOWN = 0,
  FC_WAKER_STACK = 1,     /* its stack is known */
  FC_WAKER_INTERRUPT = 2, /* a timer, a device */
  FC_WAKER_KERNEL = 3,    /* a thread of the kernel */
  FC_WAKER_OTHER = 4,     /* a process that is not monitored */
};

/* Which stack: its number is the CPU that it was taken on, above bit 48, and a count from 1 on. */
struct fc_stack {
  __u32 kind;
  __u32 pid;
  __u32 tid;
  __u32 state; /* of the thread when it left its CPU, as the kernel numbers them; 0: it wanted to
                  run */
  __u64 number;
  __u64 time; /* CLOCK_MONOTONIC, ns */
  __s64 call; /* number of the system call; negative: none */
  __u64 ip, sp, bp, bx, r12, r13, r14, r15;
  __u32 bytes;      /* of the stack that follow; 0: it had ended, or its stack is not in memory */
  __u32 is_running; /* it is a waker's */
  unsigned char stack[FC_STACK_BYTES];
};

struct fc_from {
  __u64 stack; /* number; 0: it has none yet */
  __u64 waker; /* number, of FC_WAKER_STACK */
  __u32 waker_kind;
  __u32 reserved;
};

struct fc_idle {
  __u32 kind;
  __u32 cpu;
  __u64 begin;
  __u64 end;
  __u64 to; /* number of a stack; 0: no monitored thread ran there; 1: it has moved away */
  struct fc_from from; /* who goes on at once; stack 0: nobody that is monitored */
};

struct fc_on {
  __u32 kind;
  __u32 cpu;
  __u64 time;
  struct fc_from from;
};

/* Numbers that are of no stack: nobody; of what left a CPU idle: who did runs elsewhere; of who
 * goes on: it had not run before. */
enum { FC_NOBODY = 0, FC_MOVED = 1, FC_NEW = 1, FC_FIRST_STACK = 2 };

/* What a CPU's memory in the kernel has that is read at the end. */
struct fc_cpu {
  __u64 idle_begin; /* 0: it is not idle. Taken by whoever tells of the time since then. */
  __u64 since;      /* the same, of this CPU alone */
  __u64 slot;       /* number of the stack of the last monitored thread here, or FC_... */
  __u64 stacks;     /* taken so far */
  __u64 idle_ns;    /* all of it */
  __u64 lost_ns;    /* of which no event told, since there was no room */
  __u64 lost_events;
  __u64 switches; /* of monitored threads from here */
  __u32 somebody; /* was idle, and nobody that is monitored has gone on */
  __u32 reserved;
};

/* How the program is to work: set before it is loaded. */
struct fc_settings {
  __u32 pid_to_mark; /* the process whose threads are monitored; 0: all that there are */
  __u32 not_pid;     /* who asks for all this */
  __u32 all;         /* new processes, too, whoever starts them */
  __u32 reserved;
};
