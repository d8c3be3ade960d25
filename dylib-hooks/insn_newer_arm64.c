#include "insn_newer_arm64.h"

#include <stdio.h>
#include <string.h>

/* The first row that fits is taken. */
static const struct {
    uint32_t mask, value;
    enum insn_flow flow;
    const char *text;
} rows[] = {
    {0xfffffbff, 0xd65f0bff, INSN_RETURN, "ret, authenticated"},
    {0xfefff800, 0xd61f0800, INSN_JUMP_INDIRECT, "br, authenticated"},
    {0xfefff800, 0xd63f0800, INSN_CALL_INDIRECT, "blr, authenticated"},
    {0x3ffffc00, 0x38bfc000, INSN_NEXT, "ldapr"},
    {0x3f200c00, 0x38200000, INSN_NEXT, "atomic"},
    {0xbfa07c00, 0x08207c00, INSN_NEXT, "casp"},
    {0x3fa07c00, 0x08a07c00, INSN_NEXT, "cas"},
};

bool insn_newer_arm64_decode(const uint8_t *bytes, size_t count, uint64_t address, struct insn *ret)
{
    uint32_t word;
    if (count < sizeof(word))
        return false;
    memcpy(&word, bytes, sizeof(word));
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if ((word & rows[i].mask) != rows[i].value)
            continue;
        *ret = (struct insn){
            .address = address, .length = sizeof(word), .flow = (uint8_t)rows[i].flow};
        memcpy(ret->bytes, bytes, sizeof(word));
        snprintf(ret->text, sizeof(ret->text), "%s", rows[i].text);
        return true;
    }
    return false;
}
