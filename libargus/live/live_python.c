/* What CPython keeps in its memory: a list of thread states, each with its frames, which are on the
 * heap. Offsets are those of interpreter_layouts.def; the version is in the variable Py_Version. A
 * frame counts only if its code object has the type of code objects, and its instruction lies in
 * it.
 *
 * A thread that waits for the GIL is known by its stack: it waits for a condition in take_gil(), or
 * in a function that calls that, if it was inlined. The GIL says which thread state took it last,
 * and whether it is locked. */
#include "live/live_python.h"
#include "live/live_images.h"

#include <stdlib.h>
#include <string.h>

#include "event/binary/elf_exports.h"
#include "event/names/interpreted.h"

enum {
    INTERPRETER_CPYTHON,
    INTERPRETER_ZEND,
    INTERPRETER_YARV,
    MOST_THREADS = 512,
    MOST_UNITS = 1 << 20,
    UNIT_BYTES = 2,
    TEXT_BYTES = 256,
    TABLE_BYTES = 16384,
    WORD = 8,
    LOOKED_AT = 12,
    MOST_PYTHON_VERSION = 0xffff, /* the numbers of PHP's rows are larger */
};

/* As in the recorder's interface; the fields of PHP and Ruby are not used here. */
struct layout {
    uint16_t kind, main, threads, next, thread_id, frame, has_holder, holder_frame, holder_previous,
        code, instruction, previous, mark, outermost, is_shim, units, line, texts, instructions,
        type, length, text_state, text_mask, text_bytes, table_bytes, name, scope, file, code_start,
        scope_name, instruction_line, native, line_shift, line_rows, line_count, line_index,
        line_bytes;
};

static const struct {
    uint32_t version;
    struct layout layout;
} layouts[] = {
#define INTERPRETER(number, ...) {number, {__VA_ARGS__}},
#include "argus/interpreter_layouts.def"
#undef INTERPRETER
};

/* Where the GIL is, by offsetof() in each version's headers (pycore_runtime.h, pycore_interp.h): in
 * the runtime itself, or behind a pointer in the main interpreter. In it are, everywhere, the
 * thread state that took it last, and whether it is locked (pycore_gil.h). */
static const struct {
    uint32_t version;
    uint16_t in_runtime, in_interpreter;
} gils[] = {{0x030b, 360, 0}, {0x030c, 0, 384}, {0x030d, 0, 16}};

enum { GIL_HOLDER = 8, GIL_LOCKED = 16 };

struct python {
    uint32_t pid, version;
    const struct layout *layout;
    uint64_t runtime, code_type, text_type, bytes_type; /* addresses */
};

static uint64_t word_at(const struct python *python, uint64_t address)
{
    uint64_t word = 0;
    return address && live_memory(python->pid, address, &word, sizeof(word)) ? word : 0;
}

static uint32_t u32_at(const struct python *python, uint64_t address)
{
    uint32_t word = 0;
    return live_memory(python->pid, address, &word, sizeof(word)) ? word : 0;
}

static bool address_of(const struct live_elf *file, uint64_t bias, const char *name, uint64_t *ret)
{
    struct elf_export found = {0};
    bool is_here = elf_export_find(file->elf, name, &found) && found.is_defined;
    *ret = found.address + bias;
    return is_here;
}

static bool read_version(struct python *python, uint64_t address)
{
    uint64_t version = 0;
    live_memory(python->pid, address, &version, sizeof(version));
    python->version = (uint32_t)(version >> 16);
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].version == python->version && layouts[i].layout.kind == INTERPRETER_CPYTHON)
            python->layout = &layouts[i].layout;
    return python->layout != NULL;
}

/* The program, or a library, that has the interpreter. */
static bool find_python(struct argus_live *live, uint32_t pid, struct python *ret)
{
    struct live_elf *file;
    uint64_t bias, version;
    *ret = (struct python){.pid = pid};
    for (size_t i = 0; (file = live_elf_at(live, pid, i, &bias)); i++)
        if (strstr(strtab_get(live->texts, file->path), "python") &&
            address_of(file, bias, "_PyRuntime", &ret->runtime))
            return address_of(file, bias, "PyCode_Type", &ret->code_type) &&
                   address_of(file, bias, "PyUnicode_Type", &ret->text_type) &&
                   address_of(file, bias, "PyBytes_Type", &ret->bytes_type) &&
                   address_of(file, bias, "Py_Version", &version) && read_version(ret, version);
    return false;
}

/* The thread state's ID of the system's thread is next to what pthread_self() says. */
static uint32_t tid_of(const struct python *python, uint64_t state)
{
    return (uint32_t)word_at(python, state + python->layout->thread_id + WORD);
}

static uint64_t state_of(const struct python *python, uint32_t tid)
{
    uint64_t main = word_at(python, python->runtime + python->layout->main);
    uint64_t state = main ? word_at(python, main + python->layout->threads) : 0;
    for (int i = 0; state && i < MOST_THREADS; i++) {
        if (tid_of(python, state) == tid)
            return state;
        state = word_at(python, state + python->layout->next);
    }
    return 0;
}

/* --- frames --- */

static uint32_t text_of(struct argus_live *live, const struct python *python, uint64_t object,
                        bool is_path)
{
    char text[TEXT_BYTES];
    uint64_t length = word_at(python, object + python->layout->length);
    uint32_t state = u32_at(python, object + python->layout->text_state);
    if (word_at(python, object + python->layout->type) != python->text_type ||
        (state & python->layout->text_mask) != python->layout->text_mask ||
        length >= sizeof(text) ||
        !live_memory(python->pid, object + python->layout->text_bytes, text, length))
        return 0;
    text[length] = '\0';
    const char *slash = is_path ? strrchr(text, '/') : NULL;
    return live_text(live, slash ? slash + 1 : text);
}

static uint32_t line_of(const struct python *python, uint64_t code, uint64_t offset)
{
    uint64_t table = word_at(python, code + python->layout->texts + 3 * WORD);
    uint64_t bytes = word_at(python, table + python->layout->length);
    struct argus_code_entry entry = {.line = u32_at(python, code + python->layout->line)};
    uint8_t *room = bytes && bytes < TABLE_BYTES ? malloc(bytes) : NULL;
    uint32_t line = entry.line;
    if (room && word_at(python, table + python->layout->type) == python->bytes_type &&
        live_memory(python->pid, table + python->layout->table_bytes, room, bytes)) {
        entry.table = room;
        entry.table_bytes = (uint32_t)bytes;
        line = interpreted_line(&entry, offset);
    }
    free(room);
    return line;
}

/* False: it is no frame, so neither are those that follow. */
static bool read_frame(struct argus_live *live, const struct python *python, uint64_t address,
                       struct python_frame *ret, uint64_t *ret_previous)
{
    const struct layout *layout = python->layout;
    uint64_t code = word_at(python, address + layout->code);
    uint64_t instruction = word_at(python, address + layout->instruction);
    uint8_t mark = 0;
    *ret = (struct python_frame){.is_outermost = false};
    *ret_previous = word_at(python, address + layout->previous);
    live_memory(python->pid, address + layout->mark, &mark, sizeof(mark));
    ret->is_outermost = mark == layout->outermost;
    if (ret->is_outermost && layout->is_shim)
        return true;
    uint64_t offset = instruction - (code + layout->instructions);
    uint64_t units = u32_at(python, code + layout->units);
    if (word_at(python, code + layout->type) != python->code_type || units > MOST_UNITS ||
        (offset >= units * UNIT_BYTES && offset != (uint64_t)-UNIT_BYTES))
        return false;
    ret->frame.address = instruction;
    ret->frame.is_script = true;
    ret->frame.function =
        text_of(live, python, word_at(python, code + layout->texts + 2 * WORD), false);
    ret->frame.file = text_of(live, python, word_at(python, code + layout->texts), true);
    ret->frame.image = live_text(live, "Python");
    ret->frame.line = line_of(python, code, offset == (uint64_t)-UNIT_BYTES ? 0 : offset);
    return true;
}

size_t live_python_frames(struct argus_live *live, uint32_t thread,
                          struct python_frame ret[PYTHON_FRAMES])
{
    struct python python;
    size_t count = 0;
    if (!find_python(live, live_pid_of(live, thread), &python))
        return 0;
    uint64_t state = state_of(&python, live_own_id(python.pid, live->threads.data[thread].tid));
    uint64_t frame = state ? word_at(&python, state + python.layout->frame) : 0;
    if (frame && python.layout->has_holder)
        frame = word_at(&python, frame + python.layout->holder_frame);
    while (frame && count < PYTHON_FRAMES && read_frame(live, &python, frame, &ret[count], &frame))
        count++;
    return count;
}

bool live_is_python_call(const char *function)
{
    return strncmp(function, "_PyEval_EvalFrameDefault", strlen("_PyEval_EvalFrameDefault")) == 0;
}

/* --- the GIL --- */

/* Functions that take the GIL. */
static bool takes_gil(const char *function)
{
    static const char *const names[] = {"take_gil",
                                        "PyEval_RestoreThread",
                                        "PyEval_AcquireThread",
                                        "PyEval_AcquireLock",
                                        "_PyEval_AcquireLock",
                                        "PyGILState_Ensure",
                                        "_PyThreadState_Attach"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(function, names[i]) == 0)
            return true;
    return false;
}

/* Whether the innermost functions are a wait for a condition, called by one that takes the GIL. */
static bool waits_for_gil(struct argus_live *live, uint32_t thread)
{
    uint64_t addresses[LIVE_STACK_FRAMES];
    bool is_cut, waits = false;
    size_t count = live_stack(live, thread, addresses, &is_cut);
    for (size_t i = 0; i < count && i < LOOKED_AT; i++) {
        struct argus_live_frame frame;
        live_stack_name(live, live_pid_of(live, thread), addresses[i], i > 0, &frame);
        const char *function = strtab_get(live->texts, frame.function);
        if (takes_gil(function) || (waits && live_is_python_call(function)))
            return waits;
        if (live_is_python_call(function))
            return false;
        waits |= strstr(function, "pthread_cond_") != NULL;
    }
    return false;
}

static uint64_t gil_of(const struct python *python)
{
    for (size_t i = 0; i < sizeof(gils) / sizeof(gils[0]); i++) {
        if (gils[i].version != python->version)
            continue;
        if (gils[i].in_runtime)
            return python->runtime + gils[i].in_runtime;
        return word_at(python, word_at(python, python->runtime + python->layout->main) +
                                   gils[i].in_interpreter);
    }
    return 0;
}

bool live_python_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                      struct live_candidates *ret)
{
    struct python python;
    const char *call = argus_live_call_name(&live->threads.data[thread]);
    if (!call || strcmp(call, "futex") != 0 || !waits_for_gil(live, thread) ||
        !find_python(live, live_pid_of(live, thread), &python))
        return false;
    uint64_t gil = gil_of(&python);
    uint32_t holder = ARGUS_LIVE_NONE, process = live->threads.data[thread].process;
    uint64_t state = gil ? word_at(&python, gil + GIL_HOLDER) : 0;
    uint32_t tid = state && u32_at(&python, gil + GIL_LOCKED) == 1 ? tid_of(&python, state) : 0;
    /* a second look: the lock may have gone to another thread between these reads */
    if (tid && word_at(&python, gil + GIL_HOLDER) == state &&
        u32_at(&python, gil + GIL_LOCKED) == 1 && live_is_still_there(live, thread))
        holder = live_thread_of_own_id(live, process, tid);
    wait->kind = ARGUS_LIVE_GIL;
    wait->object = gil;
    *ret = (struct live_candidates){.link = ARGUS_LIVE_LINK_HOLDS, .end = ARGUS_LIVE_END_UNKNOWN};
    if (holder != ARGUS_LIVE_NONE && holder != thread)
        live_candidate(ret, process, holder);
    return true;
}
