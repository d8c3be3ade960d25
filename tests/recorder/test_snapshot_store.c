/* The store of copied stacks: stored stacks are returned unchanged, and the oldest are dropped
 * first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "linux/snapshot_store.h"

enum { STACK_BYTES = 4096 };

static uint64_t stack[STACK_BYTES / 8];

/* Every `step`-th word is an address. */
static struct argus_snapshot snapshot_of(uint64_t id, size_t step)
{
    memset(stack, 0, sizeof(stack));
    for (size_t i = 0; i < STACK_BYTES / 8; i += step)
        stack[i] = id << 32 | (i + 1);
    struct argus_snapshot snapshot = {
        .id = id,
        .pid = 1000 + id,
        .tid = 2000 + id,
        .ticks = 77 * id,
        .register_count = 17,
        .end = ARGUS_SNAPSHOT_CUT,
        .stack = (const uint8_t *)stack,
        .stack_bytes = STACK_BYTES - 8,
    };
    for (uint32_t i = 0; i < snapshot.register_count; i++)
        snapshot.registers[i] = id * 100 + i;
    return snapshot;
}

static void assert_found(const struct snapshot_store *store, uint64_t id, size_t step)
{
    static uint8_t copy[STACK_BYTES];
    struct argus_snapshot found, wanted = snapshot_of(id, step);
    memset(copy, 0xee, sizeof(copy));
    assert_true(snapshot_store_find(store, id, copy, sizeof(copy), &found));
    assert_int_equal(found.id, id);
    assert_int_equal(found.pid, wanted.pid);
    assert_int_equal(found.tid, wanted.tid);
    assert_int_equal(found.ticks, wanted.ticks);
    assert_int_equal(found.end, wanted.end);
    assert_int_equal(found.stack_bytes, wanted.stack_bytes);
    assert_int_equal(found.register_count, wanted.register_count);
    assert_memory_equal(found.registers, wanted.registers, 17 * sizeof(uint64_t));
    assert_memory_equal(found.stack, wanted.stack, found.stack_bytes);
    assert_int_equal(copy[found.stack_bytes], 0xee);
    assert_false(snapshot_store_find(store, id, copy, found.stack_bytes - 1, &found));
}

static void test_in_and_out(void **state)
{
    (void)state;
    struct snapshot_store store;
    snapshot_store_init(&store, 1 << 20);
    for (uint64_t id = 1; id <= 20; id++) {
        struct argus_snapshot snapshot = snapshot_of(id, id);
        assert_true(snapshot_store_put(&store, &snapshot));
        assert_true(snapshot_store_put(&store, &snapshot));
    }
    for (uint64_t id = 1; id <= 20; id++)
        assert_found(&store, id, id);
    struct argus_snapshot found;
    assert_false(snapshot_store_find(&store, 21, (uint8_t *)stack, sizeof(stack), &found));
    snapshot_store_deinit(&store);
}

static void test_the_oldest_go(void **state)
{
    (void)state;
    struct snapshot_store store;
    snapshot_store_init(&store, 64 << 10);
    for (uint64_t id = 1; id <= 1000; id++) {
        struct argus_snapshot snapshot = snapshot_of(id, 8);
        assert_true(snapshot_store_put(&store, &snapshot));
        assert_true(store.young.words.length + store.old.words.length <= (64 << 10) / 8);
    }
    for (uint64_t id = 980; id <= 1000; id++)
        assert_found(&store, id, 8);
    struct argus_snapshot found;
    assert_false(snapshot_store_find(&store, 1, (uint8_t *)stack, sizeof(stack), &found));
    snapshot_store_deinit(&store);
}

static void test_without_room_nothing_is_kept(void **state)
{
    (void)state;
    struct snapshot_store store = {0};
    struct argus_snapshot found, snapshot = snapshot_of(1, 1);
    assert_true(snapshot_store_put(&store, &snapshot));
    assert_false(snapshot_store_find(&store, 1, (uint8_t *)stack, sizeof(stack), &found));
    snapshot_store_deinit(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_and_out),
        cmocka_unit_test(test_the_oldest_go),
        cmocka_unit_test(test_without_room_nothing_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
