/* The plan: what the generator has found out about an image, for the runtime to execute when the
 * generated library is loaded. The generator decides everything that needs a disassembler, a symbol
 * table or heuristics; the runtime, inside another program's process, only checks, copies and adds.
 *
 * The plan is one block of bytes in the generated library: a struct hook_plan, followed by the data
 * to which its offsets (from the plan's first byte) point. It needs no relocation, so that the
 * writers of ELF and Mach-O files stay small. Addresses are those of the image's own headers; the
 * runtime adds where the image was loaded.
 */
#ifndef ARGUS_HOOKS_PLAN_H
#define ARGUS_HOOKS_PLAN_H

#include <stdint.h>

#define HOOK_PLAN_MAGIC   0x314b4f4f48475241u /* "ARGHOOK1" */
#define HOOK_WINDOW_MOST  24                  /* 4 bytes and the longest instruction, rounded up */
#define HOOK_STARTS_MOST  5
#define HOOK_VALUE_STEPS  3
#define HOOK_ID_MOST      32
#define HOOK_NUMBER_FIRST 0x10000u /* below are the probes of the recorder */
#define HOOK_KINDS_MOST   24

enum hook_arch { HOOK_ARCH_X86_64 = 1, HOOK_ARCH_ARM64 = 2 };

/* A value at an offset of a trampoline that is known only when the image is loaded. `address` is an
 * address in the image unless stated otherwise. */
enum hook_fixup_kind {
    HOOK_FIXUP_REL32 = 1,  /* x86-64: address - (place + extra), 32 bits */
    HOOK_FIXUP_ABS32_LOW,  /* the lower half of the address */
    HOOK_FIXUP_ABS32_HIGH, /* the upper half */
    HOOK_FIXUP_ABS64,      /* the address */
    HOOK_FIXUP_BRANCH26,   /* arm64: the offset of a B instruction */
    HOOK_FIXUP_HOOK64,     /* the address of the running hook; no `address` */
    HOOK_FIXUP_ENTRY64,    /* the address of the entry to the shell function; no `address` */
};

struct hook_fixup {
    uint64_t address;
    uint16_t place; /* offset in the trampoline */
    uint8_t kind;   /* enum hook_fixup_kind */
    uint8_t extra;  /* REL32: bytes from `place` to the end of the instruction */
    uint32_t padding;
};

/* A number at the victim instruction: a register, then `steps` times "the pointer at this offset of
 * it". */
struct hook_value {
    /* 0: none, the number is 0; else 1 + an index into argus_hook_context.registers. */
    uint8_t base;
    uint8_t steps;
    uint8_t bytes; /* 1, 2, 4 or 8: of what the last step reads, or of the register */
    uint8_t is_signed;
    int32_t offsets[HOOK_VALUE_STEPS];
};

enum hook_compare { HOOK_ALWAYS, HOOK_EQUAL, HOOK_LESS, HOOK_ATLEAST };

struct hook_kind {
    uint32_t number; /* the toolkit's */
    uint32_t kind;   /* enum argus_ui_event */
};

struct hook_entry {
    uint64_t victim; /* address of the first instruction that is replaced */
    uint64_t compare_with;
    uint32_t number; /* in the records */
    uint32_t shape;  /* enum argus_probe_shape */
    uint8_t window_bytes;
    uint8_t start_count;                 /* instructions in the window */
    uint8_t starts[HOOK_STARTS_MOST];    /* offset of each in the window … */
    uint8_t compare;                     /* enum hook_compare */
    uint8_t returns_inside;              /* 1: a call may return to the middle of the window */
    uint16_t moved_to[HOOK_STARTS_MOST]; /* … and in the trampoline */
    uint16_t kind_count;
    uint32_t code, code_bytes;          /* the trampoline */
    uint32_t fixups, fixup_count;       /* struct hook_fixup */
    uint32_t label, place;              /* texts */
    uint32_t shell, shell_library;      /* texts: the user's shell function; 0: the built-in one */
    uint8_t original[HOOK_WINDOW_MOST]; /* the bytes of the window */
    struct hook_value key, function, other, when, type;
    struct hook_kind kinds[HOOK_KINDS_MOST];
};

struct hook_plan {
    uint64_t magic;
    uint32_t bytes; /* of the whole plan */
    uint32_t arch;  /* enum hook_arch */
    /* Text: how the loader names the image; "/NAME" is a program of that file name, "" the program
     * itself, whatever its name. */
    uint32_t image;
    uint32_t entries, entry_count; /* struct hook_entry */
    uint32_t id_bytes; /* build id or UUID; 0: there is none, so `text_hash` is compared */
    uint8_t id[HOOK_ID_MOST];
    uint64_t text, text_bytes; /* the executable segment */
    uint64_t text_hash;        /* FNV-1a, 64 bits, of its bytes */
};

#endif
