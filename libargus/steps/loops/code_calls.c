#include "steps/loops/code_calls.h"

#include <string.h>

#include "base/ends_in.h"
#include "event/binary/elf_words.h"

enum { STUB_INSTRUCTIONS = 5, LONGEST = 16, ENDS_WITHIN = 24 };

static bool target_of_slot(const struct code_function *function, uint64_t place,
                           struct code_target *ret)
{
    const struct elf_slot *slot = elf_slots_find(&function->image->slots, place);
    if (!slot)
        return false;
    *ret = (struct code_target){slot->name, slot->value, slot->is_defined};
    return true;
}

struct code_target code_target_at(const struct code_function *function, uint64_t address)
{
    uint64_t offset;
    const char *name = elf_file_function(function->image->file, address, &offset);
    return (struct code_target){name && offset == 0 ? name : NULL, address, true};
}

/* A word without a symbol. The dynamic linker fills it with the address of a function of the same
 * file, and nothing changes it later. Compilers of Rust make calls through such words. */
static bool target_of_word(const struct code_function *function, uint64_t place,
                           struct code_target *ret)
{
    uint64_t address;
    const struct elf_file *file = function->image->file;
    if (!elf_word_is_constant(file, place) || !elf_word_pointer(file, place, &address))
        return false;
    *ret = code_target_at(function, address);
    return true;
}

bool code_decode_at(const struct code_function *function, uint64_t address, struct instruction *ret)
{
    uint64_t offset;
    uint8_t code[LONGEST];
    struct elf_file *file = function->image->file;
    size_t room = sizeof(code);
    if (!elf_file_offset(file, address, &offset))
        return false;
    while (room && !elf_file_read(file, offset, room, code))
        room--;
    return instruction_decode(function->decoder, code, room, address, ret);
}

/* The word through which the stub at `address` jumps. x86-64: endbr64, jmp [rip+x]. arm64: adrp
 * x16, ldr x17, [x16+x], add, br x17. */
static bool stub_slot(const struct code_function *function, uint64_t address, uint64_t *ret)
{
    struct instruction at;
    int64_t page = 0;
    *ret = 0;
    for (unsigned i = 0; i < STUB_INSTRUCTIONS && code_decode_at(function, address, &at); i++) {
        const struct instruction_memory *memory = &at.memory[0];
        if (function->is_arm64 && at.is_sum && !at.reads)
            page = at.addend;
        if (function->is_arm64 && page && at.memory_count == 1 && memory->reads)
            *ret = (uint64_t)(page + memory->displacement);
        if (at.flow == FLOW_JUMP_INDIRECT && at.memory_count == 1 && memory->is_relative)
            *ret = (uint64_t)memory->displacement;
        if (at.flow != FLOW_NEXT)
            return at.flow == FLOW_JUMP_INDIRECT && *ret;
        address += at.length;
    }
    return false;
}

bool code_target_of(const struct code_function *function, const struct instruction *at,
                    struct code_target *ret)
{
    uint64_t place;
    bool is_indirect = at->flow == FLOW_CALL_INDIRECT || at->flow == FLOW_JUMP_INDIRECT;
    if (is_indirect && (!at->memory_count || !at->memory[0].is_relative))
        return false;
    if (is_indirect) {
        place = (uint64_t)at->memory[0].displacement;
        return target_of_slot(function, place, ret) ||
               (at->flow == FLOW_CALL_INDIRECT && target_of_word(function, place, ret));
    }
    if (at->flow != FLOW_CALL && at->flow != FLOW_JUMP)
        return false;
    if (stub_slot(function, at->target, &place) && target_of_slot(function, place, ret))
        return true;
    *ret = code_target_at(function, at->target);
    return true;
}

bool code_call_target(const struct code_function *function, uint32_t node, struct code_target *ret)
{
    return code_target_of(function, &function->nodes.data[node], ret);
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* To add one: a row. */
bool code_is_end(const char *name)
{
    static const char *const names[] = {
        "exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "err", "errx", "verr", "verrx",
    };
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_is_sleep(const char *name)
{
    static const char *const names[] = {"usleep",      "nanosleep",         "clock_nanosleep",
                                        "sched_yield", "pthread_yield",     "sleep",
                                        "thrd_sleep",  "thrd_yield",        "g_usleep",
                                        "__nanosleep", "__clock_nanosleep", "__sched_yield",
                                        "SDL_Delay",   "g_thread_yield"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row, and one in code_times.c if it stores the time where an argument points to. */
bool code_is_clock(const char *name)
{
    static const char *const names[] = {"clock_gettime",
                                        "__clock_gettime",
                                        "gettimeofday",
                                        "time",
                                        "clock",
                                        "difftime",
                                        "g_get_monotonic_time",
                                        "g_get_real_time",
                                        "g_timer_elapsed",
                                        "SDL_GetTicks",
                                        "SDL_GetTicks64",
                                        "_ZNSt6chrono3_V212steady_clock3nowEv",
                                        "_ZNSt6chrono3_V212system_clock3nowEv",
                                        "_ZNK13QElapsedTimer7elapsedEv",
                                        "_ZNK13QElapsedTimer10hasExpiredEx",
                                        "_ZNK13QElapsedTimer12nsecsElapsedEv",
                                        "_ZNK14QDeadlineTimer10hasExpiredEv",
                                        "_ZNK14QDeadlineTimer13remainingTimeEv",
                                        "_ZN9QDateTime22currentMSecsSinceEpochEv"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row, and one in code_callers_of_mapping(). */
bool code_is_mapping(const char *name)
{
    static const char *const names[] = {"mmap", "mmap64", "shmat"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_takes_lock(const char *name)
{
    static const char *const names[] = {"pthread_spin_lock", "pthread_spin_trylock"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_waits_for_lock(const char *name)
{
    static const char *const names[] = {
        "pthread_mutex_lock", "pthread_rwlock_rdlock", "pthread_rwlock_wrlock",   "mtx_lock",
        "g_mutex_lock",       "_ZN6QMutex4lockEv",     "_ZN11QBasicMutex4lockEv", "SDL_LockMutex"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_tries_lock(const char *name)
{
    static const char *const names[] = {"pthread_mutex_trylock",
                                        "pthread_mutex_timedlock",
                                        "pthread_mutex_clocklock",
                                        "pthread_rwlock_tryrdlock",
                                        "pthread_rwlock_trywrlock",
                                        "pthread_spin_trylock",
                                        "mtx_trylock",
                                        "mtx_timedlock",
                                        "g_mutex_trylock",
                                        "_ZN6QMutex7tryLockEi",
                                        "_ZN6QMutex7tryLockEv",
                                        "SDL_TryLockMutex"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_tries(const char *name)
{
    static const char *const names[] = {"sem_trywait", "sem_timedwait", "sem_clockwait"};
    return code_tries_lock(name) || is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_frees(const char *name)
{
    static const char *const names[] = {"sem_post",
                                        "pthread_mutex_unlock",
                                        "pthread_rwlock_unlock",
                                        "pthread_spin_unlock",
                                        "mtx_unlock",
                                        "g_mutex_unlock",
                                        "_ZN6QMutex6unlockEv",
                                        "_ZN11QBasicMutex6unlockEv",
                                        "SDL_UnlockMutex"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_compares(const char *name)
{
    static const char *const names[] = {"strcmp",
                                        "strncmp",
                                        "strcasecmp",
                                        "strncasecmp",
                                        "memcmp",
                                        "bcmp",
                                        "__memcmpeq",
                                        "wcscmp",
                                        "g_strcmp0",
                                        "g_str_equal",
                                        "strcoll",
                                        "g_strcasecmp",
                                        "g_ascii_strcasecmp"};
    return is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* To add one: a row. */
bool code_times_out(const char *name, int64_t *ret)
{
    enum { TIMED_OUT = 4 }; /* thrd_timedout of C11, in glibc and musl */
    static const struct {
        const char *name;
        int64_t result;
    } rows[] = {
        {"pthread_cond_timedwait", CODE_ETIMEDOUT},
        {"pthread_cond_clockwait", CODE_ETIMEDOUT},
        {"sem_timedwait", -1},
        {"sem_clockwait", -1},
        {"cnd_timedwait", TIMED_OUT},
    };
    for (size_t i = 0; name && i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].name, name) == 0) {
            *ret = rows[i].result;
            return true;
        }
    return false;
}

/* How the names of functions begin that throw for their caller, or panic:
 * std::__throw_length_error(), core::panicking::panic(). To add one: a row. */
static bool throws(const char *name)
{
    static const char *const beginnings[] = {"_ZN4core9panicking",
                                             "_ZN3std9panicking",
                                             "_ZN4core6result13unwrap_failed",
                                             "_ZN4core6option13unwrap_failed",
                                             "_ZN4core6option13expect_failed",
                                             "_ZN4core4cell",
                                             "_ZN5alloc5alloc18handle_alloc_error",
                                             "runtime.gopanic",
                                             "runtime.panic"};
    size_t letters = strncmp(name, "_ZSt", 4) == 0 ? 4 + strspn(name + 4, "0123456789") : 0;
    if (letters > 4 && strncmp(name + letters, "__throw_", 8) == 0)
        return true;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* Functions with which compiled checks (-fsanitize) report an error and end the program. Those that
 * report and go on have other names: __asan_report_load8_noabort(), and __ubsan_handle_…() without
 * an ending. */
static bool ends_by_check(const char *name)
{
    static const char *const names[] = {"__ubsan_handle_builtin_unreachable",
                                        "__ubsan_handle_missing_return", "__msan_warning_noreturn"};
    if (strncmp(name, "__asan_report_", strlen("__asan_report_")) == 0)
        return !ends_in(name, "_noabort");
    return (strncmp(name, "__ubsan_handle_", strlen("__ubsan_handle_")) == 0 &&
            ends_in(name, "_abort")) ||
           is_among(name, names, sizeof(names) / sizeof(names[0]));
}

/* Compilers end a function behind a call that never returns, or put a trap there. */
static bool ends_behind(const struct code_function *function, const struct instruction *call)
{
    struct instruction at;
    uint64_t start = function->start, bytes = function->bytes, next = call->address + call->length;
    if (call->address - start >= bytes &&
        !elf_file_function_range(function->image->file, call->address, &start, &bytes))
        return false;
    if (next == start + bytes)
        return true;
    bool is_known = code_decode_at(function, next, &at);
    if (is_known && at.flow == FLOW_JUMP)
        is_known = code_decode_at(function, at.target, &at);
    return is_known && at.flow == FLOW_TRAP;
}

/* Functions that never return, by name. To add one: a row. exit() is none of them: it is a way to
 * leave a loop (code_ends.h). */
bool code_fails(const struct code_function *function, const struct instruction *call)
{
    static const char *const names[] = {"abort",
                                        "__assert_fail",
                                        "__assert_perror_fail",
                                        "__stack_chk_fail",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "__cxa_throw_bad_array_new_length",
                                        "_Unwind_Resume",
                                        "longjmp",
                                        "siglongjmp",
                                        "__longjmp_chk",
                                        "__chk_fail",
                                        "__fortify_fail",
                                        "_ZSt9terminatev",
                                        "_Z9qBadAllocv",
                                        "qt_assert",
                                        "g_assertion_message",
                                        "g_assertion_message_expr"};
    struct code_target target;
    if (!code_is_call(call))
        return call->flow == FLOW_TRAP;
    if (ends_behind(function, call))
        return true;
    if (!code_target_of(function, call, &target) || !target.name)
        return false;
    return is_among(target.name, names, sizeof(names) / sizeof(names[0])) || throws(target.name) ||
           ends_by_check(target.name);
}

bool code_gives_up(const struct code_function *function, uint64_t address)
{
    struct instruction at;
    for (unsigned i = 0; i < ENDS_WITHIN && code_decode_at(function, address, &at); i++) {
        if (code_fails(function, &at))
            return true;
        if (at.flow == FLOW_BRANCH || at.flow == FLOW_RETURN || at.flow == FLOW_JUMP_INDIRECT)
            return false;
        address = at.flow == FLOW_JUMP ? at.target : address + at.length;
    }
    return false;
}
