/* A Mach-O library by hand, as elf_library.c. Three segments:
 *
 *   __TEXT      header, load commands, code that passes the plan to the runtime, the plan
 *   __DATA      two slots for functions of the runtime, and the pointers to the code in
 * __mod_init_func, __mod_term_func
 *   __LINKEDIT  what dyld does with the slots (bind) and the pointers (rebase), symbols, strings
 *
 * In place of the original, own_name is its install name, and LC_REEXPORT_DYLIB makes all its
 * symbols ours, which is what the two-level namespace of macOS needs: programs ask this library for
 * them by name.
 *
 * The paper calls init through dispatch_once. Here dyld calls it each time it loads the library,
 * and the runtime keeps track of installed plans under a lock. So a plan is also installed only
 * once, and can be removed. Apple silicon loads only signed code: the library ends with an ad-hoc
 * signature (macho_signature.c), and room after the load commands lets codesign(1) write another.
 */
#include "macho_writer.h"
#include "start_code.h"

#define PAGE         0x4000u
#define HEADER_ROOM  0x1000u /* load commands, and some for codesign */
#define SECTION_INIT 0x9u    /* S_MOD_INIT_FUNC_POINTERS */
#define SECTION_TERM 0xau
#define SECTION_CODE 0x80000400u /* PURE_INSTRUCTIONS, SOME_INSTRUCTIONS */

#define LIBSYSTEM "/usr/lib/libSystem.B.dylib"

static void put_command(struct macho_parts *parts, const void *command, size_t bytes)
{
    if (parts->command + bytes > HEADER_ROOM - 64) {
        parts->too_long = true;
        return;
    }
    build_put(&parts->file, parts->command, command, bytes);
    parts->command += (uint32_t)bytes;
    parts->command_count++;
}

/* A command that ends with a text. */
static void put_named(struct macho_parts *parts, uint32_t kind, const char *name)
{
    uint8_t bytes[HEADER_ROOM] = {0};
    bool is_dylib = kind != (uint32_t)MACHO_RPATH;
    uint32_t head = is_dylib ? sizeof(struct macho_dylib) : 12;
    size_t length = strlen(name) + 1;
    uint32_t whole = (uint32_t)((head + length + 7) & ~(size_t)7);
    struct macho_dylib command = {.command = kind,
                                  .bytes = whole,
                                  .name = head,
                                  .timestamp = 2,
                                  .version = 0x10000,
                                  .compatible = 0x10000};
    if (whole > sizeof(bytes)) {
        parts->too_long = true;
        return;
    }
    memcpy(bytes, &command, head);
    memcpy(bytes + head, name, length);
    put_command(parts, bytes, whole);
}

/* --- segments --- */

static void add_text(struct macho_parts *parts)
{
    build_room(&parts->file, HEADER_ROOM);
    parts->code = build_room(&parts->file, 2 * START_CODE_BYTES);
    build_align(&parts->file, 16);
    parts->plan = build_add(&parts->file, parts->options->plan, parts->options->plan_bytes);
    parts->text_end = build_align(&parts->file, PAGE);
}

static void add_data(struct macho_parts *parts)
{
    uint64_t init = parts->code, term = parts->code + START_CODE_BYTES;
    parts->data = build_room(&parts->file, 16);
    parts->init = build_add(&parts->file, &init, sizeof(init));
    parts->term = build_add(&parts->file, &term, sizeof(term));
    parts->data_end = build_align(&parts->file, PAGE);
}

static void put_code(struct macho_parts *parts)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint8_t code[START_CODE_BYTES];
        uint32_t at = parts->code + i * START_CODE_BYTES;
        start_code_put(parts->options->arch, at, parts->plan, parts->data + 8 * i, code);
        build_put(&parts->file, at, code, sizeof(code));
    }
}

/* --- load commands --- */

static struct macho_section section(const char *name, const char *segment, uint32_t first,
                                    uint32_t bytes, uint32_t flags)
{
    struct macho_section made = {
        .address = first, .bytes = bytes, .offset = first, .alignment = 3, .flags = flags};
    memcpy(made.name, name, strnlen(name, sizeof(made.name)));
    memcpy(made.segment, segment, strnlen(segment, sizeof(made.segment)));
    return made;
}

static void put_segment(struct macho_parts *parts, const char *name, uint32_t first, uint32_t end,
                        uint32_t protection, const struct macho_section *sections, uint32_t count)
{
    uint8_t bytes[sizeof(struct macho_segment) + 3 * sizeof(struct macho_section)];
    struct macho_segment segment = {
        .command = MACHO_SEGMENT,
        .bytes = (uint32_t)(sizeof(segment) + count * sizeof(*sections)),
        .address = first,
        .memory_bytes = (end - first + PAGE - 1) & ~(uint64_t)(PAGE - 1),
        .offset = first,
        .file_bytes = end - first,
        .highest_protection = protection,
        .protection = protection,
        .section_count = count,
    };
    memcpy(segment.name, name, strnlen(name, sizeof(segment.name)));
    memcpy(bytes, &segment, sizeof(segment));
    if (count)
        memcpy(bytes + sizeof(segment), sections, count * sizeof(*sections));
    put_command(parts, bytes, segment.bytes);
}

static void put_segments(struct macho_parts *parts)
{
    const struct macho_section text[] = {
        section("__text", "__TEXT", parts->code, 2 * START_CODE_BYTES, SECTION_CODE),
        section("__const", "__TEXT", parts->plan, (uint32_t)parts->options->plan_bytes, 0),
    };
    const struct macho_section data[] = {
        section("__argus_slots", "__DATA", parts->data, 16, 0),
        section("__mod_init_func", "__DATA", parts->init, 8, SECTION_INIT),
        section("__mod_term_func", "__DATA", parts->term, 8, SECTION_TERM),
    };
    put_segment(parts, "__TEXT", 0, parts->text_end, MACHO_READ | MACHO_EXEC, text, 2);
    put_segment(parts, "__DATA", parts->data, parts->data_end, MACHO_READ | MACHO_WRITE, data, 3);
    put_segment(parts, "__LINKEDIT", parts->linkedit, parts->end + parts->signature_bytes,
                MACHO_READ, NULL, 0);
}

/* Two builds of one plan have one UUID, as the linker's. */
static void put_uuid(struct macho_parts *parts, uint64_t low, uint64_t high)
{
    uint32_t command[6] = {MACHO_UUID, 24};
    memcpy(command + 2, &low, 8);
    memcpy(command + 4, &high, 8);
    put_command(parts, command, sizeof(command));
}

static void put_tables(struct macho_parts *parts)
{
    const uint32_t info[12] = {(uint32_t)MACHO_DYLD_INFO,
                               48,
                               parts->rebase,
                               parts->rebase_bytes,
                               parts->bind,
                               parts->bind_bytes,
                               0,
                               0,
                               0,
                               0,
                               parts->exports,
                               parts->export_bytes};
    const struct macho_symtab symtab = {MACHO_SYMTAB,   sizeof(symtab),     parts->symbols, 3,
                                        parts->strings, parts->string_bytes};
    const uint32_t dysymtab[20] = {MACHO_DYSYMTAB, 80, 0, 0, 0, 1, 1, 2};
    bool is_arm = parts->options->arch == HOOK_ARCH_ARM64;
    const uint32_t version[6] = {MACHO_BUILD_VERSION, 24, 1, is_arm ? 0xb0000 : 0xa0e00, 0xb0000};
    put_command(parts, info, sizeof(info));
    put_command(parts, &symtab, sizeof(symtab));
    put_command(parts, dysymtab, sizeof(dysymtab));
    put_command(parts, version, sizeof(version));
}

static void put_signature(struct macho_parts *parts)
{
    const struct macho_data command = {MACHO_CODE_SIGNATURE, sizeof(command), parts->end,
                                       parts->signature_bytes};
    put_command(parts, &command, sizeof(command));
}

/* The order of libraries is that of their ordinals. */
static void put_libraries(struct macho_parts *parts)
{
    const struct library_options *options = parts->options;
    put_named(parts, MACHO_LOAD_DYLIB, options->runtime);
    put_named(parts, MACHO_LOAD_DYLIB, LIBSYSTEM);
    if (options->original)
        put_named(parts, (uint32_t)MACHO_REEXPORT_DYLIB, options->original);
    if (options->runtime_path)
        put_named(parts, (uint32_t)MACHO_RPATH, options->runtime_path);
}

static void put_header(struct macho_parts *parts)
{
    bool is_arm = parts->options->arch == HOOK_ARCH_ARM64;
    struct macho_header header = {
        .magic = MACHO_MAGIC,
        .cpu = is_arm ? MACHO_CPU_ARM64 : MACHO_CPU_X86_64,
        .subtype = is_arm ? 0 : 3,
        .type = MACHO_DYLIB,
        .command_count = parts->command_count,
        .command_bytes = parts->command - (uint32_t)sizeof(header),
        .flags = MACHO_FLAGS,
    };
    build_put(&parts->file, 0, &header, sizeof(header));
}

struct argus_error *macho_library_make(const struct library_options *options,
                                       struct library_bytes *ret)
{
    struct macho_parts parts = {.options = options, .command = sizeof(struct macho_header)};
    const struct hook_plan *plan = (const void *)options->plan;
    add_text(&parts);
    add_data(&parts);
    macho_linkedit_add(&parts);
    macho_signature_add(&parts);
    put_segments(&parts);
    put_named(&parts, MACHO_ID_DYLIB, options->own_name);
    put_uuid(&parts, plan->text_hash, ~plan->text_hash ^ plan->bytes);
    put_tables(&parts);
    put_libraries(&parts);
    put_signature(&parts);
    put_code(&parts);
    put_header(&parts);
    macho_signature_write(&parts);
    if (parts.file.no_memory || parts.too_long) {
        vec_deinit(&parts.file.bytes);
        return parts.too_long
                   ? argus_error_create(ARGUS_ERROR_USAGE, "a name is too long for a Mach-O header")
                   : argus_error_memory();
    }
    memcpy(&ret->bytes, &parts.file.bytes, sizeof(ret->bytes));
    return NULL;
}
