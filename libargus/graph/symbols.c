/* From an address in a process to a function: image by time, file by build ID, symbol by file
 * address. Each ELF file is opened once, and each name demangled once. */
#include "argus/symbols.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lower_bound.h"
#include "event/binary/elf_fetched.h"
#include "event/binary/elf_files.h"
#include "event/binary/elf_inlines.h"
#include "event/binary/elf_names.h"
#include "event/images.h"
#include "graph/known_code.h"
#include "graph/symbols_code.h"

struct argus_symbols {
    const struct argus_trace *trace; /* borrowed */
    struct images images;
    struct elf_files files;
    struct elf_fetched fetched;
    struct readable_names readable;
    struct idmap noted; /* frames that are shown to the user */
    struct argus_shown_frames shown;
};

struct argus_error *argus_symbols_create(const struct argus_graph *graph,
                                         struct argus_symbols **ret)
{
    struct argus_symbols *symbols = calloc(1, sizeof(*symbols));
    if (!symbols)
        return argus_error_memory();
    symbols->trace = argus_graph_trace(graph);
    symbols->readable.names = strtab_create();
    elf_files_init(&symbols->files, symbols->trace);
    const struct argus_process *processes;
    size_t count = argus_graph_processes(graph, &processes);
    struct argus_error *error = images_init(&symbols->images, symbols->trace, processes, count);
    if (!error && !symbols->readable.names)
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
    elf_fetched_deinit(&symbols->fetched);
    elf_files_deinit(&symbols->files);
    readable_names_deinit(&symbols->readable);
    idmap_deinit(&symbols->noted);
    images_deinit(&symbols->images);
    free(symbols);
}

void argus_symbols_allow_fetch(struct argus_symbols *symbols, argus_progress progress,
                               void *context)
{
    debuginfod_destroy(symbols->fetched.servers);
    bool is_linux = argus_trace_header(symbols->trace)->os == ARGUS_OS_LINUX;
    symbols->fetched.servers = is_linux ? debuginfod_create(progress, context) : NULL;
}

void argus_symbols_fetched(const struct argus_symbols *symbols, struct argus_fetched *ret)
{
    *ret = (struct argus_fetched){.end = ARGUS_FETCH_OPEN};
    if (symbols->fetched.servers)
        *ret = *debuginfod_totals(symbols->fetched.servers);
}

static struct argus_symbol find_kernel(const struct argus_symbols *symbols, uint64_t address)
{
    const struct argus_kernel_symbol *rows;
    size_t behind, count = argus_trace_kernel_symbols(symbols->trace, &rows);
    LOWER_BOUND(behind, count, rows[behind].address <= address);
    if (!behind)
        return (struct argus_symbol){.image = "[kernel]", .offset = address};
    const struct argus_kernel_symbol *row = &rows[behind - 1];
    return (struct argus_symbol){
        .function = row->name,
        .image = row->module[0] ? row->module : "[kernel]",
        .offset = address - row->address,
    };
}

/* Fills in what is not known yet from what `elf` says about `address`. */
static void find_in_file(struct argus_symbols *symbols, struct elf_file *elf, uint64_t address,
                         uint64_t past_call, struct argus_symbol *ret)
{
    uint64_t offset;
    const char *name = ret->function ? NULL : elf_file_function(elf, address, &offset);
    if (name) {
        ret->function = readable_name(&symbols->readable, name);
        ret->offset = offset + past_call;
    }
    uint32_t line;
    const char *file = ret->file ? NULL : elf_file_line(elf, address, &line);
    if (file) {
        ret->file = readable_path(&symbols->readable, file);
        ret->line = line;
    }
}

/* NULL for 0, which is handled like any address that no function covers. */
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

/* An address as a place in a file. */
struct place {
    uint32_t process, entry; /* entry: index of the image; UINT32_MAX: not in any */
    uint64_t time_ns, address, offset;
    const struct argus_image_entry *image; /* NULL: none */
};

static struct place place_of(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, uint64_t address)
{
    struct place place = {.process = process, .time_ns = time_ns, .address = address};
    place.entry = images_find(&symbols->images, process, time_ns, address);
    if (place.entry == UINT32_MAX)
        return place;
    place.image = &symbols->images.entries[place.entry];
    place.offset = address - place.image->start + place.image->file_offset;
    return place;
}

/* Looks up the names that the trace carries for `place`: by its file, else as code that the process
 * generated. False: none. */
static bool name_of(const struct argus_symbols *symbols, const struct place *place,
                    struct argus_name_entry *ret)
{
    if (argus_trace_name_count(symbols->trace) == 0)
        return false;
    if (place->image && argus_trace_name_in_file(symbols->trace, place->image, place->offset, ret))
        return true;
    return place->process < symbols->images.process_count &&
           argus_trace_name_in_process(symbols->trace,
                                       symbols->images.processes[place->process].pid,
                                       place->address, place->time_ns, ret);
}

/* True if the trace names a function. */
static bool find_in_trace(const struct argus_symbols *symbols, const struct place *place,
                          uint64_t past_call, struct argus_symbol *ret)
{
    struct argus_name_entry name;
    if (!name_of(symbols, place, &name) || !name.function[0])
        return false;
    ret->function = name.function;
    ret->offset = name.distance + past_call;
    ret->file = name.source[0] ? name.source : NULL;
    ret->line = name.line;
    return true;
}

/* Why a name is missing. What the recording side reported takes precedence: here, the file may only
 * be missing because this is another machine. */
static enum argus_lack lack_of(const struct argus_symbols *symbols, const struct place *place,
                               const struct elf_file *elf)
{
    struct argus_name_entry name;
    if (elf)
        return ARGUS_LACK_SYMBOL;
    if (name_of(symbols, place, &name) && name.lack)
        return (enum argus_lack)name.lack;
    /* macOS names libraries of the shared cache by their UUID alone: such a one is a file, too */
    bool is_named = place->image && (place->image->path[0] == '/' || place->image->path[0] == '[' ||
                                     place->image->build_id_bytes);
    if (!is_named || place->image->path[1] == '/')
        return ARGUS_LACK_JIT;
    return elf_files_lack(&symbols->files, place->entry);
}

struct argus_symbol argus_symbols_find(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return)
{
    /* A return address may be the first of the next function; the call is before it. */
    uint64_t past_call = is_return && address ? 1 : 0;
    if (address < ARGUS_FRAME_ENDS)
        return (struct argus_symbol){.function = end_text((enum argus_frame_end)address)};
    if (is_kernel_address(address))
        return find_kernel(symbols, address);
    struct place place = place_of(symbols, process, time_ns, address - past_call);
    struct argus_symbol symbol = {.offset = address};
    if (place.image)
        symbol =
            (struct argus_symbol){.image = place.image->path, .offset = place.offset + past_call};
    if (find_in_trace(symbols, &place, past_call, &symbol) && symbol.file)
        return symbol;
    bool stale;
    struct elf_file *elf = place.image ? elf_files_get(&symbols->files, place.entry, &stale) : NULL;
    symbol.stale = place.image && stale && !symbol.function;
    uint64_t file_address;
    if (elf && elf_file_address(elf, place.offset, &file_address))
        find_in_file(symbols, elf, file_address, past_call, &symbol);
    symbol.lack = (uint8_t)(symbol.function ? ARGUS_LACK_NONE : lack_of(symbols, &place, elf));
    return symbol;
}

/* Asks no server if the file already has all that its debug file could add. */
static void find_on_servers(struct argus_symbols *symbols, const struct place *place,
                            uint64_t past_call, struct argus_symbol *ret)
{
    bool stale;
    struct elf_file *file = elf_files_get(&symbols->files, place->entry, &stale);
    struct elf_file *here = file;
    uint64_t address;
    if (!here)
        file =
            elf_fetched_get(&symbols->fetched, &symbols->files, place->entry, DEBUGINFOD_PROGRAM);
    if (!file || !elf_file_address(file, place->offset, &address))
        return;
    if (!here)
        find_in_file(symbols, file, address, past_call, ret);
    if ((ret->function && ret->file) || elf_file_has_lines(file))
        return;
    file = elf_fetched_get(&symbols->fetched, &symbols->files, place->entry, DEBUGINFOD_DEBUG);
    if (file)
        find_in_file(symbols, file, address, past_call, ret);
}

struct argus_symbol argus_symbols_show(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return)
{
    struct argus_symbol symbol = argus_symbols_find(symbols, process, time_ns, address, is_return);
    bool is_whole = symbol.function && symbol.file;
    if (!symbols->fetched.servers || is_whole || address < ARGUS_FRAME_ENDS ||
        is_kernel_address(address))
        return symbol;
    uint64_t past_call = is_return ? 1 : 0;
    struct place place = place_of(symbols, process, time_ns, address - past_call);
    if (!place.image || !place.image->build_id_bytes)
        return symbol;
    find_on_servers(symbols, &place, past_call, &symbol);
    if (symbol.function) {
        symbol.stale = false;
        symbol.lack = ARGUS_LACK_NONE;
    }
    return symbol;
}

/* --- inlined functions --- */

/* A function that was inlined; `call` is where. */
static void add_inlined(struct argus_functions *functions, const char *name, const char *source,
                        uint32_t line)
{
    struct argus_symbol *here = &functions->symbols[functions->count - 1], outer = *here;
    outer.file = source && source[0] ? source : NULL;
    outer.line = line;
    here->function = name;
    here->is_inlined = true;
    functions->symbols[functions->count++] = outer;
}

static void add_from_trace(const struct argus_symbols *symbols, const struct place *place,
                           struct argus_functions *functions)
{
    struct argus_name_entry name;
    while (functions->count < ARGUS_FUNCTIONS_AT_MOST &&
           argus_trace_inlined_in_file(symbols->trace, place->image, place->offset,
                                       functions->count, &name))
        add_inlined(functions, name.function, name.source, name.line);
}

static void add_from_file(struct argus_symbols *symbols, struct elf_file *file,
                          const struct place *place, struct argus_functions *functions)
{
    struct elf_inline inlines[ELF_INLINES_MAX];
    uint64_t address;
    if (!file || !elf_file_address(file, place->offset, &address))
        return;
    size_t count = elf_file_inlines(file, address, inlines);
    for (size_t i = 0; i < count; i++)
        add_inlined(functions, readable_name(&symbols->readable, inlines[i].function),
                    readable_path(&symbols->readable, inlines[i].source), inlines[i].line);
}

/* The file that told the source line, if that was not the trace. NULL: none. */
static struct elf_file *file_with_lines(struct argus_symbols *symbols, const struct place *place)
{
    bool stale;
    struct elf_file *file = elf_files_get(&symbols->files, place->entry, &stale);
    bool is_fetched = (!file || !elf_file_has_lines(file)) && symbols->fetched.servers &&
                      place->image->build_id_bytes;
    return is_fetched
               ? elf_fetched_get(&symbols->fetched, &symbols->files, place->entry, DEBUGINFOD_DEBUG)
               : file;
}

/* Adds the functions that were inlined at `address` to the symbol that covers it. */
static void add_all_inlined(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                            uint64_t address, bool is_return, struct argus_functions *ret)
{
    struct argus_name_entry name;
    ret->count = 1;
    if (!ret->symbols[0].function || !ret->symbols[0].file || address < ARGUS_FRAME_ENDS ||
        is_kernel_address(address))
        return;
    struct place place = place_of(symbols, process, time_ns, address - is_return);
    if (!place.image)
        return;
    if (name_of(symbols, &place, &name) && name.source[0])
        add_from_trace(symbols, &place, ret);
    else
        add_from_file(symbols, file_with_lines(symbols, &place), &place, ret);
}

/* Whether the trace has a name for `address`, but no source line: then the recorded file had no
 * debug information there. */
static bool is_named_without_line(const struct argus_symbols *symbols, uint32_t process,
                                  uint64_t time_ns, uint64_t address, struct argus_functions *ret)
{
    struct argus_name_entry name;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address))
        return false;
    struct place place = place_of(symbols, process, time_ns, address);
    if (!name_of(symbols, &place, &name) || !name.function[0] || name.source[0])
        return false;
    ret->count = 1;
    ret->symbols[0] = (struct argus_symbol){
        .function = name.function,
        .image = place.image ? place.image->path : NULL,
        .offset = name.distance,
    };
    return true;
}

void argus_symbols_find_all(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                            uint64_t address, bool is_return, struct argus_functions *ret)
{
    if (is_named_without_line(symbols, process, time_ns, address - is_return, ret))
        return;
    ret->symbols[0] = argus_symbols_find(symbols, process, time_ns, address, is_return);
    add_all_inlined(symbols, process, time_ns, address, is_return, ret);
}

void argus_symbols_show_all(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                            uint64_t address, bool is_return, struct argus_functions *ret)
{
    ret->symbols[0] = argus_symbols_show(symbols, process, time_ns, address, is_return);
    add_all_inlined(symbols, process, time_ns, address, is_return, ret);
}

uint32_t argus_symbols_known(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, struct argus_stack stack)
{
    bool is_linux = argus_trace_header(symbols->trace)->os == ARGUS_OS_LINUX;
    return is_linux ? known_code(&symbols->images, process, time_ns, stack) : stack.count;
}

/* The source file of an interpreted or JIT-compiled function, shown instead of an image; NULL:
 * none. */
static const char *source_of(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, uint64_t address)
{
    struct argus_name_entry name;
    uint64_t pid =
        process < symbols->images.process_count ? symbols->images.processes[process].pid : 0;
    if (!argus_trace_name_in_process(symbols->trace, pid, address, time_ns, &name))
        return NULL;
    return name.source[0] ? name.source : NULL;
}

const char *argus_symbols_image(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                uint64_t address, bool is_return)
{
    if (address < ARGUS_FRAME_ENDS)
        return NULL;
    if (is_kernel_address(address))
        return "[kernel]";
    uint32_t entry = images_find(&symbols->images, process, time_ns, address - is_return);
    const char *path = entry == UINT32_MAX ? NULL : symbols->images.entries[entry].path;
    if (path && path[0] == '/' && path[1] != '/')
        return path;
    const char *source = source_of(symbols, process, time_ns, address - is_return);
    return source ? source : path;
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
    uint64_t file_address, offset;
    struct place place = place_of(symbols, process, time_ns, address - is_return);
    struct argus_symbol symbol;
    if (find_in_trace(symbols, &place, is_return, &symbol))
        return symbol.function;
    bool stale;
    struct elf_file *elf = place.image ? elf_files_get(&symbols->files, place.entry, &stale) : NULL;
    if (!elf || !elf_file_address(elf, place.offset, &file_address))
        return NULL;
    const char *name = elf_file_function(elf, file_address, &offset);
    return name ? readable_name(&symbols->readable, name) : NULL;
}

bool argus_symbols_start(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, uint64_t *ret)
{
    uint64_t file_address;
    struct argus_name_entry name;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address))
        return false;
    struct place place = place_of(symbols, process, time_ns, address - is_return);
    if (place.image && name_of(symbols, &place, &name) && name.has_start) {
        *ret = place.offset - name.distance;
        return true;
    }
    bool stale;
    struct elf_file *elf = place.image ? elf_files_get(&symbols->files, place.entry, &stale) : NULL;
    uint64_t start;
    if (!elf || !elf_file_address(elf, place.offset, &file_address) ||
        !elf_file_function_start(elf, file_address, &start))
        return false;
    *ret = place.offset - (file_address - start);
    return true;
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

uint32_t symbols_image_at(const struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                          uint64_t address)
{
    return images_find(&symbols->images, process, time_ns, address);
}

struct elf_file *symbols_code(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                              uint64_t address, uint64_t *ret_address)
{
    bool stale;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address))
        return NULL;
    struct place place = place_of(symbols, process, time_ns, address);
    struct elf_file *elf = place.image ? elf_files_get(&symbols->files, place.entry, &stale) : NULL;
    return elf && elf_file_address(elf, place.offset, ret_address) ? elf : NULL;
}

const char *argus_symbols_called(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                 uint64_t address)
{
    struct argus_name_entry name;
    bool stale;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address))
        return NULL;
    uint32_t entry = images_find(&symbols->images, process, time_ns, address - 1);
    if (entry == UINT32_MAX)
        return NULL;
    const struct argus_image_entry *image = &symbols->images.entries[entry];
    uint64_t offset = address - image->start + image->file_offset;
    if (argus_trace_name_in_file(symbols->trace, image, offset - 1, &name) && name.called[0])
        return name.called;
    struct elf_file *elf = elf_files_get(&symbols->files, entry, &stale);
    const char *symbol = elf ? elf_called(elf, offset) : NULL;
    return symbol ? readable_name(&symbols->readable, symbol) : NULL;
}

const char *argus_symbol_text(const struct argus_symbol *symbol, uint64_t address, char *buffer,
                              size_t buffer_bytes)
{
    const char *slash = symbol->image ? strrchr(symbol->image, '/') : NULL;
    /* snprintf() takes its time for what has no room, and a name may have 64 KB */
    int room = buffer_bytes < INT_MAX ? (int)buffer_bytes : INT_MAX;
    if (symbol->function)
        snprintf(buffer, buffer_bytes, "%.*s", room, symbol->function);
    else if (symbol->image)
        snprintf(buffer, buffer_bytes, "%.*s+0x%" PRIx64, room, slash ? slash + 1 : symbol->image,
                 symbol->offset);
    else
        snprintf(buffer, buffer_bytes, "0x%" PRIx64, address);
    return buffer;
}

const char *argus_symbols_function_text(struct argus_symbols *symbols, uint32_t process,
                                        uint64_t time_ns, uint64_t address, bool is_return,
                                        const struct argus_symbol *symbol, char *buffer,
                                        size_t buffer_bytes)
{
    struct argus_symbol whole = *symbol;
    if (!symbol->function && symbol->image)
        argus_symbols_start(symbols, process, time_ns, address, is_return, &whole.offset);
    return argus_symbol_text(&whole, address, buffer, buffer_bytes);
}

void argus_symbols_note(struct argus_symbols *symbols, uint32_t process, uint64_t address,
                        bool is_return, const struct argus_symbol *symbol)
{
    uint64_t key = address << 1 ^ (uint64_t)process << 49 ^ is_return;
    if (address < ARGUS_FRAME_ENDS || is_kernel_address(address) ||
        idmap_get(&symbols->noted, key) != IDMAP_NONE || !idmap_put(&symbols->noted, key, 0))
        return;
    symbols->shown.frames++;
    if (!symbol->function && symbol->lack < ARGUS_LACKS)
        symbols->shown.unnamed[symbol->lack]++;
}

void argus_symbols_shown(const struct argus_symbols *symbols, struct argus_shown_frames *ret)
{
    *ret = symbols->shown;
}

void argus_symbols_forget_frames(struct argus_symbols *symbols)
{
    idmap_clear(&symbols->noted);
    symbols->shown = (struct argus_shown_frames){0};
}

void argus_symbols_forget_shown(struct argus_symbols *symbols)
{
    elf_fetched_renew(&symbols->fetched);
    argus_symbols_forget_frames(symbols);
}

const char *argus_lack_text(enum argus_lack lack)
{
    static const char *const texts[ARGUS_LACKS] = {
        [ARGUS_LACK_NONE] = "it is not known why",
        [ARGUS_LACK_GONE] = "the file is gone",
        [ARGUS_LACK_STALE] = "the file has changed",
        [ARGUS_LACK_DENIED] = "this user may not read the file",
        [ARGUS_LACK_SYMBOL] = "the file is stripped",
        [ARGUS_LACK_JIT] =
            ("it is in no file: code made at run time, without a list of its functions, which a "
             "runtime writes on request (argus(1), SYMBOLS)"),
    };
    return texts[lack];
}
