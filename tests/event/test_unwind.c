/* Stack snapshots of this program, unwound and compared with the C library's own unwinder for the
 * same stack: backtrace() uses libgcc, and shares no code with libdw.
 *
 * A signal handler gets all registers of the place that it interrupted; so it takes the snapshot.
 */
#include <errno.h>
#include <execinfo.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <cmocka.h>

#include "popping_function.h"
#include "snapshot_trace.h"

#define MOST_DEEP 64

static struct argus_snapshot taken;
static uint8_t copy[1 << 20];
static void *expected[MOST_DEEP];
static int expected_count;
static const char *top_of_stack; /* main's */

/* --- taking a snapshot --- */

/* Redzones of a sanitizer between the variables belong to the stack, too. */
__attribute__((no_sanitize("address"))) static void copy_stack(const volatile char *from,
                                                               uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        copy[i] = (uint8_t)from[i];
}

#if defined(__x86_64__)
enum { STACK_REGISTER = 7 };
#else
enum { STACK_REGISTER = 31 };
#endif

static void take(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
    taken = (struct argus_snapshot){.id = ID, .pid = (uint64_t)getpid(), .tid = taken.pid};
#if defined(__x86_64__)
    static const int order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    taken.register_count = 17;
    for (int i = 0; i < 17; i++)
        taken.registers[i] = (uint64_t)machine->gregs[order[i]];
#else
    taken.register_count = 33;
    memcpy(taken.registers, machine->regs, 31 * sizeof(uint64_t));
    taken.registers[31] = machine->sp;
    taken.registers[32] = machine->pc;
#endif
    uint64_t sp = taken.registers[STACK_REGISTER];
    size_t bytes = (size_t)(top_of_stack - (const char *)sp);
    taken.stack_bytes = (uint32_t)(bytes < sizeof(copy) ? bytes : sizeof(copy));
    copy_stack((const char *)sp, taken.stack_bytes);
    taken.stack = copy;
}

/* glibc tells the compiler that raise() does not come back into this file, but our handlers do. */
static __attribute__((always_inline)) inline void send(int signal)
{
    __asm__ volatile("" ::: "memory");
    raise(signal);
    __asm__ volatile("" ::: "memory");
}

/* Expects the stack from the return address `caller` on: without backtrace() itself, which is two
 * frames under a sanitizer, and without the function that calls this. */
static void expect_from(const void *caller)
{
    expected_count = backtrace(expected, MOST_DEEP);
    while (expected_count > 0 && expected[0] != caller)
        memmove(expected, expected + 1, (size_t)--expected_count * sizeof(expected[0]));
}

static __attribute__((noinline)) int innermost(int depth)
{
    expect_from(__builtin_return_address(0));
    send(SIGUSR1);
    return depth + expected_count;
}

static __attribute__((noinline)) int in_the_middle(int depth)
{
    volatile char room[300]; /* a frame of some size */
    room[0] = (char)depth;
    return innermost(depth) + room[0];
}

static __attribute__((noinline)) int with_a_dynamic_frame(size_t bytes)
{
    volatile char *room = __builtin_alloca(bytes); /* so that its CFA needs a frame register */
    room[bytes - 1] = 1;
    return in_the_middle(1) + room[bytes - 1];
}

static int compare(const void *left, const void *right)
{
    if (!expected_count)
        with_a_dynamic_frame(100);
    return *(const char *)left - *(const char *)right;
}

static void handle(int signal)
{
    (void)signal;
    in_the_middle(2);
}

/* --- a trace with it --- */

static void write_trace(const struct argus_snapshot *snapshot, uint64_t ring_bytes, bool images)
{
    snapshot_trace_write(snapshot, 1, ring_bytes, images);
}

/* The frames of `snapshot`; the number of them. */
static size_t unwind(const struct argus_snapshot *snapshot, bool images,
                     uint64_t ret[ARGUS_STACK_MAX_FRAMES])
{
    struct argus_unwind_totals totals;
    const uint64_t *frames;
    memset(ret, 0, ARGUS_STACK_MAX_FRAMES * sizeof(*ret));
    write_trace(snapshot, 0, images);
    struct argus_trace *trace = snapshot_trace_open();
    assert_int_equal(argus_trace_stack(trace, ID, &frames), 0);
    must(argus_unwind_trace(trace, NULL, NULL, &totals));
    assert_int_equal(totals.snapshots, 1);
    return snapshot_trace_take(trace, ret);
}

/* --- the facts --- */

/* What backtrace() saw from the caller of innermost() on is the end of the stack. libgcc's last
 * frame can be one more: it takes the return address of _start, which does not exist. */
static void assert_as_expected(const uint64_t *frames, size_t count)
{
    size_t same = (size_t)expected_count;
    while (same > 0 && !expected[same - 1])
        same--;
    assert_true(frames[count - 1] >= ARGUS_FRAME_ENDS); /* it is whole */
    assert_true(count > same && same >= 4);
    for (size_t i = 0; i < same; i++) {
        uint64_t wanted = (uintptr_t)expected[same - 1 - i], got = frames[count - 1 - i];
        assert_true(got == wanted || got == wanted + 1); /* + 1: a signal interrupted there */
    }
}

static void check_now(void)
{
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    size_t count = unwind(&taken, true, frames);
    assert_as_expected(frames, count);
}

static void a_chain_is_whole(void **state)
{
    (void)state;
    in_the_middle(0);
    check_now();
}

static void a_frame_of_unknown_size(void **state)
{
    (void)state;
    with_a_dynamic_frame((size_t)getpid() % 1000 + 100);
    check_now();
}

static void through_a_library(void **state)
{
    (void)state;
    char letters[] = "zyxwvutsrqponmlkjihgfedcba";
    expected_count = 0;
    qsort(letters, sizeof(letters) - 1, 1, compare);
    assert_string_equal(letters, "abcdefghijklmnopqrstuvwxyz");
    check_now();
}

static void through_a_signal(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = handle};
    sigaction(SIGUSR2, &action, NULL);
    send(SIGUSR2);
    check_now();
}

/* Its own CFA needs rbp. False: not on this processor. */
static __attribute__((noinline)) bool calls_popping(size_t bytes)
{
    volatile char *room = __builtin_alloca(bytes);
    expect_from(__builtin_return_address(0));
    return popping_call(take) && (room[bytes - 1] = 1);
}

static void at_a_return(void **state)
{
    (void)state;
    if (calls_popping((size_t)getpid() % 1000 + 100))
        check_now();
}

/* A signal handler on its own stack: the callers are not in the copy, and the stack ends with a
 * mark for that. */
static void a_stack_of_its_own(void **state)
{
    (void)state;
    static char other[1 << 16] __attribute__((aligned(16)));
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof(other)}, before;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    const char *real_top = top_of_stack;
    sigaltstack(&stack, &before);
    sigaction(SIGUSR2, &action, NULL);
    top_of_stack = other + sizeof(other);
    send(SIGUSR2);
    top_of_stack = real_top;
    sigaltstack(&before, NULL);
    taken.end = ARGUS_SNAPSHOT_CUT;
    size_t count = unwind(&taken, true, frames);
    assert_int_equal(frames[count - 1], ARGUS_FRAME_CUT);
    assert_true(count > 4);
}

static void a_short_copy_says_so(void **state)
{
    (void)state;
    uint64_t whole[ARGUS_STACK_MAX_FRAMES], part[ARGUS_STACK_MAX_FRAMES];
    in_the_middle(0);
    size_t whole_count = unwind(&taken, true, whole), before = 0;
    static const enum argus_snapshot_end ends[] = {ARGUS_SNAPSHOT_CUT, ARGUS_SNAPSHOT_MISSING,
                                                   ARGUS_SNAPSHOT_WHOLE};
    static const uint64_t marks[] = {ARGUS_FRAME_CUT, ARGUS_FRAME_MISSING, ARGUS_FRAME_UNKNOWN};
    uint32_t all_bytes = taken.stack_bytes;
    for (size_t i = 0; i < 60; i++) {
        taken.stack_bytes = (uint32_t)(i * 16);
        if (taken.stack_bytes >= all_bytes)
            break;
        taken.end = ends[i % 3];
        size_t count = unwind(&taken, true, part);
        assert_true(count - 1 >= before && count <= whole_count);
        assert_memory_equal(part, whole, (count - 1) * sizeof(*part));
        assert_int_equal(part[count - 1], marks[i % 3]);
        before = count - 1;
    }
    assert_true(before > 2);
}

static void unknown_code_says_so(void **state)
{
    (void)state;
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    in_the_middle(0);
    assert_int_equal(unwind(&taken, false, frames), 2);
    assert_int_equal(frames[0], taken.registers[taken.register_count - 1]);
    assert_int_equal(frames[1], ARGUS_FRAME_UNKNOWN);
    taken.register_count = 5;
    assert_int_equal(unwind(&taken, true, frames), 1);
    assert_int_equal(frames[0], ARGUS_FRAME_UNKNOWN);
}

/* --- a function with more on its stack than is copied --- */

#define MOST_COPIED 16384
#if __has_attribute(noclone) /* gcc; clang makes no clones */
#define ALONE __attribute__((noinline, noclone))
#else
#define ALONE __attribute__((noinline))
#endif

static ALONE int with_a_large_array(int depth)
{
    volatile char room[2 * MOST_COPIED];
    room[depth] = 1;
    return in_the_middle(depth) + room[depth];
}

static ALONE int with_a_small_array(int depth)
{
    volatile char room[200];
    room[depth] = 1;
    return in_the_middle(depth) + room[depth];
}

/* Calls both, from frames of one size. */
static ALONE int one_caller(int large)
{
    volatile int result = large ? with_a_large_array(3) : with_a_small_array(4);
    return result + 1;
}

static ALONE int another_caller(int large)
{
    volatile int result = large ? with_a_small_array(5) : with_a_small_array(6);
    return result + 2;
}

/* On arm64 a function saves its return address below its arrays. So that of with_a_large_array() is in the copy, and the
 * first one that is not is its caller's. */
static ALONE int relay(int large)
{
    volatile int result = large ? with_a_large_array(3) : with_a_small_array(4);
    return result + 3;
}

static ALONE int one_way(int large)
{
    volatile int result = relay(large);
    return result + 4;
}

static ALONE int another_way(int large)
{
    volatile int result = relay(large);
    return result + 5;
}

/* The snapshot taken by a call of `function`, with its own copy of the stack; the caller frees
 * it. */
static ALONE uint8_t *take_of(int (*volatile function)(int), int large, uint64_t id,
                              struct argus_snapshot *ret)
{
    (void)function(large);
    *ret = taken;
    ret->id = id;
    if (ret->stack_bytes > MOST_COPIED && large) {
        ret->stack_bytes = MOST_COPIED;
        ret->end = ARGUS_SNAPSHOT_CUT;
    }
    uint8_t *bytes = malloc(ret->stack_bytes);
    assert_non_null(bytes);
    memcpy(bytes, copy, ret->stack_bytes);
    ret->stack = bytes;
    return bytes;
}

/* Unwinds a cut-off stack of callers[count] together with complete ones of the earlier callers;
 * returns the number of its frames. */
static size_t unwind_beside(int (*const *callers)(int), size_t count,
                            uint64_t ret[ARGUS_STACK_MAX_FRAMES], uint64_t *ret_continued)
{
    struct argus_snapshot snapshots[4];
    uint8_t *copies[4];
    struct argus_unwind_totals totals;
    for (size_t i = 0; i <= count; i++)
        copies[i] = take_of(callers[i], i == count, ID + (count - i), &snapshots[i]);
    assert_int_equal(snapshots[count].end, ARGUS_SNAPSHOT_CUT);
    snapshot_trace_write(snapshots, count + 1, 0, true);
    struct argus_trace *trace = snapshot_trace_open();
    must(argus_unwind_trace(trace, NULL, NULL, &totals));
    assert_int_equal(totals.cut, 1);
    *ret_continued = totals.continued;
    size_t depth = snapshot_trace_take(trace, ret);
    for (size_t i = 0; i <= count; i++)
        free(copies[i]);
    return depth;
}

static void a_cut_stack_goes_on_as_others(void **state)
{
    (void)state;
    uint64_t frames[ARGUS_STACK_MAX_FRAMES] = {0}, continued;
    int (*const callers[])(int) = {one_caller, one_caller};
    size_t count = unwind_beside(callers, 1, frames, &continued);
    assert_int_equal(continued, 1);
    size_t first = 0; /* followed by in_the_middle(), the large array, one_caller(), take_of() */
    while (first < count && frames[first] != (uintptr_t)expected[0])
        first++;
    assert_true(first + 4 < count && frames[count - 1] >= ARGUS_FRAME_ENDS);
    assert_memory_equal(frames + first, expected, 4 * sizeof(*expected));
}

/* The caller is ambiguous if another function has had its frame at the same place, or if none was
 * seen there. */
static void a_cut_stack_stays_cut_in_doubt(void **state)
{
    (void)state;
    uint64_t frames[ARGUS_STACK_MAX_FRAMES] = {0}, continued;
#if defined(__x86_64__)
    int (*const both[])(int) = {one_caller, another_caller, one_caller};
#else
    int (*const both[])(int) = {one_way, another_way, one_way};
#endif
    int (*const both_ways[])(int) = {one_way, another_way, another_way};
    int (*const wrong[])(int) = {another_caller, one_caller};
    int (*const alone[])(int) = {one_caller};
    static const size_t counts[] = {2, 2, 1, 0};
    int (*const *callers[])(int) = {both, both_ways, wrong, alone};
    for (size_t i = 0; i < 4; i++) {
        size_t count = unwind_beside(callers[i], counts[i], frames, &continued);
        assert_int_equal(continued, 0);
        assert_int_equal(frames[count - 1], ARGUS_FRAME_CUT);
    }
}

/* Recursion deeper than a stack in a trace may be. */
static __attribute__((noinline)) int recurse(int levels)
{
    volatile int below = levels ? recurse(levels - 1) : in_the_middle(0); /* no tail call */
    return below + 1;
}

static void a_deep_stack_says_so(void **state)
{
    (void)state;
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    assert_true(recurse(500) > 500);
    assert_int_equal(unwind(&taken, true, frames), ARGUS_STACK_MAX_FRAMES);
    assert_int_equal(frames[ARGUS_STACK_MAX_FRAMES - 1], ARGUS_FRAME_DEEP);
    assert_int_equal(frames[20], frames[100]);
}

/* Up to as many frames of an interpreter as a stack of a trace may have. */
static void a_deep_program_in_an_interpreter_says_so(void **state)
{
    (void)state;
    static uint64_t entries[ARGUS_STACK_MAX_FRAMES];
    uint64_t frames[ARGUS_STACK_MAX_FRAMES];
    in_the_middle(0);
    size_t of_c = unwind(&taken, true, frames);
    entries[0] = ARGUS_FRAME_MARK_BEFORE | taken.registers[STACK_REGISTER];
    for (size_t i = 1; i < ARGUS_STACK_MAX_FRAMES; i++)
        entries[i] = 0x7000 + i;
    snapshot_trace_interpreted = entries;
    for (size_t depth = 1; depth < ARGUS_STACK_MAX_FRAMES; depth++) {
        snapshot_trace_interpreted_count = depth + 1;
        size_t count = unwind(&taken, true, frames), all = of_c - 1 + depth;
        bool is_deep = all >= ARGUS_STACK_MAX_FRAMES - 1;
        assert_int_equal(count, is_deep ? ARGUS_STACK_MAX_FRAMES : all);
        assert_int_equal(frames[0], 0x7001);
        assert_int_equal(frames[depth - 1], 0x7000 + depth + (depth > 1));
        if (is_deep)
            assert_int_equal(frames[count - 1], ARGUS_FRAME_DEEP);
    }
    snapshot_trace_interpreted_count = 0;
}

/* One changed byte of an encrypted chunk is noticed although the checksums fit. */
static void changes_are_noticed(void **state)
{
    (void)state;
    static const struct argus_snapshot_key key = {{1, 2, 3}};
    struct argus_unwind_totals totals;
    in_the_middle(0);
    snapshot_trace_key = &key;
    for (uint32_t at = 0; at < 64; at += 4) {
        write_trace(&taken, 0, true);
        snapshot_trace_change(at);
        must(argus_unwind_file(snapshot_trace_path, &key, NULL, NULL, &totals));
        assert_int_equal(totals.snapshots, 0);
    }
    snapshot_trace_key = NULL;
}

/* In a stream and in a ring, encrypted or not. */
static void a_finished_file_holds_no_memory(void **state)
{
    (void)state;
    static const struct argus_snapshot_key key = {{1, 2, 3}};
    uint64_t other[ARGUS_STACK_MAX_FRAMES];
    const struct argus_chunk *chunks;
    const uint64_t *frames;
    static const uint64_t rings[] = {0, 1 << 20};
    in_the_middle(0);
    size_t count = unwind(&taken, true, other);
    for (size_t i = 0; i < 4; i++) {
        struct stat before, after;
        snapshot_trace_key = i < 2 ? NULL : &key;
        write_trace(&taken, rings[i % 2], true);
        if (snapshot_trace_key) {
            snapshot_trace_assert_unreadable(&taken);
            snapshot_trace_assert_locked();
        }
        struct argus_trace *trace = snapshot_trace_open();
        assert_int_equal(argus_trace_snapshot_chunks(trace, &chunks), 1);
        struct argus_chunk place = chunks[0];
        argus_trace_close(trace);
        assert_int_equal(stat(snapshot_trace_path, &before), 0);
        must(argus_unwind_file(snapshot_trace_path, snapshot_trace_key, NULL, NULL, NULL));
        assert_int_equal(stat(snapshot_trace_path, &after), 0);
        assert_int_equal(after.st_size, before.st_size);
        snapshot_trace_assert_scrubbed(&place);
        trace = snapshot_trace_open();
        assert_int_equal(argus_trace_snapshot_chunks(trace, &chunks), 0);
        assert_int_equal(argus_trace_stack(trace, ID, &frames), count);
        assert_memory_equal(frames, other, count * sizeof(*frames));
        assert_int_equal(argus_trace_record_count(trace), 1);
        argus_trace_close(trace);
        must(argus_unwind_file(snapshot_trace_path, NULL, NULL, NULL,
                               NULL)); /* no snapshots are left */
    }
    snapshot_trace_key = NULL;
}

static bool refuse(void *context, const char *what, double share)
{
    (void)what, (void)share;
    ++*(int *)context;
    return false;
}

static void interrupting_it_leaves_the_file(void **state)
{
    (void)state;
    const struct argus_chunk *chunks;
    int asked = 0;
    in_the_middle(0);
    write_trace(&taken, 0, true);
    struct argus_error *error = argus_unwind_file(snapshot_trace_path, NULL, refuse, &asked, NULL);
    assert_non_null(error);
    assert_int_equal(error->code, ARGUS_ERROR_INTERRUPTED);
    argus_error_destroy(error);
    assert_true(asked > 0);
    struct argus_trace *trace = snapshot_trace_open();
    assert_int_equal(argus_trace_snapshot_chunks(trace, &chunks), 1);
    argus_trace_close(trace);
}

/* Invented registers and stacks. They include addresses of code, otherwise nothing would be
 * unwound. */
static void nonsense_is_survived(void **state)
{
    (void)state;
    uint64_t words[200], frames[ARGUS_STACK_MAX_FRAMES];
    in_the_middle(0);
    struct argus_snapshot snapshot = taken;
    assert_true(expected_count > 0);
    snapshot.stack = (const uint8_t *)words;
    srandom(1);
    for (int round = 0; round < 300; round++) {
        for (size_t i = 0; i < 200; i++)
            words[i] =
                random() % 3
                    ? (uintptr_t)expected[random() % (expected_count > 0 ? expected_count : 1)] +
                          (uint64_t)(random() % 64)
                    : (uint64_t)random() * (uint64_t)random();
        for (uint32_t i = 0; i < snapshot.register_count; i++)
            snapshot.registers[i] = random() % 4 ? words[random() % 200] : taken.registers[i];
        snapshot.registers[snapshot.register_count - 1] = words[random() % 200];
        snapshot.stack_bytes = (uint32_t)(random() % (long)sizeof(words));
        snapshot.end = (enum argus_snapshot_end)(random() % 3);
        size_t count = unwind(&snapshot, true, frames);
        assert_int_equal(frames[0], snapshot.registers[snapshot.register_count - 1]);
        assert_true(count >= 1 && count <= ARGUS_STACK_MAX_FRAMES);
    }
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(snapshot_trace_path) ? errno : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_whole),
        cmocka_unit_test(a_frame_of_unknown_size),
        cmocka_unit_test(through_a_library),
        cmocka_unit_test(through_a_signal),
        cmocka_unit_test(at_a_return),
        cmocka_unit_test(a_stack_of_its_own),
        cmocka_unit_test(a_short_copy_says_so),
        cmocka_unit_test(unknown_code_says_so),
        cmocka_unit_test(a_cut_stack_goes_on_as_others),
        cmocka_unit_test(a_cut_stack_stays_cut_in_doubt),
        cmocka_unit_test(a_deep_stack_says_so),
        cmocka_unit_test(a_deep_program_in_an_interpreter_says_so),
        cmocka_unit_test(changes_are_noticed),
        cmocka_unit_test(a_finished_file_holds_no_memory),
        cmocka_unit_test(interrupting_it_leaves_the_file),
        cmocka_unit_test(nonsense_is_survived),
    };
    struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
    top_of_stack = (const char *)environ; /* all frames are below it */
    sigaction(SIGUSR1, &action, NULL);
    snprintf(snapshot_trace_path, sizeof(snapshot_trace_path), "/tmp/test_unwind-%d.argus",
             getpid());
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
