/* What a trace lacks according to its notes, and which answers suffer from that (argus/gaps.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "argus/gaps.h"

struct found {
    struct argus_gaps gaps;
    struct argus_limits limits;
    char *sentence; /* the first; owned */
};

static struct found find(enum argus_gap_command command, uint32_t subjects,
                         const char *const *notes, size_t count)
{
    struct found found = {0};
    size_t at = 0;
    assert_null(argus_gaps_of_notes(notes, count, &found.gaps));
    assert_null(argus_limits_find(&found.gaps, command, subjects, &found.limits));
    if (found.limits.count > 0)
        assert_null(argus_limits_sentence(&found.limits, &at, &found.sentence));
    return found;
}

static void release(struct found *found)
{
    free(found->sentence);
    argus_limits_deinit(&found->limits);
    argus_gaps_deinit(&found->gaps);
}

#define FIND(command, subjects, ...)                                                               \
    find(ARGUS_GAP_##command, subjects, (const char *const[]){__VA_ARGS__},                        \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

#define NO_OBJECTS                                                                                 \
    "perf_event passes no objects of the kernel: waits and wake-ups do not name their file, "      \
    "socket or lock"
#define NO_MESSAGES                                                                                \
    "perf_event cannot record messages: no message edges, and waits do not name their peer"
#define BY_PERF "recorded by perf_event, because this kernel has no BTF: build one"

static void nothing_is_missing(void **state)
{
    (void)state;
    struct found found = FIND(DIAGNOSE, ARGUS_GAP_INPUT, "cpu 1 came online while recording",
                              "probes: libQt5Core.so.5 is not installed");
    assert_int_equal(found.gaps.count, 0);
    assert_int_equal(found.limits.count, 0);
    release(&found);
}

static void the_fallback_names_its_reason(void **state)
{
    (void)state;
    struct found found =
        FIND(DIAGNOSE, ARGUS_GAP_INPUT | ARGUS_GAP_LOCK, NO_OBJECTS, NO_MESSAGES, BY_PERF);
    assert_string_equal(found.sentence,
                        "Which thread should have answered is guessed from wake-ups, and which "
                        "thread held a lock is guessed from wake-ups, because this trace has no "
                        "messages and no kernel objects (recorded through perf_event: this kernel "
                        "has no BTF: build one).");
    release(&found);
}

static bool has_limit(const struct found *found, const char *name, const char *text)
{
    for (size_t i = 0; i < found->limits.count; i++)
        if (strcmp(found->limits.items[i].gap->name, name) == 0)
            return strcmp(found->limits.items[i].text, text) == 0;
    return false;
}

static void the_fallback_names_all_that_it_lacks(void **state)
{
    (void)state;
    struct found found = FIND(DIAGNOSE, ARGUS_GAP_INPUT | ARGUS_GAP_RUN | ARGUS_GAP_WAIT,
                              NO_OBJECTS, NO_MESSAGES, BY_PERF);
    assert_true(has_limit(&found, "memory",
                          "whether a thread waited for memory, and which process took it, is not "
                          "known"));
    assert_true(has_limit(&found, "cpu_limits",
                          "a CPU quota that was used up is guessed, and which CPUs a thread may "
                          "use is not known"));
    assert_true(has_limit(&found, "open_ends",
                          "which process has the other end of a pipe or socket open is known by "
                          "its messages alone"));
    assert_true(has_limit(&found, "names",
                          "the path of a file and the address of a remote peer are not known"));
    assert_true(
        has_limit(&found, "lasting", "what a thread did that waited all the time is not known"));
    release(&found);
    found = FIND(HANGS, 0, NO_OBJECTS, BY_PERF);
    assert_true(
        has_limit(&found, "lasting", "programs that were frozen all the time are not found"));
    release(&found);
}

static void a_tracepoint_of_memory_is_missing(void **state)
{
    (void)state;
    struct found found =
        FIND(DIAGNOSE, ARGUS_GAP_RUN,
             "this kernel has no tracepoint mm_vmscan_memcg_reclaim_begin: control "
             "groups at their memory limit are not known");
    assert_int_equal(found.gaps.count, 1);
    assert_string_equal(found.gaps.items[0].name, "memory");
    release(&found);
}

static void only_what_the_answer_is_about(void **state)
{
    (void)state;
    struct found found = FIND(DIAGNOSE, ARGUS_GAP_DISK, NO_MESSAGES, BY_PERF);
    assert_int_equal(found.gaps.count, 1);
    assert_int_equal(found.limits.count, 0);
    release(&found);
}

static void a_category_was_switched_off(void **state)
{
    (void)state;
    struct found found = FIND(MESSAGES, 0, "recorded without messages: no message edges");
    assert_string_equal(found.sentence,
                        "Messages are missing from this list, because this trace has no messages "
                        "(switched off by --without or --only).");
    release(&found);
    found = FIND(DIAGNOSE, ARGUS_GAP_WAIT, "recorded without syscalls: waits have no object");
    assert_int_equal(found.gaps.count, 3); /* messages and objects come from system calls */
    release(&found);
    found = FIND(HANGS, 0, "probes: the table of probes cannot be read");
    assert_string_equal(found.sentence,
                        "Unanswered pings of a window manager are not found, and user input is not "
                        "counted as pending, because this trace has no probes in libraries (the "
                        "table of probes could not be read).");
    release(&found);
}

static void a_category_was_left_out_for_a_while(void **state)
{
    (void)state;
    struct found found = FIND(HANGS, 0,
                              "recorded partly without syscalls, to stay below --max-overhead: "
                              "waits have no object, and there are no messages");
    assert_int_equal(found.gaps.count, 4);
    for (size_t i = 0; i < found.gaps.count; i++)
        assert_true(found.gaps.items[i].partly);
    assert_string_equal(found.sentence,
                        "Event loops are partly not recognised, so their hangs are not found: "
                        "waits have no object, and there are no messages (left out for a while, to "
                        "stay below --max-overhead).");
    release(&found);
}

static void one_program_was_refused(void **state)
{
    (void)state;
    struct found found =
        FIND(DIAGNOSE, ARGUS_GAP_INPUT,
             "Linux 5.15: program on_receive_length was refused by this kernel: messages over UDP "
             "have no receiver");
    assert_int_equal(found.gaps.count, 1);
    assert_true(found.gaps.items[0].partly);
    assert_string_equal(found.sentence,
                        "Which thread should have answered is partly guessed from wake-ups: "
                        "messages over UDP have no receiver (Linux 5.15: program "
                        "on_receive_length was refused by this kernel).");
    release(&found);
}

static void the_verifiers_words_are_left_out(void **state)
{
    (void)state;
    struct found found = FIND(DIAGNOSE, ARGUS_GAP_INPUT,
                              "the program on_receive_length was refused by this kernel: messages "
                              "have no receiver\tR1 type=inv: expected fp");
    assert_int_equal(found.gaps.count, 1);
    assert_string_equal(found.gaps.items[0].loss, "messages have no receiver");
    assert_string_equal(found.gaps.items[0].reason,
                        "the program on_receive_length was refused by this kernel");
    release(&found);
}

static void a_tracepoint_is_missing(void **state)
{
    (void)state;
    struct found found =
        FIND(SLICE, 0, "this kernel has no tracepoint block_rq_issue: no edges of disks");
    assert_string_equal(found.gaps.items[0].name, "block");
    assert_string_equal(found.gaps.items[0].loss, "no edges of disks");
    release(&found);
    found = FIND(SLICE, 0,
                 "cannot record the tracepoint hrtimer_start (Permission denied): no "
                 "timer edges");
    assert_string_equal(found.gaps.items[0].name, "timers");
    release(&found);
}

static void an_unknown_program_is_other(void **state)
{
    (void)state;
    struct found found =
        FIND(HANGS, 0, "program on_new_thing was refused by this kernel: new things are unknown");
    assert_string_equal(found.gaps.items[0].name, "other");
    assert_int_equal(found.limits.count, 1);
    release(&found);
}

/* The note as recorder/linux/pid_namespace.c writes it. */
static void names_are_missing(void **state)
{
    (void)state;
    struct found found =
        FIND(DIAGNOSE, 0,
             "/proc hides processes from the recorder (hidepid): what began before has no names");
    assert_string_equal(found.gaps.items[0].name, "lives");
    release(&found);
    found = FIND(DIAGNOSE, 0,
                 "the recorder runs in a pid namespace of its own (a container): thread ids are "
                 "the host's, and what began before has no names");
    assert_string_equal(found.gaps.items[0].name, "lives");
    release(&found);
}

/* If a whole is missing, its parts are not listed as well; "program" alone indicates nothing. */
static void whole_and_part(void **state)
{
    (void)state;
    struct found found =
        FIND(MESSAGES, 0, "this kernel has no tracepoint sk_data_ready: paired by order",
             "recorded without messages: no message edges", "the program on_exit did well: yes");
    assert_int_equal(found.gaps.count, 1);
    assert_false(found.gaps.items[0].partly);
    release(&found);
}

static void an_attacker_writes_notes(void **state)
{
    (void)state;
    struct found found =
        FIND(DIAGNOSE, ~0u, "", ": ", "program ", "program  was refused by this kernel",
             "program x was refused by this kernel", "this kernel has no tracepoint %s%n: %s",
             "recorded by perf_event, because ");
    release(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_missing),
        cmocka_unit_test(the_fallback_names_its_reason),
        cmocka_unit_test(the_fallback_names_all_that_it_lacks),
        cmocka_unit_test(a_tracepoint_of_memory_is_missing),
        cmocka_unit_test(only_what_the_answer_is_about),
        cmocka_unit_test(a_category_was_switched_off),
        cmocka_unit_test(a_category_was_left_out_for_a_while),
        cmocka_unit_test(one_program_was_refused),
        cmocka_unit_test(the_verifiers_words_are_left_out),
        cmocka_unit_test(a_tracepoint_is_missing),
        cmocka_unit_test(an_unknown_program_is_other),
        cmocka_unit_test(names_are_missing),
        cmocka_unit_test(whole_and_part),
        cmocka_unit_test(an_attacker_writes_notes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
