/* One instruction at a time, as far as moving it needs to know it: how long it is, where it goes on, and what in it counts from its own
 * address. Capstone does the decoding. */
#ifndef ARGUS_HOOKS_INSN_DECODE_H
#define ARGUS_HOOKS_INSN_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "plan.h"

enum insn_flow {
    INSN_NEXT,          /* goes on behind itself */
    INSN_JUMP,          /* always to `target` */
    INSN_BRANCH,        /* to `target` or on */
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
    uint64_t
        target; /* of a direct branch, or the address of the data that it names by its own address */
    uint8_t bytes[INSN_BYTES_MOST];
    uint8_t length;
    uint8_t flow;       /* enum insn_flow */
    bool names_data;    /* relative to its own address: rip + displacement, adr, ldr literal */
    bool takes_address; /* of it, and does not read it: lea */
    bool uses_sp;       /* a memory operand counts from the stack pointer */
    bool is_nop;
    uint8_t displacement_at; /* x86-64: where the displacement stands; 0: none */
    uint32_t id;             /* Capstone's */
    char text[104];          /* as people read it: "mov rax, qword ptr [rdi + 8]" */
};

struct decoder;
struct argus_error *decoder_create(enum hook_arch arch, struct decoder **ret);
void decoder_destroy(struct decoder *decoder);

/* Decodes the instruction at the beginning of `bytes`, of which there are `count`. False: there is none. */
bool decoder_next(struct decoder *decoder, const uint8_t *bytes, size_t count, uint64_t address,
                  struct insn *ret);

#endif
