// The functions that programs and thunks call. They add the caller's registers, as they are right
// after the call, for stacks (shm::ProbeRegisters, below the return address).
//
// Every function here may be entered by an indirect call, and begins with endbr64.

#include <cet.h>

    .section .note.GNU-stack, "", @progbits
    .text
    .hidden fieldcost_takes_stacks
    .hidden fieldcost_probe_take
    .hidden fieldcost_probe_take_in
    .hidden fieldcost_probe_take_begin
    .hidden fieldcost_probe_take_end
    .hidden fieldcost_probe_enter
    .hidden fieldcost_probe_exit
    .hidden fieldcost_thunk_enter
    .hidden fieldcost_thunk_exit

// Pushes the callers' registers, r15 first; sp and ip belong above them.
.macro SAVE_CALLEES_REGISTERS
    pushq %r15
    .cfi_adjust_cfa_offset 8
    pushq %r14
    .cfi_adjust_cfa_offset 8
    pushq %r13
    .cfi_adjust_cfa_offset 8
    pushq %r12
    .cfi_adjust_cfa_offset 8
    pushq %rbx
    .cfi_adjust_cfa_offset 8
    pushq %rbp
    .cfi_adjust_cfa_offset 8
.endm

// Pushes all of shm::ProbeRegisters, 64 bytes. `depth`: bytes between the top of the stack and the
// caller's return address.
.macro SAVE_REGISTERS depth
    SAVE_CALLEES_REGISTERS
    leaq \depth + 56(%rsp), %rax
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq \depth + 56(%rsp)
    .cfi_adjust_cfa_offset 8
.endm

.macro BEGIN_FUNCTION name
    .globl \name
    .p2align 4
    .type \name, @function
\name:
    .cfi_startproc
    endbr64
.endm
.macro END_FUNCTION name
    .cfi_endproc
    .size \name, . - \name
.endm

// Calls `taker`, with its last two arguments, `here` and `registers`, in these registers.
.macro TAKE taker here registers
    leaq (%rsp), \here
    cmpl $0, fieldcost_takes_stacks(%rip)
    jne 1f
    xorl %eax, %eax
    movq %rax, \registers
    jmp \taker
1:  SAVE_REGISTERS 0
    movq %rsp, \registers
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    call \taker
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    ret
.endm

BEGIN_FUNCTION fieldcost_probe_hit
    xorl %esi, %esi             // flags
    xorl %edx, %edx             // value
    TAKE fieldcost_probe_take, %rcx, %r8
END_FUNCTION fieldcost_probe_hit

// The event arrives in two registers and is passed on in memory below the return address, which
// also aligns the stack as the taker requires.
BEGIN_FUNCTION fieldcost_probe_hit_in
    leaq (%rsp), %r8
    SAVE_REGISTERS 0
    movq %rsp, %r9
    cmpl $0, fieldcost_takes_stacks(%rip)
    jne 1f
    xorl %r9d, %r9d
1:  pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    movq %rsp, %rsi
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    xorl %edx, %edx             // flags
    xorl %ecx, %ecx             // value
    call fieldcost_probe_take_in
    addq $88, %rsp
    .cfi_adjust_cfa_offset -88
    ret
END_FUNCTION fieldcost_probe_hit_in

BEGIN_FUNCTION fieldcost_probe_hit_value
    testq %rsi, %rsi
    jnz 2f
    movl $2, %esi               // kProbeHasValue
    .cfi_remember_state
    TAKE fieldcost_probe_take, %rcx, %r8
    .cfi_restore_state
2:  movq %rdx, %rcx
    movl $2, %edx
    TAKE fieldcost_probe_take_in, %r8, %r9
END_FUNCTION fieldcost_probe_hit_value

BEGIN_FUNCTION fieldcost_probe_begin
    TAKE fieldcost_probe_take_begin, %rdx, %rcx
END_FUNCTION fieldcost_probe_begin

BEGIN_FUNCTION fieldcost_probe_end
    TAKE fieldcost_probe_take_end, %rdx, %rcx
END_FUNCTION fieldcost_probe_end

// Called by the thunk before a call with (what, return_slot); adds `registers`.
BEGIN_FUNCTION fieldcost_thunk_enter
    SAVE_CALLEES_REGISTERS
    leaq 8(%rsi), %rax
    pushq %rax
    .cfi_adjust_cfa_offset 8
    pushq (%rsi)
    .cfi_adjust_cfa_offset 8
    movq %rsp, %rdx
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    call fieldcost_probe_enter
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    ret
END_FUNCTION fieldcost_thunk_enter

// Called by the thunk after a call with (record, ...). Above our return address are a word, the
// function's rdx and rax, and the address that it returns to.
BEGIN_FUNCTION fieldcost_thunk_exit
    movq 24(%rsp), %rsi
    SAVE_REGISTERS 32
    movq %rsp, %rdx
    subq $8, %rsp               // 16-byte alignment
    .cfi_adjust_cfa_offset 8
    call fieldcost_probe_exit
    addq $72, %rsp
    .cfi_adjust_cfa_offset -72
    ret
END_FUNCTION fieldcost_thunk_exit
