/* A function's instructions, decoded from its file, and where each one goes on. */
#ifndef ARGUS_STEPS_CODE_FUNCTION_H
#define ARGUS_STEPS_CODE_FUNCTION_H

#include "base/vec.h"
#include "event/binary/elf_slots.h"
#include "steps/instruction.h"

#define CODE_NONE UINT32_MAX

/* A file with code. */
struct code_image {
    struct elf_file *file;  /* borrowed */
    struct elf_slots slots; /* owned */
};

/* Where a jump through a table may lead. */
struct code_way {
    uint32_t from, to; /* nodes; `to` CODE_NONE: out of the function */
    uint64_t address;
};

/* Nodes are instructions, by address. */
struct code_function {
    const struct code_image *image; /* borrowed */
    uint64_t start, bytes;          /* addresses of the file */
    bool is_arm64;
    bool is_go; /* x86-64 code of Go's compiler, which has another calling convention */
    VEC(struct instruction) nodes;
    uint32_t (
        *next)[2]; /* owned; by node: where it goes on within the function; CODE_NONE: nowhere */
    VEC(struct code_way) ways;           /* of jumps through tables, by `from` (code_tables.h) */
    uint32_t *first_before;              /* owned; by node, and one behind: its part of `before` */
    uint32_t *before;                    /* owned: the nodes that go on there */
    struct instruction_decoder *decoder; /* borrowed */
};

/* Decodes the function of `image` that covers `address`. False: its file does not tell where it
 * begins and ends, it is too large, has bytes that are no instructions, or its calling convention
 * is not known (Go before 1.18). Without memory also false. */
bool code_function_init(struct code_function *function, const struct code_image *image,
                        struct instruction_decoder *decoder, uint64_t address);
void code_function_deinit(struct code_function *function);

/* The k-th way on from `node`, for the instructions that have two or more, or else one. False:
 * there is no such way. */
bool code_function_way(const struct code_function *function, uint32_t node, uint32_t k,
                       struct code_way *ret);
/* Whether it is a jump through a table whose ways are not known, or a jump to another function
 * through a pointer. */
bool code_function_is_open(const struct code_function *function, uint32_t node);

/* Whether the instruction only adds up two registers or more: add rax, rbx;
 * lea rax, [rbx + 8*rcx + 16]. By the encoding: Intel SDM volume 2, ADD and LEA; Arm ARM, C6.2,
 * ADD. */
bool code_adds(const struct code_function *function, const struct instruction *at);
/* Whether it adds a word of memory to a register: add rax, [rip + x] (x86-64). */
bool code_adds_memory(const struct code_function *function, const struct instruction *at);

/* The instruction that covers `address`; CODE_NONE: none. */
uint32_t code_function_node(const struct code_function *function, uint64_t address);

/* The registers that a called function may change, and the one that has its result. By the System V
 * and Arm procedure call standards, and "Go internal ABI specification"
 * (cmd/compile/abi-internal.md). */
uint64_t code_clobbered(const struct code_function *function);
/* Registers that have a value when a function begins: arguments, and what belongs to the caller. */
bool code_is_kept(const struct code_function *function, uint8_t reg);
bool code_is_argument(const struct code_function *function, uint8_t reg);
#define CODE_ARGUMENTS 6
/* The register of argument 0 … CODE_ARGUMENTS - 1. */
uint8_t code_argument(const struct code_function *function, unsigned argument);
uint8_t code_stack_pointer(bool is_arm64);
uint8_t code_frame_pointer(bool is_arm64);

static inline bool code_is_call(const struct instruction *instruction)
{
    return instruction->flow == FLOW_CALL || instruction->flow == FLOW_CALL_INDIRECT;
}

#endif
