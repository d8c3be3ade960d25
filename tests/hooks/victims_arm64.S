/* The functions of victims.S for arm64: where an instruction is hard to move there, it is another one here. One
 * instruction is one word, and so is the jump: a window never has a middle. */
    .text
.macro function name
    .p2align 4
    .globl \name
    .type \name, %function
\name:
.endm
.macro end name
    .size \name, . - \name
.endm

/* x + 10 */
function victim_short
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    add x0, x0, #10
    ldp x29, x30, [sp], #16
    ret
end victim_short

/* Data named by the page that it is in. x + 7 */
function victim_rip
    adrp x1, constant
    ldr w1, [x1, :lo12:constant]
    add x0, x0, x1
    ret
end victim_rip

/* Keeps data below the stack pointer, and flags over the window. 2 * x + 1 if x is odd, else 2 * x. */
function victim_red_zone
    str x0, [sp, #-8]
    str x0, [sp, #-128]
    tst x0, #1
    ldr x0, [sp, #-8]
    ldr x1, [sp, #-128]
    add x0, x0, x1
    b.eq 1f
    add x0, x0, #1
1:  ret
end victim_red_zone

/* A loop. The sum of 1 to x. */
function victim_loop
    mov x1, #0
1:  add x1, x1, x0
    subs x0, x0, #1
    b.ne 1b
    mov x0, x1
    ret
end victim_loop

/* Calls, of both kinds. x + 1 + 2 + 2. */
function victim_call
    stp x29, x30, [sp, #-16]!
    mov x29, sp
    add x0, x0, #1
    bl add_two
    adrp x1, pointer
    ldr x1, [x1, :lo12:pointer]
    blr x1
    ldp x29, x30, [sp], #16
    ret
end victim_call

function add_two
    add x0, x0, #2
    ret
end add_two

/* x + 2 */
function victim_call_register
    stp x29, x30, [sp, #-16]!
    adr x17, add_two
    blr x17
    ldp x29, x30, [sp], #16
    ret
end victim_call_register

/* A jump out, as compilers make of a last call. x + 2 */
function victim_tail
    nop
    b add_two
end victim_tail

/* A table of jumps, relative to itself. x is 0 to 3: 100 + x */
function victim_switch
    adrp x2, table
    add x2, x2, :lo12:table
    ldrsw x1, [x2, x0, lsl #2]
    add x1, x1, x2
    br x1
case0:
    mov x0, #100
    ret
case1:
    mov x0, #101
    ret
case2:
    mov x0, #102
    ret
case3:
    mov x0, #103
    ret
end victim_switch

/* Branches that reach least far: 1 MB and 32 KB. x + 1 */
function victim_jrcxz
    cbz x0, 1f
    tbz x0, #0, 2f
    add x0, x0, #1
    ret
1:  mov x0, #1
    ret
2:  add x0, x0, #1
    ret
end victim_jrcxz

/* Entered in the middle. x + 3 */
function victim_entered
    nop
    nop
victim_entered_behind:
    add x0, x0, #3
    ret
end victim_entered

function enters
    b victim_entered_behind
end enters

function enters_over
    b victim_entered_over_behind
end enters_over

function victim_entered_over
    nop
    nop
victim_entered_over_behind:
    add x0, x0, #3
    ret
end victim_entered_over

/* Signs its return address. x + 1 */
function victim_vector
    paciasp
    stp x29, x30, [sp, #-16]!
    add x0, x0, #1
    ldp x29, x30, [sp], #16
    autiasp
    cbz xzr, 1f
    .word 0xf8200041 /* ldadd x0, x1, [x2] and retaa, which Capstone 4 does not know; not executed */
    .word 0xd65f0bff
1:  ret
end victim_vector

/* A pointer in data leads into it. x + 4 */
function victim_computed
    nop
    nop
victim_computed_behind:
    add x0, x0, #4
    ret
end victim_computed

/* Data among the code. x + 6 */
function victim_with_data
    ldr w1, numbers
    add x0, x0, x1
    ret
numbers:
    .long 6
end victim_with_data

/* Computed goto by an address that the code takes. x + 8 */
function victim_taken
    adr x1, 1f
    add x0, x0, #2
    br x1
    brk #1
1:  add x0, x0, #6
    ret
end victim_taken

/* A table of jumps in the code itself. x is 0 or 1: 200 + x */
function victim_switch_inside
    adr x2, 1f
    ldrsw x1, [x2, x0, lsl #2]
    add x1, x1, x2
    br x1
1:  .long 2f - 1b, 3f - 1b
2:  nop
3:  add x0, x0, #200
    ret
end victim_switch_inside

/* All registers that a shell function may not change. x + 5, or 0 if one was. */
function victim_registers
    mov x1, #0x1111
    mov x2, #0x2222
    fmov d0, x1
    fmov d31, x2
    mov x8, x1
    mov x9, x2
    mov x15, x1
    mov x16, x2
    mov x17, x1
    cmp xzr, xzr
    add x3, x0, #5 /* victim_registers+0x28 */
    b.ne 1f
    cmp x8, x1
    ccmp x9, x2, #0, eq
    ccmp x15, x1, #0, eq
    ccmp x16, x2, #0, eq
    ccmp x17, x1, #0, eq
    b.ne 1f
    fmov x8, d0
    fmov x9, d31
    cmp x8, x1
    ccmp x9, x2, #0, eq
    b.ne 1f
    mov x0, x3
    ret
1:  mov x0, #0
    ret
end victim_registers

    .section .rodata
    .p2align 2
table:
    .long case0 - table, case1 - table, case2 - table, case3 - table

    .data
    .hidden add_two
    .p2align 3
constant:
    .long 7
    .long 0
pointer:
    .quad add_two
    .quad victim_computed_behind
    .section .note.GNU-stack,"",%progbits
