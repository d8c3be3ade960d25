/* From an address of a process to a function: image by time, file by build id, symbol by file address. Every ELF
 * file is opened once, every name demangled once. */
#include "argus/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/idmap.h"
#include "base/strtab.h"
#include "event/demangle.h"
#include "event/elf_files.h"
#include "event/images.h"
#include "graph/known_code.h"

struct argus_symbols {
    const struct argus_trace *trace; /* borrowed */
    struct images images;
    struct elf_files files;
    struct idmap readable_by_name; /* address of a symbol's name in its file → id in `names` */
    struct strtab *names;          /* owned */
};

struct argus_error *argus_symbols_create(const struct argus_graph *graph,
                                         struct argus_symbols **ret)
{
    struct argus_symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols)
        return argus_error_memory();
    symbols->trace = argus_graph_trace(graph);
    symbols->names = strtab_create();
    elf_files_init(&symbols->files, symbols->trace);
    const struct argus_process *processes;
    size_t count = argus_graph_processes(graph, &processes);
    struct argus_error *error = images_init(&symbols->images, symbols->trace, processes, count);
    if (!error && !symbols->names)
        error = argus_error_memory();
    if (error) {
        argus_symbols_destroy(symbols);
        return error;
    }
    *ret = symbols;
    return NULL;
}

void argus_symbols_destroy(struct argus_symbols *symbols)
{
    if (!symbols)
        return;
    elf_files_deinit(&symbols->files);
    idmap_deinit(&symbols->readable_by_name);
    strtab_destroy(symbols->names);
    images_deinit(&symbols->images);
    free(symbols);
}

/* `name` belongs to an open file and stays where it is, so its address names it. */
static const char *readable(struct argus_symbols *symbols, const char *name)
{
    uint32_t id = idmap_get(&symbols->readable_by_name, (uintptr_t)name);
    if (id != IDMAP_NONE)
        return strtab_get(symbols->names, id);
    char *demangled = demangle(name);
    const char *text = demangled ? demangled : name;
    /* A symbol with a version, memcpy@@GLIBC_2.14, is that symbol. */
    size_t length = demangled ? strlen(text) : strcspn(text, "@");
    struct argus_error *error = strtab_intern(symbols->names, text, length, &id);
    free(demangled);
    if (error) {
        argus_error_destroy(error);
        return name;
    }
    idmap_put(&symbols->readable_by_name, (uintptr_t)name, id);
    return strtab_get(symbols->names, id);
}

static struct argus_symbol find_kernel(const struct argus_symbols *symbols, uint64_t address)
{
    const struct argus_kernel_symbol *rows;
    size_t low = 0, high = argus_trace_kernel_symbols(symbols->trace, &rows);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return (struct argus_symbol){.image = "[kernel]", .offset = address};
    const struct argus_kernel_symbol *row = &rows[low - 1];
    return (struct argus_symbol){
        .function = row->name,
        .image = row->module[0] ? row->module : "[kernel]",
        .offset = address - row->address,
    };
}

static void find_in_file(struct argus_symbols *symbols, struct elf_file *elf, uint64_t call,
                         uint64_t past_call, struct argus_symbol *ret)
{
    uint64_t address, offset;
    if (!elf_file_address(elf, call, &address))
        return;
    const char *name = elf_file_function(elf, address, &offset);
    if (name) {
        ret->function = readable(symbols, name);
        ret->offset = offset + past_call;
    }
    ret->file = elf_file_line(elf, address, &ret->line);
}

/* NULL for 0, which is an address like any other that nothing covers. */
static const char *end_text(enum argus_frame_end end)
{
    static const char *const texts[ARGUS_FRAME_ENDS] = {
        [ARGUS_FRAME_CUT] = "[the stack goes on: no more of it was copied]",
        [ARGUS_FRAME_MISSING] = "[the stack goes on: its next page was not in memory]",
        [ARGUS_FRAME_UNKNOWN] = "[the stack goes on: no unwind information for the frame before]",
        [ARGUS_FRAME_DEEP] = "[the stack goes on: it is too deep]",
        [ARGUS_FRAME_ASTRAY] = "[the stack goes on: no frame pointers lead there]",
    };
    return texts[end];
}

/* Addresses of the upper half are the kernel's, on x86_64 and on aarch64. */
static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

struct argus_symbol argus_symbols_find(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return)
{
    /* The call is before the address at which it returns, which may be another function's first. */
    uint64_t past_call = is_return && address ? 1 : 0;
    if (address < ARGUS_FRAME_ENDS)
        return (struct argus_symbol){.function = end_text((enum argus_frame_end)address)};
    if (is_kernel_address(address))
        return find_kernel(symbols, address);
    uint32_t entry = images_find(&symbols->images, process, time_ns, address - past_call);
    if (entry == UINT32_MAX)
        return (struct argus_symbol){.offset = address};
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    uint64_t offset = address - past_call - image->start + image->file_offset;
    struct argus_symbol symbol = {.image = image->path, .offset = offset + past_call};
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &symbol.stale);
    if (elf)
        find_in_file(symbols, elf, offset, past_call, &symbol);
    return symbol;
}

uint32_t argus_symbols_known(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, struct argus_stack stack)
{
    return known_code(&symbols->images, process, time_ns, stack);
}

const char *argus_symbols_image(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                uint64_t address, bool is_return)
{
    if (address < ARGUS_FRAME_ENDS)
        return NULL;
    if (is_kernel_address(address))
        return "[kernel]";
    uint32_t entry = images_find(&symbols->images, process, time_ns, address - is_return);
    return entry == UINT32_MAX ? NULL : symbols->images.entries[entry].path;
}

const struct argus_image_entry *argus_symbols_mapping(const struct argus_symbols *symbols,
                                                      uint32_t process, uint64_t time_ns,
                                                      uint64_t address, uint64_t *ret_offset)
{
    uint32_t entry = address < ARGUS_FRAME_ENDS || is_kernel_address(address)
                         ? UINT32_MAX
                         : images_find(&symbols->images, process, time_ns, address);
    if (entry == UINT32_MAX)
        return NULL;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    *ret_offset = address - image->start + image->file_offset;
    return image;
}

const char *argus_symbols_function(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address, bool is_return)
{
    if (address < ARGUS_FRAME_ENDS)
        return NULL;
    if (is_kernel_address(address))
        return find_kernel(symbols, address).function;
    uint64_t call = address - is_return, file_address, offset;
    uint32_t entry = images_find(&symbols->images, process, time_ns, call);
    if (entry == UINT32_MAX)
        return NULL;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    bool stale;
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &stale);
    if (!elf || !elf_file_address(elf, call - image->start + image->file_offset, &file_address))
        return NULL;
    const char *name = elf_file_function(elf, file_address, &offset);
    return name ? readable(symbols, name) : NULL;
}

bool argus_symbols_start(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, uint64_t *ret)
{
    uint64_t call = address - is_return, file_address;
    uint32_t entry = address < ARGUS_FRAME_ENDS || is_kernel_address(address)
                         ? UINT32_MAX
                         : images_find(&symbols->images, process, time_ns, call);
    if (entry == UINT32_MAX)
        return false;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    bool stale;
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &stale);
    return elf && elf_file_address(elf, call - image->start + image->file_offset, &file_address) &&
           elf_file_function_start(elf, file_address, ret);
}

const char *argus_symbols_variable(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address)
{
    const uint64_t page = 4096, farthest = 64u << 20;
    uint64_t code = address & ~(page - 1), file_address;
    uint32_t entry = images_find(&symbols->images, process, time_ns, address);
    while (entry == UINT32_MAX && code >= page && address - code < farthest) {
        code -= page;
        entry = images_find(&symbols->images, process, time_ns, code);
    }
    if (entry == UINT32_MAX)
        return NULL;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    bool stale;
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &stale);
    if (!elf || !elf_file_address(elf, image->file_offset, &file_address))
        return NULL;
    return elf_file_variable(elf, file_address + (address - image->start));
}

/* Where a direct call goes whose `bytes` end at the return address, relative to that; false: it is none. */
static bool decode_call(unsigned machine, const uint8_t bytes[5], int64_t *ret)
{
    if (machine == ELF_MACHINE_X86_64) {
        int32_t relative;
        memcpy(&relative, bytes + 1, sizeof(relative));
        *ret = relative;
        return bytes[0] == 0xe8; /* CALL rel32 */
    }
    uint32_t word;
    memcpy(&word, bytes + 1, sizeof(word));
    *ret = ((int64_t)(int32_t)(word << 6) >> 4) - 4; /* 26 bits, in words, from the BL itself */
    return machine == ELF_MACHINE_AARCH64 && word >> 26 == 0x25u; /* BL */
}

const char *argus_symbols_called(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                 uint64_t address)
{
    uint8_t bytes[5];
    uint64_t file_address, offset;
    int64_t relative;
    bool stale;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address))
        return NULL;
    uint32_t entry = images_find(&symbols->images, process, time_ns, address - 1);
    if (entry == UINT32_MAX)
        return NULL;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &stale);
    uint64_t at = address - image->start + image->file_offset;
    if (!elf || at < sizeof(bytes) ||
        !elf_file_read(elf, at - sizeof(bytes), sizeof(bytes), bytes) ||
        !decode_call(elf_file_machine(elf), bytes, &relative) ||
        !elf_file_address(elf, at + (uint64_t)relative, &file_address))
        return NULL;
    const char *name = elf_file_function(elf, file_address, &offset);
    return name && offset == 0 ? readable(symbols, name) : NULL;
}

const char *argus_symbol_text(const struct argus_symbol *symbol, uint64_t address, char *buffer,
                              size_t buffer_bytes)
{
    const char *slash = symbol->image ? strrchr(symbol->image, '/') : NULL;
    if (symbol->function)
        snprintf(buffer, buffer_bytes, "%s", symbol->function);
    else if (symbol->image)
        snprintf(buffer, buffer_bytes, "%s+0x%" PRIx64, slash ? slash + 1 : symbol->image,
                 symbol->offset);
    else
        snprintf(buffer, buffer_bytes, "0x%" PRIx64, address);
    return buffer;
}
