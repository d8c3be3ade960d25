/* Pairing against a model that knows the truth (channel_model.h): a pair reported as exact must be
 * correct, however the threads race; and with few races nothing may be left unpaired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "channel_model.h"

static const uint8_t kinds[] = {
    ARGUS_CHANNEL_PIPE,          ARGUS_CHANNEL_UNIX_STREAM, ARGUS_CHANNEL_UNIX_SEQPACKET,
    ARGUS_CHANNEL_UNIX_DATAGRAM, ARGUS_CHANNEL_TCP,         ARGUS_CHANNEL_UDP,
    ARGUS_CHANNEL_EVENTFD,       ARGUS_CHANNEL_MQUEUE};
enum { KINDS = sizeof(kinds) / sizeof(*kinds), SEEDS = 5, STALL_SEEDS = 20 };

static uint64_t unpaired(const uint64_t *reasons)
{
    uint64_t sum = 0;
    for (int i = 0; i < ARGUS_UNPAIRED_REASONS; i++)
        sum += reasons[i];
    return sum;
}

/* Runs all kinds with some seeds. Returns bytes that have an exact pair, of 1000, of the worst kind. */
static uint64_t run_all(struct model_options options)
{
    uint64_t worst = 1000;
    for (size_t i = 0; i < KINDS; i++) {
        uint64_t exact = 0, received = 0;
        options.kind = kinds[i];
        for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
            struct model_result result = model_run(&options);
            if (result.wrong)
                print_error("%s, seed %u: %u pairs are wrong\n", argus_channel_name(options.kind),
                            (unsigned)options.seed, (unsigned)result.wrong);
            assert_int_equal(result.wrong, 0);
            exact += result.exact_bytes;
            received += result.received_bytes;
        }
        uint64_t share = received ? exact * 1000 / received : 0;
        worst = share < worst ? share : worst;
    }
    return worst;
}

static void test_one_at_each_end(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 1, .messages = 400, .most_bytes = 3000, .hurry = 50};
    assert_true(run_all(options) >= 990);
}

/* With one thread at each end and few races, every byte has its exact pair. */
static void test_every_byte(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 1, .messages = 400, .most_bytes = 3000, .hurry = 97, .seed = 7};
    for (size_t i = 0; i < KINDS; i++) {
        options.kind = kinds[i];
        struct model_result result = model_run(&options);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.counts.ambiguous, 0);
        assert_int_equal(result.exact_bytes, result.received_bytes);
        assert_int_equal(unpaired(result.counts.unpaired_receives), 0);
    }
}

static void test_several_senders(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 3, .receivers = 1, .messages = 300, .most_bytes = 3000, .hurry = 95, .vague = 5};
    assert_true(run_all(options) > 0);
    options.hurry = 50;
    run_all(options);
}

static void test_several_receivers(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 3, .messages = 300, .most_bytes = 3000, .hurry = 90, .vague = 5};
    run_all(options);
}

static void test_peeks(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 1, .messages = 300, .most_bytes = 6000, .hurry = 50, .peek = 30};
    assert_true(run_all(options) >= 990);
}

/* The trace begins when the channel is in use; TCP's numbers and the pipe's wrap. */
static void test_old_channel(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 1, .messages = 400, .most_bytes = 3000, .hurry = 50, .skip = 37};
    assert_true(run_all(options) >= 850);
}

static void test_lost_records(void **unused)
{
    (void)unused;
    struct model_options options = {
        .senders = 1, .receivers = 1, .messages = 600, .most_bytes = 3000, .hurry = 80, .lose = 2};
    run_all(options);
}

static void test_semaphore(void **unused)
{
    (void)unused;
    struct model_options options = {.kind = ARGUS_CHANNEL_EVENTFD,
                                    .senders = 2,
                                    .receivers = 2,
                                    .messages = 300,
                                    .hurry = 80,
                                    .most_bytes = 10,
                                    .semaphore = true};
    for (options.seed = 1; options.seed <= SEEDS; options.seed++)
        assert_int_equal(model_run(&options).wrong, 0);
}

/* More than a pipe holds at once: the sender waits in the middle of its write. */
static void test_long_writes(void **unused)
{
    (void)unused;
    struct model_options options = {.kind = ARGUS_CHANNEL_PIPE,
                                    .senders = 1,
                                    .receivers = 1,
                                    .messages = 60,
                                    .hurry = 80,
                                    .most_bytes = 200000};
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct model_result result = model_run(&options);
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.exact_bytes, result.received_bytes);
    }
}

/* A thread is stopped between writing and reading the position, as on a virtual machine: its data
 * is at the end of a buffer which, according to all other records, still had room. */
static void test_stalled_writer(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {0, 1, 3, 20};
    uint64_t exact = 0, received = 0;
    for (size_t i = 0; i < 4 * STALL_SEEDS; i++) {
        struct model_options options = {.kind = ARGUS_CHANNEL_PIPE,
                                        .senders = 3,
                                        .receivers = 1,
                                        .messages = 1000,
                                        .most_bytes = i & 1 ? 4000 : 1500,
                                        .hurry = 90,
                                        .stall = 2,
                                        .sizes = sizes[i / STALL_SEEDS],
                                        .seed = i};
        struct model_result result = model_run(&options);
        if (result.wrong)
            print_error("%u sizes, seed %u: %u pairs are wrong\n", (unsigned)options.sizes,
                        (unsigned)i, (unsigned)result.wrong);
        assert_int_equal(result.wrong, 0);
        exact += result.exact_bytes;
        received += result.received_bytes;
    }
    assert_true(exact * 10 >= received * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_at_each_end), cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_several_senders), cmocka_unit_test(test_several_receivers),
        cmocka_unit_test(test_peeks),           cmocka_unit_test(test_old_channel),
        cmocka_unit_test(test_lost_records),    cmocka_unit_test(test_semaphore),
        cmocka_unit_test(test_long_writes),     cmocka_unit_test(test_stalled_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
