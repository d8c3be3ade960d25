/* Addresses to functions: the names that the trace brings along; else by process, image and build id, with ELF symbols and DWARF lines
 * (libdw).
 *
 * Nothing is fetched from the network. A file whose build id differs from the trace's is not used: the
 * answer is then image+offset with `stale` set. One object belongs to one thread (it caches).
 */
#ifndef ARGUS_SYMBOLS_H
#define ARGUS_SYMBOLS_H

#include "argus/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

struct argus_symbols;

struct argus_symbol {
    const char *function; /* demangled; NULL: no symbol covers the address */
    const char *image;    /* path or "[kernel]"; NULL: no image covers the address */
    const char *file;     /* source file; NULL: no line information */
    uint32_t line;
    uint64_t offset; /* into the function, or into the image's file if function is NULL */
    bool stale;      /* the file on disk is not the one that ran */
    uint8_t lack;    /* enum argus_lack: why there is no function */
};

/* The frames that an answer shows, each once, without those of the kernel. */
struct argus_shown_frames {
    uint64_t frames;               /* all of them */
    uint64_t unnamed[ARGUS_LACKS]; /* those without a function, by reason */
};

struct argus_error *argus_symbols_create(const struct argus_graph *graph,
                                         struct argus_symbols **ret);
void argus_symbols_destroy(struct argus_symbols *symbols);

/* The symbol of `address` in `process` (index) at `time_ns`. Kernel addresses need no process. `is_return`: the address
 * is a return address, so the call before it is meant. Strings are borrowed from `symbols`. */
struct argus_symbol argus_symbols_find(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return);

/* The same of a frame that an answer shows: what neither the trace nor this machine knows of it is asked of debuginfod servers. What
 * is looked up to build a graph or to compare vertices is not, so an answer's course does not depend on a server. */
struct argus_symbol argus_symbols_show(struct argus_symbols *symbols, uint32_t process,
                                       uint64_t time_ns, uint64_t address, bool is_return);

/* Whether it is a function that was interpreted, or compiled at run time from a source file: its code is in no file that was mapped. */
bool argus_symbol_is_script(const struct argus_symbol *symbol);
/* Whether a script's source file is part of its language, or was installed as a library: it lies below a folder lib. */
bool argus_source_is_library(const char *source);
/* The frame of a script in `stack` at which to look first: the innermost one of no library, else the innermost one. Returns its index, and
 * `ret` is its symbol; ARGUS_NONE: there is none. `symbols` may be NULL. */
uint32_t argus_symbols_script(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                              struct argus_stack stack, struct argus_symbol *ret);

/* Allows argus_symbols_show() to fetch files, if DEBUGINFOD_URLS names servers. `progress` may be NULL; false from it ends that until
 * argus_symbols_forget_shown(), which also gives the next answer its own time. */
void argus_symbols_allow_fetch(struct argus_symbols *symbols, argus_progress progress,
                               void *context);
void argus_symbols_fetched(const struct argus_symbols *symbols, struct argus_fetched *ret);

/* So many of the first frames of `stack` lie in code that `process` had mapped at `time_ns`. What comes behind them is what frame
 * pointers led to in code that has none. All of them, where not even the innermost one is known,
 * and of a Mac, whose images may be unknown. */
uint32_t argus_symbols_known(const struct argus_symbols *symbols, uint32_t process,
                             uint64_t time_ns, struct argus_stack stack);

/* Only the function, or only the path of the image ("[kernel]"): cheaper, since no source line is looked for, and for the
 * image no file is opened. NULL: not known. */
const char *argus_symbols_function(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address, bool is_return);
const char *argus_symbols_image(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                uint64_t address, bool is_return);

/* Where the function begins that has no name, as an offset in its file, by which all of its addresses are one function. False: its
 * file does not say either. */
bool argus_symbols_start(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                         uint64_t address, bool is_return, uint64_t *ret);

/* The mapping that has `address`, borrowed from the trace, and the address's offset in the mapping's file. NULL: not known. */
const struct argus_image_entry *argus_symbols_mapping(const struct argus_symbols *symbols,
                                                      uint32_t process, uint64_t time_ns,
                                                      uint64_t address, uint64_t *ret_offset);

/* The name of the variable that lies at `address`, borrowed; NULL: not known. The trace only says where code is mapped: the
 * variable is looked for in the file whose code lies before it, up to 64 MB away. */
const char *argus_symbols_variable(struct argus_symbols *symbols, uint32_t process,
                                   uint64_t time_ns, uint64_t address);

/* The function that the direct call before the return address `address` calls; NULL: the call goes through a pointer or a table of
 * another library, or is not known. Where stacks are followed by frame pointers, and the innermost code has none (most
 * C libraries), the function that called that code is not in the stack; it is what the call at frame 1 calls. */
const char *argus_symbols_called(struct argus_symbols *symbols, uint32_t process, uint64_t time_ns,
                                 uint64_t address);

/* For an answer to say how many of its frames have no function: argus_symbols_note() tells of a frame that is shown, and what was found
 * about it. */
void argus_symbols_note(struct argus_symbols *symbols, uint32_t process, uint64_t address,
                        bool is_return, const struct argus_symbol *symbol);
void argus_symbols_shown(const struct argus_symbols *symbols, struct argus_shown_frames *ret);
void argus_symbols_forget_shown(struct argus_symbols *symbols);
/* "its file is gone"; static. */
const char *argus_lack_text(enum argus_lack lack);

/* "function", or "image+0x1234", or "0x7f…": what a person is shown; into `buffer`. */
const char *argus_symbol_text(const struct argus_symbol *symbol, uint64_t address, char *buffer,
                              size_t buffer_bytes);

#ifdef __cplusplus
}
#endif
#endif
