/* The opcodes of <mach-o/loader.h> that dyld executes when it loads the library; and its
 * symbols. */
#include "macho_writer.h"

static void add_byte(struct macho_parts *parts, uint8_t byte)
{
    build_add(&parts->file, &byte, 1);
}

/* Two pointers in segment 1, from offset 16 on. */
static void add_rebase(struct macho_parts *parts)
{
    parts->rebase = (uint32_t)parts->file.bytes.length;
    add_byte(parts, 0x11); /* SET_TYPE_IMM: pointer */
    add_byte(parts, 0x21); /* SET_SEGMENT_AND_OFFSET_ULEB: 1 */
    add_byte(parts, 16);
    add_byte(parts, 0x52); /* DO_REBASE_IMM_TIMES: 2 */
    add_byte(parts, 0x00);
    parts->rebase_bytes = build_align(&parts->file, 8) - parts->rebase;
}

static void add_bind_one(struct macho_parts *parts, const char *name, uint8_t offset)
{
    add_byte(parts, 0x10 | ORDINAL_RUNTIME); /* SET_DYLIB_ORDINAL_IMM */
    add_byte(parts, 0x40);                   /* SET_SYMBOL_TRAILING_FLAGS_IMM */
    build_string(&parts->file, name);
    add_byte(parts, 0x51); /* SET_TYPE_IMM: pointer */
    add_byte(parts, 0x71); /* SET_SEGMENT_AND_OFFSET_ULEB: 1 */
    add_byte(parts, offset);
    add_byte(parts, 0x90); /* DO_BIND */
}

static void add_bind(struct macho_parts *parts)
{
    parts->bind = (uint32_t)parts->file.bytes.length;
    add_bind_one(parts, "_argus_hook_install", 0);
    add_bind_one(parts, "_argus_hook_remove", 8);
    add_byte(parts, 0x00);
    parts->bind_bytes = build_align(&parts->file, 8) - parts->bind;
}

/* A trie with one edge, to the plan; its address is a ULEB of three bytes. */
static void add_exports(struct macho_parts *parts)
{
    static const char name[] = "_argus_hook_plan";
    uint32_t plan = parts->plan;
    const uint8_t leaf[] = {
        4, 0, (uint8_t)(plan | 0x80), (uint8_t)(plan >> 7 | 0x80), (uint8_t)(plan >> 14 & 0x7f), 0};
    parts->exports = (uint32_t)parts->file.bytes.length;
    add_byte(parts, 0); /* the root exports nothing */
    add_byte(parts, 1); /* and has one edge */
    build_add(&parts->file, name, sizeof(name));
    add_byte(parts, (uint8_t)(2 + sizeof(name) + 1)); /* where it leads */
    build_add(&parts->file, leaf, sizeof(leaf));
    parts->export_bytes = build_align(&parts->file, 8) - parts->exports;
}

static void add_symbols(struct macho_parts *parts)
{
    static const char strings[] = "\0_argus_hook_plan\0_argus_hook_install\0_argus_hook_remove";
    const struct macho_nlist symbols[] = {
        {.name = 1, .type = MACHO_TYPE_SECTION | 1, .section = 2, .value = parts->plan},
        {.name = 18, .type = 1, .description = ORDINAL_RUNTIME << 8},
        {.name = 38, .type = 1, .description = ORDINAL_RUNTIME << 8},
    };
    parts->symbols = build_add(&parts->file, symbols, sizeof(symbols));
    parts->strings = build_add(&parts->file, strings, sizeof(strings));
    parts->string_bytes = build_align(&parts->file, 16) - parts->strings;
}

void macho_linkedit_add(struct macho_parts *parts)
{
    parts->linkedit = parts->data_end;
    add_rebase(parts);
    add_bind(parts);
    add_exports(parts);
    add_symbols(parts);
    parts->end = (uint32_t)parts->file.bytes.length;
}
