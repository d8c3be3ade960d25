/* `argus why` on a made-up Mac (simulated_mac.h): everything but the calls into the kernel. */
#include <string.h>
#include <unistd.h>

#include "event/darwin/darwin.h"
#include "event/syscalls.h"
#include "live/macos/mac_state.h"
#include "why_on_mac.h"

enum { COMPARE = 1 };

/* --- Mach messages --- */

static void test_reply_goes_to_the_holder_of_the_right(void **state)
{
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_add(20, 1, "front");
    wait_for_message(mac_add_thread(200, 0x103), RECEIVE, 0, 0x903); /* idle: passed it on */
    mac_add_port(20, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_add(30, 1, "back");
    mac_add_thread(300, 0x103);
    mac_add_port(30, 0x1203, MAC_PORT_SEND_ONCE, 0xbbb);
    why("Editor");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_REPLY, ARGUS_LIVE_LINK_REPLIES, false);
    assert_step(1, 30, 300, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_RUNS);
    assert_says("Editor [10] waits for the answer to a Mach message to port 0x2003, which back "
                "[30] has to send. back [30] runs");
}

static void test_request_unread_in_the_queue(void **state)
{
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_add(20, 1, "server");
    MAC_WAIT(mac_add_thread(200, 0x103), "read", 5);
    mac_add_port(20, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_set_queue(20, 0x903, 3);
    const struct mac_fd terminal = {.fd = 5,
                                    .type = MAC_FD_FILE,
                                    .flags = MAC_OPEN_READ | MAC_OPEN_WRITE,
                                    .is_device = true,
                                    .path = "/dev/ttys001"};
    mac_add_fd(20, &terminal);
    why("10");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_REPLY, ARGUS_LIVE_LINK_UNREAD, false);
    assert_step(1, 20, 200, ARGUS_LIVE_TERMINAL, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_PERSON);
    assert_int_equal(answer.steps[0].wait.unread_there, 3);
    assert_says("server [20] has not read what it sent; messages of all senders that are still "
                "unread there: 3.");
}

/* The process that has to answer may be one whose rights are not known. */
static void test_unread_request_may_be_of_another_sender(void **state)
{
    char text[LIVE_TEXT_BYTES];
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_add(20, 1, "server");
    wait_for_message(mac_add_thread(200, 0x103), RECEIVE, 0, 0x903);
    mac_add_port(20, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_set_queue(20, 0x903, 1);
    mac_add(30, 1, "secret");
    mac_add_thread(300, 0x103);
    mac_set_denied(30, ARGUS_LIVE_DENIED_TASK);
    why("Editor");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_REPLY, ARGUS_LIVE_LINK_UNREAD, true);
    assert_says("server [20] probably has not read what it sent");
    assert_non_null(live_uncertain_text(live, &answer, 0, text, sizeof(text)));
    assert_non_null(strstr(text, "those of all senders; that the request of Editor [10] is among"));
}

/* Each has the right to answer the one before. */
static void test_circle_over_three_processes(void **state)
{
    (void)state;
    add_client(10, "A", 0xb, 0x1a);
    add_client(20, "B", 0xc, 0x1b);
    add_client(30, "C", 0xa, 0x1c);
    mac_add_port(20, 0x1203, MAC_PORT_SEND_ONCE, 0x1a);
    mac_add_port(30, 0x1203, MAC_PORT_SEND_ONCE, 0x1b);
    mac_add_port(10, 0x1203, MAC_PORT_SEND_ONCE, 0x1c);
    why("A");
    assert_end(3, ARGUS_LIVE_END_CIRCLE);
    assert_int_equal(answer.circle, 0);
    assert_says("Deadlock: each of 3 threads waits for the next, and the last for the first: A "
                "[10], B [20], C [30].");
}

/* A thread that only receives is idle, unless somebody holds the right to answer there. */
static void test_receive_only(void **state)
{
    (void)state;
    mac_add(10, 1, "Loop");
    wait_for_message(mac_add_thread(100, 0x103), RECEIVE, 0, 0x707);
    mac_add_port(10, 0x707, MAC_PORT_SET, 0xbbb);
    why("Loop");
    assert_end(1, ARGUS_LIVE_END_IDLE);
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_RECEIVE, ARGUS_LIVE_LINK_NONE, false);
}

static void test_receive_only_for_an_answer(void **state)
{
    (void)state;
    mac_add(10, 1, "Waits");
    wait_for_message(mac_add_thread(100, 0x103), RECEIVE, 0, 0x707);
    mac_add_port(10, 0x707, MAC_PORT_RECEIVE, 0xbbb);
    mac_add(20, 1, "answers");
    mac_add_thread(200, 0x103);
    mac_add_port(20, 0x1203, MAC_PORT_SEND_ONCE, 0xbbb);
    why("Waits");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_REPLY, ARGUS_LIVE_LINK_REPLIES, false);
    assert_end(2, ARGUS_LIVE_END_RUNS);
}

static void test_answer_of_the_kernel(void **state)
{
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_set_kernels(10, 0x2003);
    why("Editor");
    assert_end(1, ARGUS_LIVE_END_DEVICE);
    assert_says("waits for the kernel's answer to a Mach message; the kernel or a driver has to "
                "answer.");
}

/* The receiver may be a process whose ports this user may not see. */
static void test_receiver_not_seen(void **state)
{
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_add(20, 1, "secret");
    mac_add_thread(200, 0x103);
    mac_set_denied(20, ARGUS_LIVE_DENIED_OWNER);
    why("Editor");
    assert_end(1, ARGUS_LIVE_END_DENIED);
    assert_says(geteuid() == 0 ? "because this user may not see it."
                               : "because this user may not see it: run argus with sudo.");
}

static void test_full_queue(void **state)
{
    (void)state;
    mac_add(10, 1, "sender");
    wait_for_message(mac_add_thread(100, 0x103), SEND, 0x2003, 0);
    mac_add_port(10, 0x2003, MAC_PORT_SEND, 0xaaa);
    mac_add(20, 1, "stopped")->status = MAC_STOPPED;
    wait_for_message(mac_add_thread(200, 0x103), RECEIVE, 0, 0x903);
    mac_add_port(20, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_set_queue(20, 0x903, 5);
    why("sender");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_SEND, ARGUS_LIVE_LINK_READS, false);
    assert_step(1, 20, 200, ARGUS_LIVE_STOPPED, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_STOPPED);
}

/* Workers without work and the thread that receives are not to blame; the busy one is, probably. */
static void test_busy_thread_of_a_server(void **state)
{
    (void)state;
    add_client(10, "Editor", 0xaaa, 0xbbb);
    mac_add(20, 1, "server");
    wait_for_message(mac_add_thread(200, 0x103), RECEIVE, 0, 0x903);
    MAC_WAIT(mac_add_thread(201, 0x203), "workq_kernreturn", 4);
    MAC_WAIT(mac_add_thread(202, 0x303), "__semwait_signal", 0x1403, 0, 1, 1, 30, 0);
    MAC_WAIT(mac_add_thread(203, 0x403), "workq_kernreturn", 4);
    mac_add_port(20, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_add_port(20, 0x1203, MAC_PORT_SEND_ONCE, 0xbbb);
    why("Editor");
    assert_step(0, 10, 100, ARGUS_LIVE_MACH_REPLY, ARGUS_LIVE_LINK_REPLIES, true);
    assert_step(1, 20, 202, ARGUS_LIVE_SLEEP, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_SLEEPS);
    assert_says("thread [202] of server [20] sleeps by its own clock");
}

/* --- states and rights --- */

static void test_suspended_task(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    wait_for_message(mac_add_thread(100, 0x103), RECEIVE, 0, 0x707);
    mac_set_suspended(10, 1);
    why("App");
    assert_end(1, ARGUS_LIVE_END_STOPPED);
    assert_step(0, 10, 100, ARGUS_LIVE_SUSPENDED, ARGUS_LIVE_LINK_NONE, false);
}

static void test_traced_process_has_its_tracer(void **state)
{
    (void)state;
    struct mac_process *facts = mac_add(10, 20, "App");
    facts->status = MAC_STOPPED;
    facts->flags = MAC_TRACED;
    wait_for_message(mac_add_thread(100, 0x103), RECEIVE, 0, 0x707);
    mac_add(20, 1, "debugserver");
    mac_add_thread(200, 0x103);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_TRACED, ARGUS_LIVE_LINK_TRACES, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

static void test_zombie(void **state)
{
    (void)state;
    mac_add(10, 1, "gone")->status = MAC_ZOMBIE;
    why("gone");
    assert_end(1, ARGUS_LIVE_END_ZOMBIE);
}

static void test_denied(void **state)
{
    char text[LIVE_TEXT_BYTES];
    (void)state;
    mac_add(10, 1, "Mail");
    wait_for_message(mac_add_thread(100, 0x103), RECEIVE, 0, 0x707);
    mac_set_denied(10, ARGUS_LIVE_DENIED_TASK);
    why("Mail");
    assert_end(1, ARGUS_LIVE_END_DENIED);
    assert_step(0, 10, 0, ARGUS_LIVE_UNREADABLE, ARGUS_LIVE_LINK_NONE, false);
    assert_non_null(live_uncertain_text(live, &answer, 0, text, sizeof(text)));
    assert_non_null(strstr(text, "task_for_pid"));
    assert_non_null(strstr(text, "System Integrity Protection"));
}

/* --- registers and stacks --- */

static void test_call_numbers(void **state)
{
    static const uint8_t arm64[] = {0x01, 0x10, 0x00, 0xd4}, x86[] = {0x90, 0x90, 0x0f, 0x05};
    static const uint8_t other[] = {0, 0, 0, 0};
    struct mac_thread thread = {.has_registers = true, .is_arm64 = true};
    uint32_t number;
    (void)state;
    thread.number = (uint64_t)-47; /* mach_msg2_trap */
    assert_true(mac_call_number(&thread, arm64, &number));
    assert_int_equal(number, DARWIN_TRAP + 47);
    thread.number = 515;
    assert_true(mac_call_number(&thread, arm64, &number));
    assert_int_equal(number, 515);
    assert_false(mac_call_number(&thread, other, &number)); /* what an earlier call left */
    thread.number = 0x80000000;                             /* no call: it has no name */
    assert_true(mac_call_number(&thread, arm64, &number));
    assert_null(syscall_row(ARGUS_OS_DARWIN, 0, number)->name);
    thread.is_arm64 = false;
    thread.number = 0x100002f;
    assert_true(mac_call_number(&thread, x86, &number));
    assert_int_equal(number, DARWIN_TRAP + 47);
    thread.number = 0x2000003;
    assert_true(mac_call_number(&thread, x86, &number));
    assert_int_equal(number, 3);
    thread.number = 3;
    assert_false(mac_call_number(&thread, x86, &number));
}

/* A frame is the caller's frame pointer and a return address, which may be signed (arm64e). */
static void test_stack(void **state)
{
    const uint64_t frames[][2] = {{0x16fdf2100, 0x1a2b000000200004}, {0, 0x7d3c000000300008}};
    (void)state;
    mac_add(10, 1, "App");
    struct mac_thread *thread = mac_add_thread(100, 0x103);
    MAC_WAIT(thread, "ulock_wait", COMPARE, LOCK, 1, 0);
    thread->lr = 0x5511000000100010;
    thread->fp = 0x16fdf2000;
    mac_write(10, thread->fp, frames[0], sizeof(frames[0]));
    mac_write(10, frames[0][0], frames[1], sizeof(frames[1]));
    uint64_t pc = thread->pc;
    why("App");
    const struct argus_live_step *step = &answer.steps[0];
    assert_int_equal(step->frame_count, 4);
    assert_false(step->is_cut);
    const uint64_t expected[] = {pc, 0x100010, 0x200004, 0x300008};
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(answer.frames[step->first_frame + i].address, expected[i]);
}

/* Frames that go in a circle end there. */
static void test_broken_stack(void **state)
{
    const uint64_t frame[2] = {0x16fdf2000, 0x200004};
    (void)state;
    mac_add(10, 1, "App");
    struct mac_thread *thread = mac_add_thread(100, 0x103);
    MAC_WAIT(thread, "ulock_wait", COMPARE, LOCK, 1, 0);
    thread->fp = 0x16fdf2000;
    mac_write(10, thread->fp, frame, sizeof(frame));
    why("App");
    assert_true(answer.steps[0].is_cut);
    assert_int_equal(answer.steps[0].frame_count, 2);
}

/* struct dyld_all_image_infos with one image, whose header says how long its code is. */
static void test_images(void **state)
{
    const uint64_t list[2] = {(uint64_t)1 << 32 | 17, 0x90000};
    const uint64_t entry[3] = {0x100000000, 0x91000, 0};
    const uint32_t header[8] = {0xfeedfacf, 0, 0, 0, 1, 72, 0, 0};
    uint8_t segment[72] = {0x19, 0, 0, 0, 72, 0, 0, 0, '_', '_', 'T', 'E', 'X', 'T'};
    const uint64_t size = 0x100000;
    (void)state;
    mac_add(10, 1, "App");
    struct mac_thread *thread = mac_add_thread(100, 0x103);
    MAC_WAIT(thread, "ulock_wait", COMPARE, LOCK, 1, 0);
    memcpy(segment + 32, &size, sizeof(size));
    mac_set_images(10, 0x80000);
    mac_write(10, 0x80000, list, sizeof(list));
    mac_write(10, 0x90000, entry, sizeof(entry));
    mac_write(10, 0x91000,
              "/Applications/No such.app/App\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
              "\0\0\0\0\0\0\0\0\0\0\0\0\0",
              64);
    mac_write(10, 0x100000000, header, sizeof(header));
    mac_write(10, 0x100000020, segment, sizeof(segment));
    why("App");
    const struct argus_live_frame *frame = &answer.frames[answer.steps[0].first_frame];
    assert_string_equal(argus_live_text(live, frame->image), "App");
}

/* A thread that runs is sampled; the task is held for each look, and goes on. */
static void test_samples(void **state)
{
    const uint64_t frame[2] = {0, 0x200004};
    (void)state;
    mac_add(10, 1, "Busy");
    struct mac_thread *thread = mac_add_thread(100, 0x103);
    thread->has_registers = true;
    thread->pc = 0x100400;
    thread->sp = thread->fp = 0x16fdf2000;
    mac_write(10, thread->fp, frame, sizeof(frame));
    why("Busy");
    assert_end(1, ARGUS_LIVE_END_RUNS);
    assert_null(argus_live_look_closer(live, 100000000, &answer));
    assert_non_null(answer.samples);
    assert_int_equal(answer.samples->sampler, ARGUS_LIVE_SAMPLER_STOPS);
    assert_true(answer.samples->count > 0);
    assert_int_equal(answer.samples->stacks[0].frame_count, 2);
    assert_int_equal(mac_task_suspends(10), 0);
}

/* A debugger stays: its next walk has to open the tasks anew. */
static void test_tasks_are_closed_with_the_snapshot(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    mac_add_thread(100, 0x103);
    why("App");
    assert_true(mac_opened_tasks() > 0);
    argus_live_answer_deinit(&answer);
    argus_live_close(live);
    live = NULL;
    assert_int_equal(mac_opened_tasks(), 0);
}

/* --- who is meant --- */

static void test_names(void **state)
{
    uint32_t thread;
    (void)state;
    mac_add(10, 1, "Twice");
    mac_add_thread(100, 0x103);
    mac_add(20, 1, "Twice");
    mac_add_thread(200, 0x103);
    assert_null(argus_live_open(&live));
    struct argus_error *error = argus_live_find(live, "Twice", &thread);
    assert_int_equal(error->code, ARGUS_ERROR_USAGE);
    argus_error_destroy(error);
    error = argus_live_find(live, "Nobody", &thread);
    assert_int_equal(error->code, ARGUS_ERROR_NOT_FOUND);
    argus_error_destroy(error);
    assert_null(argus_live_find(live, "200", &thread)); /* the ID of a thread */
    assert_int_equal(argus_live_thread_at(live, thread)->tid, 200);
}

/* Without a name: main threads that wait for something that another one should have ended. */
static void test_look_around(void **state)
{
    struct argus_live_overview overview;
    (void)state;
    mac_add(10, 1, "Stuck");
    MAC_WAIT(mac_add_thread(100, 0x103), "psynch_mutexwait", LOCK, 0, 0, 0, 0);
    add_client(20, "Asks", 0xaaa, 0xbbb);
    mac_add(30, 1, "Loop");
    wait_for_message(mac_add_thread(300, 0x103), RECEIVE, 0, 0x707);
    mac_add_port(30, 0x903, MAC_PORT_RECEIVE, 0xaaa);
    mac_set_queue(30, 0x903, 1);
    assert_null(argus_live_open(&live));
    assert_null(argus_live_look_around(live, &overview));
    assert_int_equal(overview.thread_count, 2);
    assert_int_equal(argus_live_thread_at(live, overview.threads[0])->tid, 100);
    assert_int_equal(argus_live_thread_at(live, overview.threads[1])->tid, 200);
    argus_live_overview_deinit(&overview);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(reply_goes_to_the_holder_of_the_right),
        TEST(request_unread_in_the_queue),
        TEST(unread_request_may_be_of_another_sender),
        TEST(circle_over_three_processes),
        TEST(receive_only),
        TEST(receive_only_for_an_answer),
        TEST(answer_of_the_kernel),
        TEST(receiver_not_seen),
        TEST(full_queue),
        TEST(busy_thread_of_a_server),
        TEST(suspended_task),
        TEST(traced_process_has_its_tracer),
        TEST(zombie),
        TEST(denied),
        TEST(call_numbers),
        TEST(stack),
        TEST(broken_stack),
        TEST(images),
        TEST(samples),
        TEST(tasks_are_closed_with_the_snapshot),
        TEST(names),
        TEST(look_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
