/* The same for locks, descriptors and children. */
#include <stdio.h>
#include <string.h>

#include "why_on_mac.h"

enum { UNFAIR = 2 };

/* --- locks --- */

static void test_unfair_lock(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "ulock_wait", UNFAIR | 0x01000000, LOCK, 0x902, 0);
    mac_add_thread(101, 0x903);
    MAC_WAIT(mac_add_thread(102, 0xa03), "workq_kernreturn", 4);
    mac_write_32(10, LOCK, 0x902); /* with the waiters' bit */
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_MUTEX, ARGUS_LIVE_LINK_HOLDS, false);
    assert_step(1, 10, 101, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_RUNS);
    assert_says("App [10] waits for mutex 0x50000, which thread [101] of App [10] holds.");
}

/* Two threads, two locks. */
static void test_deadlock_of_two_locks(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "ulock_wait", UNFAIR, LOCK, 0x902, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "psynch_mutexwait", LOCK + 64, 0, 0, 1, 0);
    mac_write_32(10, LOCK, 0x902);
    mac_write_64(10, LOCK + 64 + 24, 100);
    why("App");
    assert_step(1, 10, 101, ARGUS_LIVE_MUTEX, ARGUS_LIVE_LINK_HOLDS, false);
    assert_end(2, ARGUS_LIVE_END_CIRCLE);
    assert_says("Deadlock: each of 2 threads");
}

/* The word in memory counts, not the owner that the call was given. */
static void test_pthread_mutex(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "psynch_mutexwait", LOCK + 4, 0, 0, 102, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "mach_wait_until_trap", 12345);
    mac_add_thread(102, 0xa03);
    mac_write_64(10, LOCK + 32, 101); /* the lock is at a multiple of 4 only */
    why("App");
    assert_step(1, 10, 101, ARGUS_LIVE_SLEEP, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_SLEEPS);
}

static void add_shared_lock(bool is_shared)
{
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "psynch_mutexwait", LOCK, 0, 0, 0, 0);
    mac_write_64(10, LOCK + 24, 201);
    mac_write_32(10, LOCK + 12, is_shared ? 0x10 : 0x20);
    mac_add(20, 1, "other");
    wait_for_message(mac_add_thread(200, 0x103), RECEIVE, 0, 0x903);
    mac_add_thread(201, 0x203);
}

static void test_mutex_of_another_process(void **state)
{
    (void)state;
    add_shared_lock(true);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_MUTEX, ARGUS_LIVE_LINK_HOLDS, false);
    assert_step(1, 20, 201, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

static void test_private_mutex_has_no_holder_elsewhere(void **state)
{
    (void)state;
    add_shared_lock(false);
    why("App");
    assert_end(1, ARGUS_LIVE_END_UNKNOWN);
}

static void test_rwlock_has_its_writer(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "psynch_rw_rdlock", LOCK, 0, 0, 0, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "fsync", 3);
    mac_write_64(10, LOCK + 24, 101);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_RWLOCK, ARGUS_LIVE_LINK_HOLDS, false);
    assert_int_equal(answer.step_count, 2);
}

/* tl_exit_gate has the name of the thread whose end is waited for, and lies in that thread's own
 * structure. */
static void test_join(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    struct mac_thread *joiner = mac_add_thread(100, 0x103);
    struct mac_thread *joined = mac_add_thread(101, 0x903);
    uint64_t gate = joined->handle - 0xa0;
    MAC_WAIT(joined, "mach_wait_until_trap", 12345);
    MAC_WAIT(joiner, "ulock_wait", UNFAIR, gate, 0x903, 0);
    mac_write_32(10, gate, 0x903);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_JOIN, ARGUS_LIVE_LINK_JOINED, false);
    assert_step(1, 10, 101, ARGUS_LIVE_SLEEP, ARGUS_LIVE_LINK_NONE, false);
    assert_says("App [10] waits for the end of a thread: thread [101] of App [10].");
}

/* A lock whose word is no name of a thread of the process names nobody. */
static void test_stale_word(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "ulock_wait", UNFAIR, LOCK, 0x5503, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "workq_kernreturn", 4);
    mac_write_32(10, LOCK, 0x5503);
    why("App");
    assert_end(1, ARGUS_LIVE_END_UNKNOWN);
    assert_step(0, 10, 100, ARGUS_LIVE_MUTEX, ARGUS_LIVE_LINK_NONE, false);
}

enum { WORKLOOP = -17, WAIT = 4, WAKE_AND_DISCOVER = 0x188, QUEUE = 0x7000 };

static void write_event(uint64_t at, int16_t filter, uint32_t flags, uint64_t address)
{
    const uint64_t queue = QUEUE;
    uint8_t event[72] = {0}; /* struct kevent_qos_s */
    memcpy(event + 8, &filter, sizeof(filter));
    memcpy(event + 16, &queue, sizeof(queue));
    memcpy(event + 24, &flags, sizeof(flags));
    memcpy(event + 48, &address, sizeof(address));
    mac_write(10, at, event, sizeof(event));
}

static void add_queue(uint64_t state_at, uint64_t events)
{
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "kevent_id", QUEUE, 0x8000, events, 0x8000, events, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "read", 7);
    mac_write_64(10, state_at, 0x0020000100000900); /* dq_state: its owner in the lower half */
    mac_add(20, 1, "writer");
    mac_add_thread(200, 0x103);
    mac_add_pipe(10, 7, 20, 8, 0x77, 0);
}

static void assert_queue(void)
{
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_DISPATCH, ARGUS_LIVE_LINK_HOLDS, false);
    assert_step(1, 10, 101, ARGUS_LIVE_PIPE, ARGUS_LIVE_LINK_WRITES, false);
    assert_step(2, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_end(3, ARGUS_LIVE_END_RUNS);
}

/* Where the state is, an event before the wait's own tells. */
static void test_dispatch_queue_whose_owner_the_kernel_looks_for(void **state)
{
    (void)state;
    add_queue(0x7100, 2);
    write_event(0x8000, WORKLOOP, WAKE_AND_DISCOVER, 0x7100);
    write_event(0x8000 + 72, WORKLOOP, WAIT, 0);
    assert_queue();
}

static void test_dispatch_queue(void **state)
{
    (void)state;
    add_queue(QUEUE + 56, 1);
    write_event(0x8000, WORKLOOP, WAIT, 0);
    assert_queue();
}

/* The same call, without a wait for the queue. */
static void test_workloop_without_a_wait(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "kevent_id", 0x7000, 0x8000, 1, 0x8000, 1, 0);
    write_event(0x8000, WORKLOOP, 1, 0x7038);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_KQUEUE, ARGUS_LIVE_LINK_NONE, false);
    assert_end(1, ARGUS_LIVE_END_IDLE);
}

static void test_condition_of_the_only_busy_thread(void **state)
{
    (void)state;
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), "psynch_cvwait", 0x6000, 0, 0, 0x6100, 0, 0, 0, 0);
    MAC_WAIT(mac_add_thread(101, 0x903), "workq_kernreturn", 4);
    mac_add_thread(102, 0xa03);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_CONDITION, ARGUS_LIVE_LINK_SIGNALS, true);
    assert_step(1, 10, 102, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_false(answer.steps[0].wait.has_timeout);
}

/* --- descriptors, children --- */

static void test_pipe_to_a_stopped_reader(void **state)
{
    (void)state;
    mac_add(10, 1, "writer");
    MAC_WAIT(mac_add_thread(100, 0x103), "write_nocancel", 1, 0x9000, 512);
    mac_add(20, 1, "reader")->status = MAC_STOPPED;
    MAC_WAIT(mac_add_thread(200, 0x103), "read", 0);
    mac_add_pipe(20, 0, 10, 1, 0x77, 16384);
    why("writer");
    assert_step(0, 10, 100, ARGUS_LIVE_PIPE, ARGUS_LIVE_LINK_READS, false);
    assert_step(1, 20, 200, ARGUS_LIVE_STOPPED, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_STOPPED);
    assert_says("writer [10] waits for room in a full pipe, from which reader [20] can read; 16384 "
                "bytes that it sent are still unread there. reader [20] was stopped by a signal");
}

static void test_pipe_without_another_end(void **state)
{
    (void)state;
    mac_add(10, 1, "reader");
    MAC_WAIT(mac_add_thread(100, 0x103), "read", 0);
    const struct mac_fd fd = {.fd = 0, .type = MAC_FD_PIPE, .flags = MAC_OPEN_READ, .handle = 0x77};
    mac_add_fd(10, &fd);
    why("reader");
    assert_end(1, ARGUS_LIVE_END_NOBODY);
}

static void add_fifo(const char *path)
{
    struct mac_fd fifo = {.type = MAC_FD_FILE, .flags = MAC_OPEN_READ, .is_fifo = true};
    snprintf(fifo.path, sizeof(fifo.path), "%s", path);
    mac_add(10, 1, "reader");
    MAC_WAIT(mac_add_thread(100, 0x103), "read", 0);
    mac_add_fd(10, &fifo);
    mac_add(20, 1, "other");
    mac_add_thread(200, 0x103);
    fifo.flags = MAC_OPEN_WRITE;
    mac_add_fd(20, &fifo);
    why("reader");
}

static void test_fifo(void **state)
{
    (void)state;
    add_fifo("/tmp/fifo");
    assert_step(0, 10, 100, ARGUS_LIVE_PIPE, ARGUS_LIVE_LINK_WRITES, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

/* Files without a path, such as removed ones, are not one file. */
static void test_fifo_without_path(void **state)
{
    (void)state;
    add_fifo("");
    assert_step(0, 10, 100, ARGUS_LIVE_OTHER, ARGUS_LIVE_LINK_NONE, false);
    assert_end(1, ARGUS_LIVE_END_UNKNOWN);
}

static void test_child(void **state)
{
    (void)state;
    mac_add(10, 1, "shell");
    MAC_WAIT(mac_add_thread(100, 0x103), "wait4", 20, 0, 0, 0);
    mac_add(20, 10, "sleep");
    MAC_WAIT(mac_add_thread(200, 0x103), "__semwait_signal", 0x1403, 0, 1, 1, 30, 0);
    mac_add(30, 10, "other");
    mac_add_thread(300, 0x103);
    why("shell");
    assert_step(0, 10, 100, ARGUS_LIVE_CHILD, ARGUS_LIVE_LINK_CHILD, false);
    assert_step(1, 20, 200, ARGUS_LIVE_SLEEP, ARGUS_LIVE_LINK_NONE, false);
    assert_end(2, ARGUS_LIVE_END_SLEEPS);
}

static struct mac_fd unix_end(uint32_t fd, uint64_t id, uint64_t peer, const char *name,
                              const char *peer_name)
{
    struct mac_fd ret = {.fd = fd,
                         .type = MAC_FD_SOCKET,
                         .socket = {.kind = MAC_SOCKET_UNIX, .id = id, .peer = peer}};
    snprintf(ret.socket.name, sizeof(ret.socket.name), "%s", name);
    snprintf(ret.socket.peer_name, sizeof(ret.socket.peer_name), "%s", peer_name);
    return ret;
}

static void test_unix_socket(void **state)
{
    (void)state;
    struct mac_fd client = unix_end(3, 0x111, 0x222, "", "/var/run/service");
    struct mac_fd server = unix_end(9, 0x222, 0x111, "/var/run/service", "");
    server.socket.unread = 40;
    mac_add(10, 1, "client");
    MAC_WAIT(mac_add_thread(100, 0x103), "recvmsg", 3);
    mac_add_fd(10, &client);
    mac_add(20, 1, "service");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &server);
    why("client");
    assert_step(0, 10, 100, ARGUS_LIVE_UNIX_SOCKET, ARGUS_LIVE_LINK_PEER, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_int_equal(answer.steps[0].wait.unread_there, 40);
    assert_says("waits for data from a unix socket (/var/run/service)");
}

/* The other end has no descriptor yet. */
static void test_connection_that_nobody_accepted(void **state)
{
    (void)state;
    struct mac_fd client = unix_end(3, 0x111, 0x222, "", "/var/run/service");
    struct mac_fd listener = unix_end(4, 0x333, 0, "/var/run/service", "");
    listener.socket.is_listening = true;
    listener.socket.waiting = 1;
    mac_add(10, 1, "client");
    MAC_WAIT(mac_add_thread(100, 0x103), "read", 3);
    mac_add_fd(10, &client);
    mac_add(20, 1, "service");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &listener);
    why("client");
    assert_step(0, 10, 100, ARGUS_LIVE_UNIX_SOCKET, ARGUS_LIVE_LINK_ACCEPTS, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

static struct mac_fd tcp_end(uint32_t fd, uint64_t id, uint16_t local, uint16_t remote)
{
    uint32_t loopback;
    memcpy(&loopback, (const uint8_t[]){127, 0, 0, 1}, sizeof(loopback));
    struct mac_fd ret = {.fd = fd,
                         .type = MAC_FD_SOCKET,
                         .socket = {.kind = MAC_SOCKET_TCP,
                                    .id = id,
                                    .is_listening = !remote,
                                    .is_connected = remote != 0,
                                    .local = {loopback},
                                    .remote = {remote ? loopback : 0},
                                    .local_port = local,
                                    .remote_port = remote}};
    return ret;
}

static void test_tcp(void **state)
{
    (void)state;
    struct mac_fd client = tcp_end(3, 0x111, 50000, 80), server = tcp_end(4, 0x222, 80, 50000);
    struct mac_fd listener = tcp_end(5, 0x333, 80, 0);
    mac_add(10, 1, "client");
    MAC_WAIT(mac_add_thread(100, 0x103), "recvfrom", 3);
    mac_add_fd(10, &client);
    mac_add(20, 1, "service");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &listener);
    mac_add_fd(20, &server);
    why("client");
    assert_step(0, 10, 100, ARGUS_LIVE_TCP, ARGUS_LIVE_LINK_PEER, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

static void test_tcp_that_nobody_accepted(void **state)
{
    (void)state;
    struct mac_fd client = tcp_end(3, 0x111, 50000, 80), listener = tcp_end(5, 0x333, 80, 0);
    listener.socket.waiting = 1;
    mac_add(10, 1, "client");
    MAC_WAIT(mac_add_thread(100, 0x103), "recvfrom", 3);
    mac_add_fd(10, &client);
    mac_add(20, 1, "service");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &listener);
    why("client");
    assert_step(0, 10, 100, ARGUS_LIVE_TCP, ARGUS_LIVE_LINK_ACCEPTS, false);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

/* Here too, connections wait at that port: not this one. */
static void test_tcp_to_another_machine(void **state)
{
    (void)state;
    struct mac_fd client = tcp_end(3, 0x111, 50000, 80), listener = tcp_end(5, 0x333, 80, 0);
    memcpy(client.socket.remote, (const uint8_t[]){192, 0, 2, 1}, 4);
    listener.socket.local[0] = 0;
    listener.socket.waiting = 1;
    mac_add(10, 1, "client");
    MAC_WAIT(mac_add_thread(100, 0x103), "recvfrom", 3);
    mac_add_fd(10, &client);
    mac_add(20, 1, "service");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &listener);
    why("client");
    assert_step(0, 10, 100, ARGUS_LIVE_TCP, ARGUS_LIVE_LINK_NONE, false);
    assert_end(1, ARGUS_LIVE_END_REMOTE);
}

/* A select of one descriptor is a read with a time-out. */
static void test_select_of_one(void **state)
{
    (void)state;
    mac_add(10, 1, "reader");
    MAC_WAIT(mac_add_thread(100, 0x103), "select", 6, 0x9000, 0, 0, 0);
    mac_write_64(10, 0x9000, 1 << 5);
    mac_add(20, 1, "writer");
    mac_add_thread(200, 0x103);
    mac_add_pipe(10, 5, 20, 1, 0x77, 0);
    why("reader");
    assert_step(0, 10, 100, ARGUS_LIVE_PIPE, ARGUS_LIVE_LINK_WRITES, false);
    assert_end(2, ARGUS_LIVE_END_RUNS);
}

static void add_locked_file(const char *call)
{
    const struct mac_fd fd = {
        .fd = 3, .type = MAC_FD_FILE, .flags = 3, .path = "/Users/you/library.db"};
    const struct {
        int64_t start, length;
        int32_t pid;
        int16_t type, whence;
    } range = {0, 10, 0, 3, 0};
    mac_add(10, 1, "App");
    MAC_WAIT(mac_add_thread(100, 0x103), call, 3, 0xffffffff00000009, 0x9000);
    mac_write(10, 0x9000, &range, sizeof(range));
    mac_add_fd(10, &fd);
    mac_add(20, 1, "indexer");
    mac_add_thread(200, 0x103);
    mac_add_fd(20, &fd);
    mac_add(30, 1, "holder");
    mac_add_thread(300, 0x103);
}

static void test_file_lock_has_its_holder(void **state)
{
    (void)state;
    add_locked_file("fcntl");
    mac_set_lock_holder(30);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_FILE_LOCK, ARGUS_LIVE_LINK_HOLDS, false);
    assert_step(1, 30, 300, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
    assert_says("waits for a lock of the file (/Users/you/library.db), which holder [30] holds");
}

/* Of flock(), the kernel tells nobody: only who has the file open. */
static void test_flock_is_a_guess(void **state)
{
    (void)state;
    add_locked_file("flock");
    mac_set_lock_holder(30);
    why("App");
    assert_step(0, 10, 100, ARGUS_LIVE_FILE_LOCK, ARGUS_LIVE_LINK_HOLDS, true);
    assert_step(1, 20, 200, ARGUS_LIVE_RUNS, ARGUS_LIVE_LINK_NONE, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(unfair_lock),
        TEST(deadlock_of_two_locks),
        TEST(pthread_mutex),
        TEST(mutex_of_another_process),
        TEST(private_mutex_has_no_holder_elsewhere),
        TEST(rwlock_has_its_writer),
        TEST(join),
        TEST(stale_word),
        TEST(dispatch_queue_whose_owner_the_kernel_looks_for),
        TEST(dispatch_queue),
        TEST(workloop_without_a_wait),
        TEST(condition_of_the_only_busy_thread),
        TEST(pipe_to_a_stopped_reader),
        TEST(pipe_without_another_end),
        TEST(fifo),
        TEST(fifo_without_path),
        TEST(child),
        TEST(unix_socket),
        TEST(connection_that_nobody_accepted),
        TEST(tcp),
        TEST(tcp_that_nobody_accepted),
        TEST(tcp_to_another_machine),
        TEST(select_of_one),
        TEST(file_lock_has_its_holder),
        TEST(flock_is_a_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
