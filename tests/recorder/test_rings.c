/* The reader of the rings against a writer that follows shared.h's rules in ordinary memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/linux/rings.h"

#define CPUS  2
#define SLOTS 4096

struct fixture {
    struct rings rings;
    struct argus_record *records; /* the writer's view */
    struct bpf_cpu *cpus;
};

static void *shared_memory(size_t bytes, int *ret_fd)
{
    *ret_fd = memfd_create("ring", MFD_CLOEXEC);
    assert_true(*ret_fd >= 0);
    assert_int_equal(ftruncate(*ret_fd, (off_t)bytes), 0);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_fd, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    return memory;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    int ring_fd, cpus_fd;
    fixture->records = shared_memory(CPUS * SLOTS * sizeof(struct argus_record), &ring_fd);
    fixture->cpus = shared_memory(CPUS * sizeof(struct bpf_cpu), &cpus_fd);
    assert_null(rings_init(&fixture->rings, ring_fd, cpus_fd, CPUS, SLOTS));
    close(ring_fd);
    close(cpus_fd);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    rings_deinit(&fixture->rings);
    munmap(fixture->records, CPUS * SLOTS * sizeof(struct argus_record));
    munmap(fixture->cpus, CPUS * sizeof(struct bpf_cpu));
    free(fixture);
    return 0;
}

static struct argus_record *claim(struct fixture *fixture, uint32_t cpu, uint64_t *ret_sequence)
{
    *ret_sequence = fixture->cpus[cpu].head++;
    return &fixture->records[cpu * SLOTS + *ret_sequence % SLOTS];
}

static void write_records(struct fixture *fixture, uint32_t cpu, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t sequence;
        struct argus_record *record = claim(fixture, cpu, &sequence);
        *record = (struct argus_record){.timestamp = sequence, .cpu = cpu, .unused = sequence + 1};
    }
}

/* Reads all records; they must be `from`, from + 1, … */
static size_t read_from(struct fixture *fixture, uint32_t cpu, uint64_t from, uint64_t *ret_lost)
{
    struct argus_record records[1000];
    size_t total = 0, count;
    *ret_lost = 0;
    do {
        uint64_t lost;
        count = rings_read(&fixture->rings, cpu, records, 1000, &lost);
        *ret_lost += lost;
        from += lost;
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(records[i].timestamp, from + total + i);
            assert_int_equal(records[i].unused, 0);
        }
        total += count;
    } while (count > 0);
    return total;
}

static void everything_in_order_over_many_rounds(void **state)
{
    struct fixture *fixture = *state;
    uint64_t from = 0, lost;
    for (size_t step = 1; step < SLOTS; step += 401) {
        write_records(fixture, 1, step);
        assert_int_equal(read_from(fixture, 1, from, &lost), step);
        assert_int_equal(lost, 0);
        from += step;
    }
    assert_int_equal(read_from(fixture, 0, 0, &lost), 0);
}

static void a_full_ring_is_not_a_loss(void **state)
{
    struct fixture *fixture = *state;
    uint64_t lost;
    write_records(fixture, 0, SLOTS);
    assert_int_equal(read_from(fixture, 0, 0, &lost), SLOTS);
    assert_int_equal(lost, 0);
}

static void what_is_overwritten_is_counted(void **state)
{
    struct fixture *fixture = *state;
    uint64_t lost;
    write_records(fixture, 0, 3 * SLOTS + 5);
    size_t kept = read_from(fixture, 0, 0, &lost);
    assert_int_equal(kept + lost, 3 * SLOTS + 5);
    assert_true(kept > SLOTS / 2 && kept <= SLOTS);
    write_records(fixture, 0, 10);
    assert_int_equal(read_from(fixture, 0, 3 * SLOTS + 5, &lost), 10);
    assert_int_equal(lost, 0);
}

/* An interrupt writes a record while the interrupted program is writing one. */
static void an_unfinished_record_holds_the_reader(void **state)
{
    struct fixture *fixture = *state;
    uint64_t sequence, lost;
    write_records(fixture, 0, 3);
    struct argus_record *unfinished = claim(fixture, 0, &sequence);
    write_records(fixture, 0, 2);
    assert_int_equal(read_from(fixture, 0, 0, &lost), 3);
    *unfinished = (struct argus_record){.timestamp = sequence, .unused = sequence + 1};
    assert_int_equal(read_from(fixture, 0, 3, &lost), 3);
    assert_int_equal(lost, 0);
}

static void another_cursor_leaves_the_reader_alone(void **state)
{
    struct fixture *fixture = *state;
    struct argus_record records[10];
    uint64_t lost, next = SLOTS;
    write_records(fixture, 0, SLOTS + 100);
    assert_int_equal(rings_read_at(&fixture->rings, 0, &next, records, 10, &lost), 10);
    assert_int_equal(lost, 0);
    assert_int_equal(next, SLOTS + 10);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(records[i].timestamp, SLOTS + i);
    size_t kept = read_from(fixture, 0, 0, &lost);
    assert_int_equal(kept + lost, SLOTS + 100);
}

static void slots_are_a_power_of_two(void **state)
{
    (void)state;
    assert_int_equal(rings_slot_count(512ull << 20, 2), 4u << 20);
    assert_int_equal(rings_slot_count(512ull << 20, 3), 2u << 20);
    assert_int_equal(rings_slot_count(1, 64), 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_in_order_over_many_rounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_ring_is_not_a_loss, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_overwritten_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unfinished_record_holds_the_reader, set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_cursor_leaves_the_reader_alone, set_up, tear_down),
        cmocka_unit_test(slots_are_a_power_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
