/* An ELF library by hand. Three segments, each on pages of its own:
 *
 *   read            headers, hash, symbols, strings, relocations, versions, plan
 *   read, execute   the code for DT_INIT and DT_FINI
 *   read, write     dynamic section, and two slots for the functions of the runtime
 *
 * No re-export is needed: ELF looks up symbols in all loaded libraries, so a program that loads
 * this library also finds the original's symbols. In place of the original (own_name is its soname)
 * it must also define the original's symbol versions, or the loader complains.
 */
#include "library.h"

#include <elf.h>
#include <string.h>

#include "bytes_builder.h"
#include "start_code.h"

#define PAGE 0x10000u /* the largest of both architectures */

enum { SYMBOL_INSTALL = 1, SYMBOL_REMOVE, SYMBOL_PLAN, SYMBOLS };

struct elf_parts {
    struct bytes_builder file;
    const struct library_options *options;
    uint32_t names[SYMBOLS]; /* offsets of strings */
    uint32_t own_name, original, runtime, runtime_path;
    uint32_t strings, string_bytes, symbols, hash, relocations, versions, version_count;
    uint32_t symbol_versions, plan, read_end;
    uint32_t code, code_end, dynamic, slots, end;
};

static uint32_t add_name(struct elf_parts *parts, const char *name)
{
    return name ? build_string(&parts->file, name) - parts->strings : 0;
}

static void add_strings(struct elf_parts *parts)
{
    const struct library_options *options = parts->options;
    parts->strings = build_room(&parts->file, 1);
    parts->names[SYMBOL_INSTALL] = add_name(parts, "argus_hook_install");
    parts->names[SYMBOL_REMOVE] = add_name(parts, "argus_hook_remove");
    parts->names[SYMBOL_PLAN] = add_name(parts, "argus_hook_plan");
    parts->own_name = add_name(parts, options->own_name);
    parts->original = add_name(parts, options->original);
    parts->runtime = add_name(parts, options->runtime);
    parts->runtime_path = add_name(parts, options->runtime_path);
}

/* The SVR4 hash of the gABI. */
static uint32_t name_hash(const char *name)
{
    uint32_t hash = 0;
    for (; *name; name++) {
        hash = (hash << 4) + (uint8_t)*name;
        hash ^= hash >> 24 & 0xf0;
        hash &= 0x0fffffff;
    }
    return hash;
}

/* One definition for each version of the original, without symbols. */
static void add_versions(struct elf_parts *parts)
{
    const char *const *versions = parts->options->versions;
    uint32_t names[256];
    uint32_t count = 0;
    while (versions && versions[count] && count < 256) {
        names[count] = add_name(parts, versions[count]);
        count++;
    }
    parts->string_bytes = build_align(&parts->file, 8) - parts->strings;
    parts->version_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct {
            Elf64_Verdef definition;
            Elf64_Verdaux name;
        } entry = {
            .definition = {.vd_version = VER_DEF_CURRENT,
                           .vd_flags = i == 0 ? VER_FLG_BASE : 0,
                           .vd_ndx = (uint16_t)(i + 1),
                           .vd_cnt = 1,
                           .vd_hash = name_hash(versions[i]),
                           .vd_aux = sizeof(Elf64_Verdef),
                           .vd_next = i + 1 < count ? sizeof(entry) : 0},
            .name = {.vda_name = names[i]},
        };
        uint32_t at = build_add(&parts->file, &entry, sizeof(entry));
        if (i == 0)
            parts->versions = at;
    }
    build_align(&parts->file, 8);
    parts->symbol_versions = build_room(&parts->file, 8); /* local, global … */
    for (uint32_t i = 1; i < SYMBOLS; i++)
        build_put(&parts->file, parts->symbol_versions + 2 * i, &(uint16_t){1}, 2);
}

static void add_tables(struct elf_parts *parts)
{
    /* One bucket, with all symbols in its chain. */
    const uint32_t hash[] = {1, SYMBOLS, 1, 0, 2, 3, 0};
    parts->symbols = build_room(&parts->file, SYMBOLS * sizeof(Elf64_Sym));
    parts->hash = build_add(&parts->file, hash, sizeof(hash));
    build_align(&parts->file, 8);
    parts->relocations = build_room(&parts->file, 2 * sizeof(Elf64_Rela));
    build_align(&parts->file, 16);
    parts->plan = build_add(&parts->file, parts->options->plan, parts->options->plan_bytes);
    parts->read_end = (uint32_t)parts->file.bytes.length;
}

static void put_symbols(struct elf_parts *parts)
{
    Elf64_Sym symbols[SYMBOLS] = {{0}};
    for (uint32_t i = 1; i < SYMBOLS; i++) {
        symbols[i].st_name = parts->names[i];
        symbols[i].st_info = ELF64_ST_INFO(STB_GLOBAL, i == SYMBOL_PLAN ? STT_OBJECT : STT_NOTYPE);
    }
    symbols[SYMBOL_PLAN].st_shndx =
        SHN_ABS - 1; /* any index other than undefined: there are no sections */
    symbols[SYMBOL_PLAN].st_value = parts->plan;
    symbols[SYMBOL_PLAN].st_size = parts->options->plan_bytes;
    build_put(&parts->file, parts->symbols, symbols, sizeof(symbols));
}

static void put_relocations(struct elf_parts *parts)
{
    uint64_t type =
        parts->options->arch == HOOK_ARCH_ARM64 ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT;
    Elf64_Rela relocations[2];
    for (uint32_t i = 0; i < 2; i++)
        relocations[i] = (Elf64_Rela){.r_offset = parts->slots + 8 * i,
                                      .r_info = ELF64_R_INFO((uint64_t)SYMBOL_INSTALL + i, type)};
    build_put(&parts->file, parts->relocations, relocations, sizeof(relocations));
}

static void add_code(struct elf_parts *parts)
{
    parts->code = build_align(&parts->file, PAGE);
    build_room(&parts->file, 2 * START_CODE_BYTES);
    parts->code_end = (uint32_t)parts->file.bytes.length;
}

static void put_code(struct elf_parts *parts)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t code[START_CODE_BYTES];
        uint32_t at = parts->code + i * START_CODE_BYTES;
        start_code_put(parts->options->arch, at, parts->plan, parts->slots + 8 * i, code);
        build_put(&parts->file, at, code, sizeof(code));
    }
}

static void add_entry(struct elf_parts *parts, int64_t tag, uint64_t value)
{
    Elf64_Dyn entry = {.d_tag = tag, .d_un.d_val = value};
    build_add(&parts->file, &entry, sizeof(entry));
}

static void add_dynamic(struct elf_parts *parts)
{
    parts->dynamic = build_align(&parts->file, PAGE);
    add_entry(parts, DT_SONAME, parts->own_name);
    if (parts->original)
        add_entry(parts, DT_NEEDED, parts->original);
    add_entry(parts, DT_NEEDED, parts->runtime);
    if (parts->runtime_path)
        add_entry(parts, DT_RUNPATH, parts->runtime_path);
    add_entry(parts, DT_HASH, parts->hash);
    add_entry(parts, DT_STRTAB, parts->strings);
    add_entry(parts, DT_STRSZ, parts->string_bytes);
    add_entry(parts, DT_SYMTAB, parts->symbols);
    add_entry(parts, DT_SYMENT, sizeof(Elf64_Sym));
    add_entry(parts, DT_RELA, parts->relocations);
    add_entry(parts, DT_RELASZ, 2 * sizeof(Elf64_Rela));
    add_entry(parts, DT_RELAENT, sizeof(Elf64_Rela));
    add_entry(parts, DT_INIT, parts->code);
    add_entry(parts, DT_FINI, parts->code + START_CODE_BYTES);
    if (parts->version_count) {
        add_entry(parts, DT_VERSYM, parts->symbol_versions);
        add_entry(parts, DT_VERDEF, parts->versions);
        add_entry(parts, DT_VERDEFNUM, parts->version_count);
    }
    add_entry(parts, DT_NULL, 0);
    parts->slots = build_room(&parts->file, 16);
    parts->end = (uint32_t)parts->file.bytes.length;
}

static Elf64_Phdr segment(uint32_t flags, uint32_t first, uint32_t end)
{
    return (Elf64_Phdr){.p_type = PT_LOAD,
                        .p_flags = flags,
                        .p_offset = first,
                        .p_vaddr = first,
                        .p_paddr = first,
                        .p_filesz = end - first,
                        .p_memsz = end - first,
                        .p_align = PAGE};
}

enum { SEGMENTS = 5 };

static void put_headers(struct elf_parts *parts)
{
    Elf64_Ehdr header = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = parts->options->arch == HOOK_ARCH_ARM64 ? EM_AARCH64 : EM_X86_64,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof(header),
        .e_ehsize = sizeof(header),
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = SEGMENTS,
        .e_shentsize = sizeof(Elf64_Shdr),
    };
    Elf64_Phdr segments[SEGMENTS] = {
        segment(PF_R, 0, parts->read_end),
        segment(PF_R | PF_X, parts->code, parts->code_end),
        segment(PF_R | PF_W, parts->dynamic, parts->end),
        segment(PF_R | PF_W, parts->dynamic, parts->slots),
        {.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16},
    };
    segments[3].p_type = PT_DYNAMIC;
    segments[3].p_align = 8;
    build_put(&parts->file, 0, &header, sizeof(header));
    build_put(&parts->file, sizeof(header), segments, sizeof(segments));
}

struct argus_error *elf_library_make(const struct library_options *options,
                                     struct library_bytes *ret)
{
    struct elf_parts parts = {.options = options};
    build_room(&parts.file, sizeof(Elf64_Ehdr) + SEGMENTS * sizeof(Elf64_Phdr));
    add_strings(&parts);
    add_versions(&parts);
    add_tables(&parts);
    add_code(&parts);
    add_dynamic(&parts);
    put_symbols(&parts);
    put_relocations(&parts);
    put_code(&parts);
    put_headers(&parts);
    if (parts.file.no_memory) {
        vec_deinit(&parts.file.bytes);
        return argus_error_memory();
    }
    memcpy(&ret->bytes, &parts.file.bytes, sizeof(ret->bytes));
    return NULL;
}
