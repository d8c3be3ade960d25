/* arm64 instructions that Capstone 4 does not know or whose operands Capstone 5 gets wrong, and
 * that today's compilers use: atomics (LSE: every `lock` of a library that was built with outline
 * atomics), LDAPR (C++'s acquire loads), and branches with pointer authentication.
 *
 * A row is a pattern of the 32-bit word; to add one, take mask and value from the Arm Architecture
 * Reference Manual, C4.1. The first row that matches is used.
 */
#include <stdio.h>

#include "steps/instruction_machine.h"

/* How the registers Rs (bits 16-20) and Rt (0-4) and the memory at Rn (5-9) are used. */
enum newer_form {
    FORM_SWAP,    /* reads Rs, writes Rt, memory read and written */
    FORM_COMPARE, /* reads Rs and Rt, writes Rs, memory read and written */
    FORM_PAIR,    /* the same with two registers each */
    FORM_LOAD,    /* writes Rt, memory read */
    FORM_RETURN,
    FORM_JUMP, /* to Rn */
    FORM_CALL,
};

static const struct newer {
    uint32_t mask, value;
    enum newer_form form;
    const char *name;
} newer[] = {
    {0x3ffffc00, 0x38bfc000, FORM_LOAD, "ldapr"},  {0x3f20fc00, 0x38200000, FORM_SWAP, "ldadd"},
    {0x3f20fc00, 0x38201000, FORM_SWAP, "ldclr"},  {0x3f20fc00, 0x38202000, FORM_SWAP, "ldeor"},
    {0x3f20fc00, 0x38203000, FORM_SWAP, "ldset"},  {0x3f20fc00, 0x38204000, FORM_SWAP, "ldsmax"},
    {0x3f20fc00, 0x38205000, FORM_SWAP, "ldsmin"}, {0x3f20fc00, 0x38206000, FORM_SWAP, "ldumax"},
    {0x3f20fc00, 0x38207000, FORM_SWAP, "ldumin"}, {0x3f20fc00, 0x38208000, FORM_SWAP, "swp"},
    {0xbfa07c00, 0x08207c00, FORM_PAIR, "casp"},   {0x3fa07c00, 0x08a07c00, FORM_COMPARE, "cas"},
    {0xfffffbff, 0xd65f0bff, FORM_RETURN, "reta"}, {0xfefff800, 0xd61f0800, FORM_JUMP, "bra"},
    {0xfefff800, 0xd63f0800, FORM_CALL, "blra"},
};

static uint32_t memory_bytes(const struct newer *row, uint32_t word)
{
    if (row->form == FORM_PAIR)
        return word >> 30 & 1 ? 16 : 8;
    return 1u << (word >> 30);
}

static uint64_t register_bit(uint32_t number)
{
    return number == 31 ? 0 : REGISTER_BIT(number); /* here, 31 is the zero register */
}

static void take_memory(const struct newer *row, uint32_t word, struct instruction *ret)
{
    uint32_t rs = word >> 16 & 31, rt = word & 31;
    struct instruction_memory *memory = instruction_add_memory(ret);
    if (!memory)
        return;
    memory->base = word >> 5 & 31; /* here, 31 is the stack pointer */
    memory->size_bytes = memory_bytes(row, word);
    memory->reads = true;
    memory->writes = row->form != FORM_LOAD;
    bool pair = row->form == FORM_PAIR;
    uint64_t stored = register_bit(rs) | (pair ? register_bit(rs + 1) : 0);
    uint64_t other = register_bit(rt) | (pair ? register_bit(rt + 1) : 0);
    if (row->form == FORM_LOAD || row->form == FORM_SWAP) {
        ret->writes = other;
        ret->reads = row->form == FORM_SWAP ? stored : 0;
    } else {
        ret->writes = stored;
        ret->reads = stored | other;
    }
    ret->is_move = row->form == FORM_LOAD;
}

static void take_flow(const struct newer *row, uint32_t word, struct instruction *ret)
{
    ret->reads =
        row->form == FORM_RETURN ? REGISTER_BIT(REGISTER_X30) : register_bit(word >> 5 & 31);
    ret->writes = row->form == FORM_CALL ? REGISTER_BIT(REGISTER_X30) : 0;
    ret->flow = row->form == FORM_RETURN ? FLOW_RETURN
                : row->form == FORM_JUMP ? FLOW_JUMP_INDIRECT
                                         : FLOW_CALL_INDIRECT;
}

static void write_text(const struct newer *row, uint32_t word, char *text, size_t bytes)
{
    static const char *const suffixes[4] = {"b", "h", "", ""};
    unsigned rs = word >> 16 & 31, rn = word >> 5 & 31, rt = word & 31;
    char w = word >> 30 == 3 || (row->form == FORM_PAIR && word >> 30 & 1) ? 'x' : 'w';
    if (row->form >= FORM_RETURN)
        snprintf(text, bytes, row->form == FORM_RETURN ? "%s%c" : "%s%c x%u", row->name,
                 word >> 10 & 1 ? 'b' : 'a', rn);
    else if (row->form == FORM_LOAD)
        snprintf(text, bytes, "%s%s %c%u, [x%u]", row->name, suffixes[word >> 30], w, rt, rn);
    else
        snprintf(text, bytes, "%s%s %c%u, %c%u, [x%u]", row->name,
                 row->form == FORM_PAIR ? "" : suffixes[word >> 30], w, rs, w, rt, rn);
}

bool instruction_newer_arm64(uint32_t word, struct instruction *ret, char *text, size_t text_bytes)
{
    for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
        if ((word & newer[i].mask) != newer[i].value)
            continue;
        if (newer[i].form < FORM_RETURN)
            take_memory(&newer[i], word, ret);
        else
            take_flow(&newer[i], word, ret);
        if (text)
            write_text(&newer[i], word, text, text_bytes);
        return true;
    }
    return false;
}
