/* One machine instruction: where it goes on, which registers it needs and changes, which memory it touches (Capstone).
 *
 * x86-64 and arm64 in one form. What Capstone 4 does not know of arm64 (the atomics of ARMv8.1, LDAPR, returns with
 * pointer authentication) is decoded here. A decoder belongs to one thread; instructions are plain values.
 *
 * Sets of registers are bit sets: REGISTER_FLAGS, REGISTER_VECTOR + n, and below them the general registers: on x86-64 in the
 * order of their encoding (rax rcx rdx rbx rsp rbp rsi rdi r8 … r15), on arm64 x0 … x30 and 31, the stack pointer. A part of a
 * register counts as the whole: that is right for values that are read as they were written, which compilers do.
 */
#ifndef ARGUS_STEPS_INSTRUCTION_H
#define ARGUS_STEPS_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"

enum instruction_machine {
    INSTRUCTION_X86_64,
    INSTRUCTION_ARM64,
};

enum {
    REGISTER_RAX = 0,
    REGISTER_RCX = 1,
    REGISTER_RDX = 2,
    REGISTER_RSP = 4,
    REGISTER_RBP = 5,
    REGISTER_RSI = 6,
    REGISTER_RDI = 7,
    REGISTER_R8 = 8,
    REGISTER_R9 = 9,
    REGISTER_R11 = 11,
    REGISTER_X30 = 30,   /* arm64: where a call returns to */
    REGISTER_X31 = 31,   /* arm64: the stack pointer */
    REGISTER_FLAGS = 32, /* rflags; nzcv */
    REGISTER_VECTOR =
        33, /* + n; those from 30 on share one bit, so that a set is one word: at worst a slice is larger */
    REGISTER_NONE = 255,
};

#define REGISTER_BIT(number) (UINT64_C(1) << (number))

enum instruction_flow {
    FLOW_NEXT,          /* goes on behind itself */
    FLOW_BRANCH,        /* goes to `target` or goes on, as flags or a register say */
    FLOW_JUMP,          /* to `target` */
    FLOW_JUMP_INDIRECT, /* to where a register or memory says */
    FLOW_CALL,
    FLOW_CALL_INDIRECT,
    FLOW_RETURN,
    FLOW_SYSCALL,
    FLOW_TRAP, /* int3, ud2, brk, hlt */
};

enum instruction_segment {
    SEGMENT_NONE,
    SEGMENT_FS, /* x86-64: counts from fs_base, where Linux has thread-local variables */
    SEGMENT_GS,
};

enum instruction_extend {
    EXTEND_NONE, /* the index register's 64 bits */
    EXTEND_UXTW, /* its low 32 bits, without sign */
    EXTEND_SXTW, /* … with sign */
};

/* base + extend(index) × scale + displacement, counted from the segment. */
struct instruction_memory {
    uint8_t base, index; /* general register; REGISTER_NONE: none */
    uint8_t scale;       /* 1, 2, 4, 8, 16 */
    uint8_t segment;     /* enum instruction_segment */
    uint8_t extend;      /* enum instruction_extend */
    bool reads, writes;  /* both: read and then written (xchg, lock add, ldadd …) */
    bool is_implicit;    /* not written in the disassembly: what push, pop, call and ret touch */
    bool
        is_repeated; /* a string instruction with rep: rcx times, forward or (rflags.DF) backward */
    bool
        is_relative; /* pc-relative: `displacement` is the address itself, for the address that was decoded at */
    uint32_t size_bytes;
    int64_t displacement;
};

#define INSTRUCTION_MEMORY_MAX 3

struct instruction {
    uint64_t address;
    uint64_t target;        /* of FLOW_BRANCH, FLOW_JUMP, FLOW_CALL; else 0 */
    uint64_t reads, writes; /* sets of registers; without those that only say which memory … */
    uint64_t names;    /* … which are here (of lea they are `reads`, and there is no memory) */
    int64_t immediate; /* the last immediate operand, if has_immediate */
    uint8_t length;
    uint8_t flow; /* enum instruction_flow */
    uint8_t memory_count;
    bool has_immediate;
    bool is_compare; /* only sets flags: cmp, test, ucomisd … */
    bool tests_bits; /* … by which bits are set in both operands: test, bt, tst */
    bool
        is_move; /* what it writes is what it reads, perhaps extended: mov, movzx, ldr, push, pop … */
    /* Its result is `addend` plus the one general register that it reads, or, when it reads none, `addend` alone: add and sub of an
     * immediate, lea without an index, adr, adrp. */
    bool is_sum;
    int64_t addend;
    struct instruction_memory memory[INSTRUCTION_MEMORY_MAX];
};

struct instruction_decoder;

/* UNSUPPORTED: this Capstone was built without the machine. */
struct argus_error *instruction_decoder_create(enum instruction_machine machine,
                                               struct instruction_decoder **ret);
void instruction_decoder_destroy(struct instruction_decoder *decoder);
enum instruction_machine instruction_decoder_machine(const struct instruction_decoder *decoder);

/* Decodes the instruction that begins with code[0], of which `bytes` bytes are there, and lies at `address`. False: these bytes
 * are no instruction that is known; `*ret` is then all zero but for its address. */
bool instruction_decode(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, struct instruction *ret);

/* What a disassembler prints of it, into `buffer`, which is returned: "mov eax, dword ptr [rip + 0x2ee4]"; "(bad)". */
const char *instruction_text(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                             uint64_t address, char *buffer, size_t buffer_bytes);

/* The instruction that ends where `pc` is, which is the one that touched memory when a processor says the pc behind it (x86
 * watchpoints do). `code` begins at `address` with an instruction (a function's or a block's first: x86 code
 * cannot be read backward), and reaches to `pc` at least.
 *
 * False: the instructions do not come by at `pc`: `address` was no beginning, there are data in between, or pc is not behind
 * it. Two cases the caller has to know: an instruction with `is_repeated` memory may be interrupted by the watchpoint between two
 * turns, and then pc is its own; and after a call, jump or return through memory pc is where that led, so that the
 * instruction before it in memory is not the one that ran. A `flow` other than FLOW_NEXT in the result tells the latter. */
bool instruction_before(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, uint64_t pc, struct instruction *ret);

/* The address that `memory` names: `registers` are the general registers' values before the instruction (16 or 32 of them, in the
 * order of the sets), `segment_bases` fs_base and gs_base (NULL: they count as 0). */
uint64_t instruction_address(const struct instruction_memory *memory, const uint64_t *registers,
                             const uint64_t *segment_bases);

#endif
