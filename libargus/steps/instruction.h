/* One machine instruction: its control flow, the registers that it reads and writes, and its memory
 * accesses (Capstone).
 *
 * x86-64 and arm64 have the same representation. arm64 instructions that Capstone 4 does not know
 * (the atomics of ARMv8.1, LDAPR, returns with pointer authentication) are decoded by Argus. A
 * decoder belongs to one thread; instructions are plain values.
 *
 * Sets of registers are bit sets: REGISTER_FLAGS, REGISTER_VECTOR + n, and below them the general
 * registers: on x86-64 in the order of their encoding (rax rcx rdx rbx rsp rbp rsi rdi r8 … r15),
 * on arm64 x0 … x30 and 31, the stack pointer. A part of a register counts as the whole register;
 * that is correct as long as code reads a value with the size with which it was written, as
 * compilers do.
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
    REGISTER_RBX = 3,
    REGISTER_RSP = 4,
    REGISTER_RBP = 5,
    REGISTER_RSI = 6,
    REGISTER_RDI = 7,
    REGISTER_R8 = 8,
    REGISTER_R9 = 9,
    REGISTER_R11 = 11,
    REGISTER_X30 = 30,   /* arm64: the return address of a call */
    REGISTER_X31 = 31,   /* arm64: the stack pointer */
    REGISTER_FLAGS = 32, /* rflags; nzcv */
    /* + n; those from 30 on share one bit, so that a set fits into a word: at worst a slice gets
     * larger */
    REGISTER_VECTOR = 33,
    REGISTER_NONE = 255,
};

#define REGISTER_BIT(number) (UINT64_C(1) << (number))

/* The number of the only register of a set; REGISTER_NONE: there are others, or none. */
static inline uint8_t register_lone(uint64_t registers)
{
    return registers && !(registers & (registers - 1)) ? (uint8_t)__builtin_ctzll(registers)
                                                       : REGISTER_NONE;
}

/* The same of the general registers of the set. */
static inline uint8_t register_lone_general(uint64_t registers)
{
    return register_lone(registers & (REGISTER_BIT(REGISTER_FLAGS) - 1));
}

enum instruction_flow {
    FLOW_NEXT, /* continues with the next instruction */
    /* continues at `target` or the next instruction, depending on flags or a register */
    FLOW_BRANCH,
    FLOW_JUMP,          /* to `target` */
    FLOW_JUMP_INDIRECT, /* to an address in a register or in memory */
    FLOW_CALL,
    FLOW_CALL_INDIRECT,
    FLOW_RETURN,
    FLOW_SYSCALL,
    FLOW_TRAP, /* int3, ud2, brk, hlt */
};

enum instruction_segment {
    SEGMENT_NONE,
    SEGMENT_FS, /* x86-64: relative to fs_base, used for thread-local variables on Linux */
    SEGMENT_GS,
};

enum instruction_extend {
    EXTEND_NONE, /* the index register's 64 bits */
    EXTEND_UXTW, /* its low 32 bits, zero-extended */
    EXTEND_SXTW, /* … sign-extended */
};

/* base + extend(index) × scale + displacement, relative to the segment. */
struct instruction_memory {
    uint8_t base, index; /* general register; REGISTER_NONE: none */
    uint8_t scale;       /* 1, 2, 4, 8, 16 */
    uint8_t segment;     /* enum instruction_segment */
    uint8_t extend;      /* enum instruction_extend */
    bool reads, writes;  /* both: read and then written (xchg, lock add, ldadd …) */
    bool is_implicit;    /* not visible in the disassembly: accesses of push, pop, call and ret */
    /* a string instruction with rep: rcx repetitions, forward or (rflags.DF) backward */
    bool is_repeated;
    /* pc-relative: `displacement` is the absolute address, valid for the instruction's own
     * address */
    bool is_relative;
    uint32_t size_bytes;
    int64_t displacement;
};

#define INSTRUCTION_MEMORY_MAX 3

/* How an instruction uses only some bits of the one register or word of memory that it reads. */
enum instruction_bits {
    BITS_ALL,     /* all of them, or it is not known */
    BITS_MASKED,  /* those of `bits`; if it writes the register, only these remain */
    BITS_SHIFTED, /* it shifts the register right by `bits` */
};

struct instruction {
    uint64_t address;
    uint64_t target;        /* of FLOW_BRANCH, FLOW_JUMP, FLOW_CALL; else 0 */
    uint64_t reads, writes; /* sets of registers, without those used only in memory addresses … */
    /* … which are here (for lea they are in `reads`, since it accesses no memory) */
    uint64_t names;
    int64_t immediate; /* the last immediate operand, if has_immediate */
    uint8_t length;
    uint8_t flow; /* enum instruction_flow */
    uint8_t memory_count;
    bool has_immediate;
    bool is_compare; /* only sets flags: cmp, test, ucomisd … */
    bool tests_bits; /* … by the bits that are set in both operands: test, bt, tst */
    /* the result is the value read, possibly extended: mov, movzx, ldr, push, pop … */
    bool is_move;
    bool gathers; /* the result has the bits of all operands: or, orr */
    /* The result is `addend` plus the one general register that it reads, or `addend` alone if it
     * reads none: add and sub of an immediate, lea without an index, adr, adrp. */
    bool is_sum;
    int64_t addend;  /* of lea with an index: its displacement */
    uint8_t bit_use; /* enum instruction_bits */
    uint64_t bits;
    struct instruction_memory memory[INSTRUCTION_MEMORY_MAX];
};

struct instruction_decoder;

/* UNSUPPORTED: Capstone was built without this architecture. */
struct argus_error *instruction_decoder_create(enum instruction_machine machine,
                                               struct instruction_decoder **ret);
void instruction_decoder_destroy(struct instruction_decoder *decoder);
enum instruction_machine instruction_decoder_machine(const struct instruction_decoder *decoder);

/* Decodes the instruction at `address` whose code begins at code[0], with `bytes` bytes available.
 * False: the bytes are not a known instruction; `*ret` is then zero except for its address. */
bool instruction_decode(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, struct instruction *ret);

/* The disassembly, into `buffer`, which is returned: "mov eax, dword ptr [rip + 0x2ee4]";
 * "(bad)". */
const char *instruction_text(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                             uint64_t address, char *buffer, size_t buffer_bytes);

/* The instruction that ends at `pc`. If a processor reports the pc after a memory access (as for
 * x86 watchpoints), that is the accessing instruction. `code` begins at `address` with an
 * instruction (the first of a function or block, because x86 code cannot be decoded backward) and
 * extends at least to `pc`.
 *
 * False: no instruction ends at `pc`, because `address` is not the start of an instruction, there
 * are data in between, or `pc` is not behind it. The caller must handle two cases. An instruction
 * with `is_repeated` memory may be interrupted by the watchpoint between two repetitions; then `pc`
 * is its own address. After a call, jump or return through memory, `pc` is its target, so the
 * instruction before it in memory is not the one that was executed; in this case, the result's
 * `flow` is not FLOW_NEXT. */
bool instruction_before(struct instruction_decoder *decoder, const uint8_t *code, size_t bytes,
                        uint64_t address, uint64_t pc, struct instruction *ret);

/* The address of `memory`. `registers`: the values of the general registers before the instruction
 * (16 or 32, in the order of the sets). `segment_bases`: fs_base and gs_base (NULL: 0). */
uint64_t instruction_address(const struct instruction_memory *memory, const uint64_t *registers,
                             const uint64_t *segment_bases);

#endif
