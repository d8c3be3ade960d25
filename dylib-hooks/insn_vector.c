#include "insn_vector.h"

#include <stdio.h>
#include <string.h>

enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_HALVES_5 = 5, MAP_HALVES_6 = 6 };

/* Offset of the opcode after its prefix; 0: no such prefix. */
static size_t read_prefix(const uint8_t *bytes, size_t count, unsigned *ret_map)
{
    if (count < 6)
        return 0;
    *ret_map = bytes[0] == 0x62 ? bytes[1] & 7u : bytes[0] == 0xc4 ? bytes[1] & 31u : MAP_0F;
    switch (bytes[0]) {
    case 0x62:
        return bytes[1] & 8 || !(bytes[2] & 4) ? 0 : 4; /* bits that are always 0 and 1 */
    case 0xc4:
        return 3;
    case 0xc5:
        return 2;
    default:
        return 0;
    }
}

static bool is_known_map(unsigned map, bool is_evex)
{
    return (map >= MAP_0F && map <= MAP_0F3A) ||
           (is_evex && (map == MAP_HALVES_5 || map == MAP_HALVES_6));
}

static bool has_immediate(unsigned map, uint8_t opcode)
{
    if (map != MAP_0F)
        return map == MAP_0F3A;
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
           (opcode >= 0xc4 && opcode <= 0xc6);
}

/* Bytes of ModRM, SIB and displacement. `*ret_displacement`: where a displacement from rip begins,
 * counted from ModRM; 0: none. */
static size_t operand_bytes(const uint8_t *bytes, size_t *ret_displacement)
{
    unsigned mode = bytes[0] >> 6, base = bytes[0] & 7;
    size_t at = 1;
    *ret_displacement = 0;
    if (mode == 3)
        return at;
    if (base == 4) {
        base = bytes[1] & 7;
        at = 2;
    } else if (mode == 0 && base == 5) {
        *ret_displacement = at;
        return at + 4;
    }
    if (mode == 0)
        return base == 5 ? at + 4 : at;
    return mode == 1 ? at + 1 : at + 4;
}

bool insn_vector_decode(const uint8_t *bytes, size_t count, uint64_t address, struct insn *ret)
{
    unsigned map = 0;
    size_t displacement, opcode = read_prefix(bytes, count, &map);
    if (!opcode || !is_known_map(map, bytes[0] == 0x62) || opcode + 3 > count)
        return false;
    bool is_bare = bytes[0] != 0x62 && map == MAP_0F && bytes[opcode] == 0x77; /* vzeroupper */
    size_t operands = is_bare ? 0 : operand_bytes(bytes + opcode + 1, &displacement);
    size_t length = opcode + 1 + operands + has_immediate(map, bytes[opcode]);
    if (is_bare)
        displacement = 0;
    if (length > count || length > 15)
        return false;
    *ret = (struct insn){.address = address, .length = (uint8_t)length};
    memcpy(ret->bytes, bytes, length);
    snprintf(ret->text, sizeof(ret->text), "(vector instruction %02x %02x %02x ...)", bytes[0],
             bytes[1], bytes[2]);
    if (displacement) {
        int32_t distance;
        ret->names_data = true;
        ret->displacement_at = (uint8_t)(opcode + 1 + displacement);
        memcpy(&distance, bytes + ret->displacement_at, sizeof(distance));
        ret->target = address + length + (uint64_t)(int64_t)distance;
    }
    return true;
}
