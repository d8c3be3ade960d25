/* A function is identified by its name and its file. Without a symbol, it is identified by its file
 * and its start, known from unwind information (argus_symbols_start()); without that, by the
 * address in the file. Code made at run time without a name is one function, and one frame however
 * many of its addresses follow each other: an address tells neither which function it is in nor
 * which one it is in another run. If nothing is mapped, the address itself identifies it.
 *
 * Copies and parts that a compiler makes of a function (load.isra.0, load.cold) are that function:
 * they are one in the source, and another build has others.
 */
#include "context/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ends_in.h"
#include "base/plain_names.h"

struct argus_error *frames_init(struct frames *frames, const struct argus_graph *graph,
                                struct argus_symbols *symbols)
{
    frames->graph = graph;
    frames->symbols = symbols;
    frames->keys = strtab_create();
    frames->texts = strtab_create();
    bool good = layers_init(&frames->layers, graph);
    return good && frames->keys && frames->texts ? NULL : argus_error_memory();
}

void frames_deinit(struct frames *frames)
{
    strtab_destroy(frames->keys);
    strtab_destroy(frames->texts);
    vec_deinit(&frames->functions);
    vec_deinit(&frames->origins);
    layers_deinit(&frames->layers);
    idmap_deinit(&frames->by_syscall);
    idmap_deinit(&frames->by_address);
}

static uint32_t intern_part(struct frames *frames, struct strtab *table, const char *text,
                            size_t length)
{
    uint32_t id = 0;
    struct argus_error *error = strtab_intern(table, text, length, &id);
    frames->no_memory |= error != NULL;
    argus_error_destroy(error);
    return id;
}

static uint32_t intern(struct frames *frames, struct strtab *table, const char *text)
{
    return intern_part(frames, table, text, strlen(text));
}

/* --- functions --- */

static uint32_t add(struct frames *frames, const char *key, const char *name, const char *image,
                    enum argus_layer layer)
{
    uint32_t number = intern(frames, frames->keys, key) - 1;
    if (number != frames->functions.length)
        return frames->no_memory ? ARGUS_NONE : number;
    uint32_t name_id = intern(frames, frames->texts, name);
    uint32_t image_id = intern(frames, frames->texts, image);
    struct argus_context_function function = {.name = strtab_get(frames->texts, name_id),
                                              .image = strtab_get(frames->texts, image_id),
                                              .layer = (uint8_t)layer};
    frames->no_memory |= !vec_push(&frames->functions, function) ||
                         !vec_push(&frames->origins, (struct frame_origin){.address = 0});
    return frames->no_memory ? ARGUS_NONE : number;
}

uint32_t frames_named(struct frames *frames, const char *name, const char *image,
                      enum argus_layer layer)
{
    char key[8192]; /* of two texts that may have 4096 bytes */
    snprintf(key, sizeof(key), "%s\n%s", image, name);
    return add(frames, key, name, image, layer);
}

static uint32_t add_unnamed(struct frames *frames, struct frame_space space, uint64_t address,
                            bool is_return, const char *image)
{
    char name[512];
    struct argus_symbol symbol =
        argus_symbols_find(frames->symbols, space.process, space.time_ns, address, is_return);
    if (layers_is_anonymous(image) || symbol.lack == ARGUS_LACK_JIT) {
        frames->made_addresses++;
        return frames_named(frames, FRAMES_MADE, "[anon]", ARGUS_LAYER_UNKNOWN);
    }
    argus_symbols_function_text(frames->symbols, space.process, space.time_ns, address, is_return,
                                &symbol, name, sizeof(name));
    return frames_named(frames, name, image, layers_of(&frames->layers, space.process, image));
}

/* NULL: it has no name, and the answer will report that. Only for frames that are shown, the reason
 * is determined and servers are asked. */
static const char *function_at(struct frames *frames, struct frame_space space, uint64_t address,
                               bool is_return)
{
    struct argus_symbol symbol = {
        .function = argus_symbols_function(frames->symbols, space.process, space.time_ns, address,
                                           is_return),
    };
    if (frames->late_names)
        return symbol.function;
    if (!symbol.function)
        symbol =
            argus_symbols_show(frames->symbols, space.process, space.time_ns, address, is_return);
    argus_symbols_note(frames->symbols, space.process, address, is_return, &symbol);
    return symbol.function;
}

/* The length of a symbol without the suffixes of copies and parts. In Go, "main.cold" is the
 * function cold() of a package; only the source tells. */
static size_t plain_bytes(const struct frames *frames, const struct frame_origin *origin,
                          const char *name)
{
    size_t whole = strlen(name), plain = plain_function_bytes(name);
    if (plain == whole)
        return whole;
    struct argus_symbol symbol =
        argus_symbols_find(frames->symbols, origin->space.process, origin->space.time_ns,
                           origin->address, origin->is_return);
    return symbol.file && ends_in(symbol.file, ".go") ? whole : plain;
}

/* The function in a file whose symbol is `name`. */
static uint32_t of_symbol(struct frames *frames, const struct frame_origin *origin,
                          const char *name, const char *image)
{
    char whole[4096];
    enum argus_layer layer = layers_of(&frames->layers, origin->space.process, image);
    bool in_file = image[0] == '/' && image[1] != '/';
    size_t length = in_file ? plain_bytes(frames, origin, name) : strlen(name);
    if (!name[length] || length >= sizeof(whole))
        return frames_named(frames, name, image, layer);
    memcpy(whole, name, length);
    whole[length] = '\0';
    return frames_named(frames, whole, image, layer);
}

static uint32_t find_function(struct frames *frames, const struct frame_origin *origin,
                              bool *ret_has_name)
{
    char text[32];
    struct frame_space space = origin->space;
    uint64_t address = origin->address;
    bool is_return = origin->is_return;
    const char *image =
        argus_symbols_image(frames->symbols, space.process, space.time_ns, address, is_return);
    const char *function = function_at(frames, space, address, is_return);
    *ret_has_name = function != NULL;
    if (!image) {
        if (function)
            return frames_named(frames, function, "[anon]", ARGUS_LAYER_UNKNOWN);
        snprintf(text, sizeof(text), "0x%" PRIx64, address);
        return frames_named(frames, text, "", ARGUS_LAYER_UNKNOWN);
    }
    if (address >> 63) /* the upper half of addresses belongs to the kernel */
        return frames_named(frames, function ? function : "[kernel]", image, ARGUS_LAYER_KERNEL);
    if (!function)
        return add_unnamed(frames, space, address, is_return, image);
    return of_symbol(frames, origin, function, image);
}

static uint32_t find(struct frames *frames, struct frame_space space, uint64_t address,
                     bool is_return)
{
    struct frame_origin origin = {.space = space, .address = address, .is_return = is_return};
    uint32_t function = find_function(frames, &origin, &origin.has_name);
    if (function == ARGUS_NONE || frames->origins.data[function].address)
        return function;
    frames->origins.data[function] = origin;
    struct argus_symbol symbol =
        argus_symbols_find(frames->symbols, space.process, space.time_ns, address, is_return);
    frames->functions.data[function].is_script = argus_symbol_is_script(&symbol);
    return function;
}

bool frames_is_part(struct frames *frames, struct frame_space space, uint64_t address,
                    bool is_return)
{
    const char *name =
        argus_symbols_function(frames->symbols, space.process, space.time_ns, address, is_return);
    return name && plain_is_called_part(name);
}

bool frames_is_made(const struct frames *frames, uint32_t function)
{
    return function != ARGUS_NONE && !strcmp(frames->functions.data[function].name, FRAMES_MADE);
}

void frames_show(struct frames *frames, uint32_t function)
{
    struct frame_origin *origin = &frames->origins.data[function];
    struct argus_symbol symbol = {.function = frames->functions.data[function].name};
    struct frame_space space = origin->space;
    if (!origin->address || !frames->late_names)
        return;
    if (!origin->has_name)
        symbol = argus_symbols_show(frames->symbols, space.process, space.time_ns, origin->address,
                                    origin->is_return);
    argus_symbols_note(frames->symbols, space.process, origin->address, origin->is_return, &symbol);
    if (origin->has_name || !symbol.function || frames_is_made(frames, function))
        return;
    uint32_t name = intern_part(frames, frames->texts, symbol.function,
                                plain_bytes(frames, origin, symbol.function));
    origin->has_name = !frames->no_memory;
    if (origin->has_name)
        frames->functions.data[function].name = strtab_get(frames->texts, name);
}

/* Linux puts user space below 2^47 on x86-64 and below 2^48 on arm64. What does not fit into a key
 * (many processes, the kernel) is looked up each time. */
uint32_t frames_at(struct frames *frames, struct frame_space space, uint64_t address,
                   bool is_return)
{
    uint64_t where = (uint64_t)space.process << 1 | space.is_later;
    if (address >> 48 || where >> 15)
        return find(frames, space, address, is_return);
    uint64_t key = where << 49 | address << 1 | is_return;
    uint32_t function = idmap_get(&frames->by_address, key);
    if (function != IDMAP_NONE)
        return function;
    function = find(frames, space, address, is_return);
    if (function != ARGUS_NONE)
        frames->no_memory |= !idmap_put(&frames->by_address, key, function);
    return function;
}

uint32_t frames_left_out(struct frames *frames, struct frame_space space, uint64_t innermost,
                         uint64_t caller)
{
    const char *outer =
        argus_symbols_image(frames->symbols, space.process, space.time_ns, caller, true);
    const char *inner =
        argus_symbols_image(frames->symbols, space.process, space.time_ns, innermost, false);
    if (!outer || !inner || strcmp(outer, inner) == 0)
        return ARGUS_NONE;
    const char *function =
        argus_symbols_called(frames->symbols, space.process, space.time_ns, caller);
    const char *here =
        argus_symbols_function(frames->symbols, space.process, space.time_ns, innermost, false);
    if (!function || (here && strcmp(function, here) == 0))
        return ARGUS_NONE;
    return frames_named(frames, function, outer, layers_of(&frames->layers, space.process, outer));
}

uint32_t frames_of_syscall(struct frames *frames, uint32_t number)
{
    char buffer[64];
    uint32_t function = idmap_get(&frames->by_syscall, number);
    if (function != IDMAP_NONE)
        return function;
    const char *name =
        argus_syscall_name(argus_graph_trace(frames->graph), number, buffer, sizeof(buffer));
    function = frames_named(frames, name, "[kernel]", ARGUS_LAYER_KERNEL);
    if (function != ARGUS_NONE)
        frames->no_memory |= !idmap_put(&frames->by_syscall, number, function);
    return function;
}
