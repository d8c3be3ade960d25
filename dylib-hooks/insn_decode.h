/* Decodes one instruction by Capstone, as far as moving it requires: its length, where execution
 * continues, and which operand is relative to its own address. */
#ifndef ARGUS_HOOKS_INSN_DECODE_H
#define ARGUS_HOOKS_INSN_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "plan.h"

enum insn_flow {
    INSN_NEXT,          /* continues after itself */
    INSN_JUMP,          /* always continues at `target` */
    INSN_BRANCH,        /* continues at `target` or after itself */
    INSN_SHORT_BRANCH,  /* the same, of a kind that only has 8 bits: loop, jrcxz, xbegin */
    INSN_CALL,          /* to `target`, and back */
    INSN_JUMP_INDIRECT, /* register or memory */
    INSN_CALL_INDIRECT,
    INSN_RETURN,
    INSN_TRAP, /* int3, ud2, hlt, brk */
};

enum { INSN_BYTES_MOST = 16 };

struct insn {
    uint64_t address;
    /* Of a direct branch, or the address of the data that it names by its own address. */
    uint64_t target;
    uint8_t bytes[INSN_BYTES_MOST];
    uint8_t length;
    uint8_t flow; /* enum insn_flow */
    /* An operand is relative to its own address: rip + displacement, adr, ldr literal. */
    bool names_data;
    bool takes_address; /* of that data, without reading it: lea */
    bool uses_sp;       /* a memory operand is relative to the stack pointer */
    bool is_nop;
    uint8_t displacement_at; /* x86-64: offset of the displacement; 0: none */
    uint32_t id;             /* Capstone's */
    char text[104];          /* in assembly syntax: "mov rax, qword ptr [rdi + 8]" */
};

struct decoder;
struct argus_error *decoder_create(enum hook_arch arch, struct decoder **ret);
void decoder_destroy(struct decoder *decoder);

/* Decodes the instruction at the beginning of `bytes`, of which there are `count`. False: there is
 * none. */
bool decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t count, uint64_t address,
                  struct insn *ret);

#endif
