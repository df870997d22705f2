// The thunks: the code that a picked API's slots point to.
//
// A stub passes its pick in r11 (free at any function entry) and enters the common part. In the
// usual case, that takes the thread's first record itself (three registers saved instead of eight,
// no call: 4 ns less); in any other case it saves the argument registers and calls
// fieldcost_thunk_enter. Then it either jumps to the real function (nothing is measured) or
// measures it:
//
//   the true return address is popped into the record, the real function is called from here (its
//   stack arguments are where it expects them, because the call pushes into the slot just popped),
//   the address is pushed back, and `ret` returns to the caller. call and ret stay paired.
//
// Meanwhile the record's address travels in rbx, which every callee preserves; the caller's rbx is
// in the record. So the record follows a fibre to another thread, and a longjmp over us restores
// the caller's registers without our help.
//
// Unwinding is exact at every instruction. Three FDEs cover the three states:
//   1 entry: the return address is on the stack;
//   2 call:  it is in the record. The caller's rsp is ours, but CFA = rsp + 8, since libgcc
//            identifies frames by the CFA below them, which is our rsp: otherwise it would stop
//            here, not at the caller. No frame is marked as a signal frame: newer libgcc would
//            take its entry on the shadow stack for one of the kernel's;
//   3 exit:  it is on the stack again.
//
// A pick that is called very often is sampled: its slots lead to its sampling stub, which counts
// the call with one instruction and jumps on, until the thread's gap has run out; then the call is
// measured like any other. The counter is in the run file, which a child of fork() does not have,
// so the stub first checks whether the process is attached. Notice stubs precede functions whose
// calls are only noticed, and jump on in the caller's place: dlsym sees its true caller.
//
// Every stub may be entered by an indirect call or jump, and begins with endbr64; the code leaves
// only to another function's entry or to the address that a call has pushed. So the library may be
// marked as supporting indirect branch tracking and shadow stacks (cet.h does so under
// -fcf-protection).
//
// agent/intercept/thunk.h defines what this code and its users assume about each other's
// structures.

#include <cet.h>

#include "agent/intercept/thunk.h"

// rbx is saved at *(rbx + 8):  DW_CFA_expression rbx, { DW_OP_breg3 8 }
#define CFI_RBX_IN_RECORD .cfi_escape 0x10, 3, 2, 0x73, 8
// return address is at *rbx:   DW_CFA_expression rip, { DW_OP_breg3 0 }
#define CFI_RETURN_ADDRESS_IN_RECORD .cfi_escape 0x10, 16, 2, 0x73, 0

// caller's rsp is ours:        DW_CFA_val_expression rsp, { breg7 0 }; LLVM's libunwind cannot
// handle the simpler DW_CFA_val_offset
#define CFI_CALLER_STACK_POINTER_IS_OURS .cfi_escape 0x16, 7, 2, 0x77, 0

// The frame of a measured call, as unwinders identify it. In the lab's library a measured function
// may tail-call another one: their frames have the same rsp, and each record has its own frame id:
//                              DW_CFA_def_cfa_expression { breg3 FIELDCOST_RECORD_FRAME_ID, deref }
#ifdef FIELDCOST_EVERY_CALL
#define CFI_FRAME .cfi_escape 0x0f, 3, 0x73, FIELDCOST_RECORD_FRAME_ID, 0x06
#else
#define CFI_FRAME .cfi_def_cfa rsp, 8
#endif

// The lab's library has no usual case: fieldcost_thunk_enter is called for every call.
#ifdef FIELDCOST_EVERY_CALL
#define FROM_STUB unusual_entry
#else
#define FROM_STUB thunk_entry
#endif

// Undo the pushes of the usual and the unusual entry.
    .macro RESTORE_USUAL
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    .endm
    .macro RESTORE_UNUSUAL
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %r10
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .endm

    .section .note.GNU-stack, "", @progbits
    .text
    .hidden fieldcost_thunk_enter
    .hidden fieldcost_thunk_exit
    .hidden fieldcost_stubs
    .hidden fieldcost_sampling_stubs
    .hidden fieldcost_notice_stubs
    .hidden fieldcost_thunk_return
    .globl fieldcost_stubs
    .globl fieldcost_sampling_stubs
    .globl fieldcost_notice_stubs
    .globl fieldcost_thunk_return
    .hidden fieldcost_hidden_stubs
    .globl fieldcost_hidden_stubs

    .p2align 4
    .type fieldcost_stubs, @function
fieldcost_stubs:
    .cfi_startproc
    .set stub_index, 0
    .rept FIELDCOST_THUNK_COUNT
    .p2align 4
    endbr64
    movl $stub_index, %r11d
    jmp FROM_STUB
    .set stub_index, stub_index + 1
    .endr

    .p2align 6
fieldcost_sampling_stubs:
    .set stub_index, 0
    .rept FIELDCOST_SAMPLING_STUB_COUNT
    .p2align 6
    endbr64
    cmpl $0, fieldcost_attached(%rip)
    je 1f
    movq fieldcost_counters@gottpoff(%rip), %r11
    movq %fs:(%r11), %r11
    subl $0x10000, 4 + 8 * stub_index(%r11)     // the gap is in the upper 16 bits of 64
    js 2f
1:  jmp *fieldcost_process + FIELDCOST_TARGET_ENTRY_BYTES * stub_index(%rip)
2:  movl $(FIELDCOST_SAMPLED_FLAG + stub_index), %r11d
    jmp thunk_entry
    .set stub_index, stub_index + 1
    .endr

    // The first few functions are rarely called, and each call matters; of the others, only
    // occasional calls do.
    .p2align 6
fieldcost_notice_stubs:
    .set stub_index, 0
    .rept FIELDCOST_RARE_NOTICE_COUNT
    .p2align 6
    endbr64
    movl $(FIELDCOST_NOTICE_FLAG + stub_index), %r11d
    jmp unusual_entry
    .set stub_index, stub_index + 1
    .endr
    .rept FIELDCOST_NOTICE_COUNT - FIELDCOST_RARE_NOTICE_COUNT
    .p2align 6
    endbr64
    movq fieldcost_notice_in@gottpoff(%rip), %r11
    subl $1, %fs:(%r11)
    js 2f
    jmp *fieldcost_notice_targets + 8 * stub_index(%rip)
2:  movl $(FIELDCOST_NOTICE_FLAG + stub_index), %r11d
    jmp unusual_entry
    .set stub_index, stub_index + 1
    .endr

    // They jump on at once, and clobber only flags and r11, as any call may.
    .macro HIDDEN_STUB tail
    .p2align 4
    endbr64
    movl $stub_index, %r11d
    jmp \tail
    .set stub_index, stub_index + 1
    .endm

    .macro HIDDEN_TAIL name, bits
\name:
    movq fieldcost_hidden_io@gottpoff(%rip), %r10
    orl $\bits, %fs:(%r10)
    leaq fieldcost_hidden_targets(%rip), %r10
    jmp *(%r10,%r11,8)
    .endm

    HIDDEN_TAIL hidden_disk, FIELDCOST_HIDDEN_DISK_BIT
    HIDDEN_TAIL hidden_net, FIELDCOST_HIDDEN_NET_BIT
    HIDDEN_TAIL hidden_both, FIELDCOST_HIDDEN_BOTH_BITS

    .p2align 4
fieldcost_hidden_stubs:
    .set stub_index, 0
    .rept FIELDCOST_HIDDEN_DISK_COUNT
    HIDDEN_STUB hidden_disk
    .endr
    .rept FIELDCOST_HIDDEN_NET_COUNT
    HIDDEN_STUB hidden_net
    .endr
    .rept FIELDCOST_HIDDEN_BOTH_COUNT
    HIDDEN_STUB hidden_both
    .endr

#ifndef FIELDCOST_EVERY_CALL
    .p2align 4
detached:                       // mainly in a child of fork(): straight to the function
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    movzwl %r11w, %r11d         // the index, without a flag
    imull $FIELDCOST_TARGET_ENTRY_BYTES, %r11d, %r11d
    leaq fieldcost_process(%rip), %rcx
    movq (%rcx, %r11), %r11
    popq %rcx
    .cfi_adjust_cfa_offset -8
    jmp *%r11
    .p2align 4
thunk_entry:
    cmpl $0, fieldcost_attached(%rip)
    je detached
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    movq fieldcost_current_thread@gottpoff(%rip), %rcx
    movq %fs:(%rcx), %rcx
    testq %rcx, %rcx
    jz usual_not
    cmpq $0, FIELDCOST_THREAD_ACTIVE(%rcx)
    jne usual_not
    cmpl %r11d, FIELDCOST_THREAD_RECORDS + FIELDCOST_RECORD_USUAL(%rcx)  // prepared for this stub?
    jne usual_not
    xorl %eax, %eax
    movl $1, %edx
    cmpxchgl %edx, FIELDCOST_THREAD_RECORDS + FIELDCOST_RECORD_IN_USE(%rcx)   // atomic for signals; no lock prefix
    jne usual_not
    leaq FIELDCOST_THREAD_RECORDS(%rcx), %rdx
    leaq 24(%rsp), %rax         // location of the return address
    movq %rax, FIELDCOST_RECORD_STACK_POINTER(%rdx)
    movq %rdx, FIELDCOST_THREAD_ACTIVE(%rcx)
    movq %rdx, %r11
    .cfi_remember_state
    RESTORE_USUAL
    jmp take_return_address
    .cfi_restore_state
usual_not:
    RESTORE_USUAL
#else
    .p2align 4
#endif
unusual_entry:
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq %rax                  // number of vector registers of a variadic call
    .cfi_adjust_cfa_offset 8
    pushq %r10                  // static chain
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    movl %r11d, %edi
    leaq 72(%rsp), %rsi         // location of the return address
    call fieldcost_thunk_enter  // rax = record or 0, rdx = real function
    movq %rax, %r11
    testq %rax, %rax
    jz pass_through
    .cfi_remember_state
    RESTORE_UNUSUAL
    jmp take_return_address
    .cfi_restore_state
pass_through:
    movq %rdx, %r11
    RESTORE_UNUSUAL
    jmp *%r11
take_return_address:
    movq %rbx, FIELDCOST_RECORD_SAVED_REGISTER(%r11)
    movq %r11, %rbx
    CFI_RBX_IN_RECORD
    popq FIELDCOST_RECORD_RETURN_ADDRESS(%rbx)
    .cfi_endproc

    .cfi_startproc
    CFI_FRAME
    CFI_CALLER_STACK_POINTER_IS_OURS
    CFI_RBX_IN_RECORD
    CFI_RETURN_ADDRESS_IN_RECORD
    // The start stamp is taken here, so that every way in has the same bias. It waits for what the
    // caller has begun (first lfence), and the function waits for it (second lfence). r11 and the
    // stamp's place keep rax (number of vector registers of a variadic call) and rdx.
#ifdef FIELDCOST_EVERY_CALL
    cmpl $0, fieldcost_takes_time(%rip)
    je 3f
#endif
    movq %rax, %r11
    movq %rdx, FIELDCOST_RECORD_START_TICKS(%rbx)
    lfence
    rdtsc
    shlq $32, %rdx
    orq %rax, %rdx
    movq FIELDCOST_RECORD_START_TICKS(%rbx), %rax
    movq %rdx, FIELDCOST_RECORD_START_TICKS(%rbx)
    movq %rax, %rdx
    movq %r11, %rax
    lfence
3:  call *FIELDCOST_RECORD_TARGET(%rbx)
fieldcost_thunk_return:
#ifdef FIELDCOST_EVERY_CALL
    cmpl $0, fieldcost_takes_time(%rip)
    je 4f
#endif
    lfence                      // the end stamp waits for everything that the function has begun
4:  pushq FIELDCOST_RECORD_RETURN_ADDRESS(%rbx)
    .cfi_endproc

    .cfi_startproc
    CFI_RBX_IN_RECORD
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq %rbx, %rdi
    movq FIELDCOST_RECORD_SAVED_REGISTER(%rbx), %rbx
    .cfi_same_value rbx
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    xorl %esi, %esi
    cmpl $0, fieldcost_attached(%rip)
    je 1f                       // reading the time may be fatal: see notice.h
#ifdef FIELDCOST_EVERY_CALL
    movl $1, %esi
    cmpl $0, fieldcost_takes_time(%rip)
    je 1f
#endif
    rdtsc
    shlq $32, %rdx
    leaq (%rdx, %rax), %rsi     // 0: not read
1:  call fieldcost_thunk_exit   // records, and releases the record
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rax
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size fieldcost_stubs, . - fieldcost_stubs

    // Measured once at the start: a function that does nothing, and one of known duration, because
    // each multiplication depends on the previous one, even across calls.
    .globl fieldcost_empty_function
    .hidden fieldcost_empty_function
    .p2align 4
    .type fieldcost_empty_function, @function
fieldcost_empty_function:
    .cfi_startproc
    endbr64
    ret
    .cfi_endproc
    .size fieldcost_empty_function, . - fieldcost_empty_function

    .globl fieldcost_known_function
    .hidden fieldcost_known_function
    .p2align 4
    .type fieldcost_known_function, @function
fieldcost_known_function:
    .cfi_startproc
    endbr64
    movq %rdi, %rax
    .rept 16
    imulq %rax, %rax
    .endr
    ret
    .cfi_endproc
    .size fieldcost_known_function, . - fieldcost_known_function
