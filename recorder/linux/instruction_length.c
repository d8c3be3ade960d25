/* x86-64 (Intel's manual, volume 2, appendix A): prefixes, an opcode, in most instructions a ModRM
 * byte with an address, a constant. Only what compilers use in ordinary code is in the tables, so
 * that they can be compared with the manual at a glance. To add an opcode: a row. */
#include "linux/instruction_length.h"

#include <stdbool.h>

#if defined(__x86_64__)

enum form {
    MODRM = 1 << 0,
    BYTE = 1 << 1,     /* a constant of 8 bits */
    WORD = 1 << 2,     /* of 32 bits; 16 with the prefix 66 */
    DISTANCE = 1 << 3, /* of 32 bits in any case: of a jump */
    WIDE = 1 << 4,     /* of 32 bits; 64 with REX.W */
    IF_TEST = 1 << 5,  /* the constant is there only if ModRM.reg is 0 or 1 */
};

struct opcodes {
    uint8_t first, last, form;
};

/* The rows are in order, and a code that is in none is not known. */
static const struct opcodes one_byte[] = {
    {0x50, 0x5f, 0},            /* push, pop */
    {0x63, 0x63, MODRM},        /* movsxd */
    {0x68, 0x68, WORD},         /* push */
    {0x69, 0x69, MODRM | WORD}, /* imul */
    {0x6a, 0x6a, BYTE},         /* push */
    {0x6b, 0x6b, MODRM | BYTE}, /* imul */
    {0x70, 0x7f, BYTE},         /* jcc */
    {0x80, 0x80, MODRM | BYTE}, /* add … cmp */
    {0x81, 0x81, MODRM | WORD},
    {0x83, 0x83, MODRM | BYTE},
    {0x84, 0x8b, MODRM}, /* test, xchg, mov */
    {0x8d, 0x8d, MODRM}, /* lea */
    {0x90, 0x90, 0},     /* nop */
    {0x98, 0x99, 0},     /* cdqe, cqo */
    {0xa8, 0xa8, BYTE},  /* test */
    {0xa9, 0xa9, WORD},
    {0xb0, 0xb7, BYTE}, /* mov */
    {0xb8, 0xbf, WIDE},
    {0xc0, 0xc1, MODRM | BYTE}, /* shifts */
    {0xc3, 0xc3, 0},            /* ret */
    {0xc6, 0xc6, MODRM | BYTE}, /* mov */
    {0xc7, 0xc7, MODRM | WORD},
    {0xcc, 0xcc, 0},     /* int3 */
    {0xd1, 0xd1, MODRM}, /* shifts */
    {0xd3, 0xd3, MODRM},
    {0xe8, 0xe9, DISTANCE}, /* call, jmp */
    {0xeb, 0xeb, BYTE},     /* jmp */
    {0xf6, 0xf6, MODRM | BYTE | IF_TEST},
    {0xf7, 0xf7, MODRM | WORD | IF_TEST},
    {0xfe, 0xff, MODRM}, /* inc, dec, call, jmp, push */
};

/* Behind 0f. */
static const struct opcodes two_bytes[] = {
    {0x0b, 0x0b, 0},     /* ud2 */
    {0x10, 0x17, MODRM}, /* mov of vectors */
    {0x1e, 0x1f, MODRM}, /* endbr64, nop */
    {0x28, 0x2f, MODRM}, /* mov, cvt, comis */
    {0x40, 0x4f, MODRM}, /* cmov */
    {0x51, 0x6f, MODRM}, /* arithmetic of vectors */
    {0x74, 0x76, MODRM},
    {0x7e, 0x7f, MODRM},
    {0x80, 0x8f, DISTANCE}, /* jcc */
    {0x90, 0x9f, MODRM},    /* setcc */
    {0xa3, 0xa3, MODRM},    /* bt */
    {0xab, 0xab, MODRM},
    {0xaf, 0xaf, MODRM},        /* imul */
    {0xb0, 0xb1, MODRM},        /* cmpxchg */
    {0xb6, 0xb7, MODRM},        /* movzx */
    {0xba, 0xba, MODRM | BYTE}, /* bt */
    {0xbc, 0xbf, MODRM},        /* bsf, bsr, movsx */
    {0xc0, 0xc1, MODRM},        /* xadd */
    {0xd4, 0xd7, MODRM},
    {0xdb, 0xdb, MODRM},
    {0xeb, 0xeb, MODRM},
    {0xef, 0xef, MODRM}, /* pxor */
};

#define FIND(table, code) find(table, sizeof(table) / sizeof((table)[0]), code)

static int find(const struct opcodes *table, size_t rows, uint8_t code)
{
    for (size_t i = 0; i < rows; i++)
        if (code >= table[i].first && code <= table[i].last)
            return table[i].form;
    return -1;
}

/* The eight operations of arithmetic, 00 to 3f: four with ModRM, two with a constant. */
static int form_of_one_byte(uint8_t code)
{
    if (code >= 0x40)
        return FIND(one_byte, code);
    return (code & 7) < 4 ? MODRM : (code & 7) == 4 ? BYTE : (code & 7) == 5 ? WORD : -1;
}

/* Bytes of ModRM, SIB and displacement; `*ret_register`: ModRM.reg. 0: they do not fit. */
static size_t address_length(const uint8_t *code, size_t bytes, unsigned *ret_register)
{
    if (bytes < 1)
        return 0;
    unsigned mod = code[0] >> 6, rm = code[0] & 7;
    size_t length = 1;
    *ret_register = code[0] >> 3 & 7;
    if (mod == 3)
        return length;
    if (rm == 4) {
        if (bytes < 2)
            return 0;
        length++;
        rm = code[1] & 7; /* the base: 5 without a mod means none, as for rm */
    }
    return length + (mod == 1 ? 1 : mod == 2 || rm == 5 ? 4 : 0);
}

static size_t constant_length(unsigned form, bool is_16_bit, bool is_64_bit, unsigned reg)
{
    if (form & IF_TEST && reg > 1)
        return 0;
    size_t word = is_16_bit ? 2 : 4, wide = is_64_bit ? 8 : word;
    return (form & BYTE ? 1 : 0) + (form & WORD ? word : 0) + (form & DISTANCE ? 4 : 0) +
           (form & WIDE ? wide : 0);
}

size_t instruction_length(const uint8_t *code, size_t bytes)
{
    size_t at = 0;
    bool is_16_bit = false, is_64_bit = false;
    unsigned reg = 0;
    while (at < bytes && at < 4 &&
           (code[at] == 0x66 || code[at] == 0xf2 || code[at] == 0xf3 || code[at] == 0x2e ||
            code[at] == 0x64))
        is_16_bit |= code[at++] == 0x66;
    if (at < bytes && (code[at] & 0xf0) == 0x40)
        is_64_bit = code[at++] & 8;
    if (at + 2 > bytes && (at >= bytes || code[at] == 0x0f))
        return 0;
    bool is_long = code[at] == 0x0f;
    at += is_long;
    int form = is_long ? FIND(two_bytes, code[at]) : form_of_one_byte(code[at]);
    if (form < 0 || (form & DISTANCE && is_16_bit)) /* processors differ in the latter */
        return 0;
    at++;
    if (form & MODRM) {
        size_t length = at < bytes ? address_length(code + at, bytes - at, &reg) : 0;
        if (!length)
            return 0;
        at += length;
    }
    at += constant_length((unsigned)form, is_16_bit && !is_64_bit, is_64_bit, reg);
    return at <= bytes && at <= 15 ? at : 0;
}

#else

/* arm64: all have the same. */
size_t instruction_length(const uint8_t *code, size_t bytes)
{
    (void)code;
    return bytes < 4 ? 0 : 4;
}

#endif
