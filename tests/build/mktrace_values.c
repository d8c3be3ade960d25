/* Words of the text form that stand for numbers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mktrace.h"

/* To add a name: one row. System calls are those of x86_64. */
static const struct name {
    const char *name;
    uint64_t value;
} names[] = {
    /* state= of switch */
    {"R", ARGUS_LINUX_STATE_RUNNING},
    {"S", ARGUS_LINUX_STATE_INTERRUPTIBLE},
    {"D", ARGUS_LINUX_STATE_UNINTERRUPTIBLE},
    {"T", ARGUS_LINUX_STATE_STOPPED},
    {"X", ARGUS_LINUX_STATE_DEAD},
    /* context= of make_runnable */
    {"task", ARGUS_CONTEXT_TASK},
    {"softirq", ARGUS_CONTEXT_SOFTIRQ},
    {"hardirq", ARGUS_CONTEXT_HARDIRQ},
    {"nmi", ARGUS_CONTEXT_NMI},
    {"unknown", ARGUS_CONTEXT_UNKNOWN},
    /* why= of stack */
    {"block", ARGUS_STACK_BLOCK},
    {"wake", ARGUS_STACK_WAKE},
    {"call", ARGUS_STACK_CALL},
    {"preempted", ARGUS_STACK_PREEMPTED},
    /* mode= of object */
    {"fifo", S_IFIFO},
    {"socket", S_IFSOCK},
    {"file", S_IFREG},
    {"device", S_IFCHR},
    /* kind= and flags= of message */
    {"pipe", ARGUS_CHANNEL_PIPE},
    {"unix_stream", ARGUS_CHANNEL_UNIX_STREAM},
    {"unix_seqpacket", ARGUS_CHANNEL_UNIX_SEQPACKET},
    {"unix_datagram", ARGUS_CHANNEL_UNIX_DATAGRAM},
    {"tcp", ARGUS_CHANNEL_TCP},
    {"udp", ARGUS_CHANNEL_UDP},
    {"eventfd", ARGUS_CHANNEL_EVENTFD},
    {"signalfd", ARGUS_CHANNEL_SIGNALFD},
    {"inotify", ARGUS_CHANNEL_INOTIFY},
    {"mqueue", ARGUS_CHANNEL_MQUEUE},
    {"sent", ARGUS_MESSAGE_POSITION},
    {"received", ARGUS_MESSAGE_POSITION | ARGUS_MESSAGE_RECEIVE},
    {"looked", ARGUS_MESSAGE_POSITION | ARGUS_MESSAGE_RECEIVE | ARGUS_MESSAGE_PEEK},
    {"sent_somewhere", 0},
    {"received_somewhere", ARGUS_MESSAGE_RECEIVE},
    {"sent_doubtful", ARGUS_MESSAGE_POSITION | ARGUS_MESSAGE_DOUBTFUL},
    /* what= and flags= of file_lock; its kind= is 1 flock, 2 process, 3 open, 4 a lock file */
    {"got", ARGUS_FILE_LOCK_GOT},
    {"refused", ARGUS_FILE_LOCK_REFUSED},
    {"released", ARGUS_FILE_LOCK_RELEASED},
    {"waits", ARGUS_FILE_LOCK_WAITS},
    {"shared", 0},
    {"exclusive", ARGUS_FILE_LOCK_EXCLUSIVE},
    {"held", ARGUS_FILE_LOCK_HELD},
    {"held_exclusive", ARGUS_FILE_LOCK_HELD | ARGUS_FILE_LOCK_EXCLUSIVE},
    /* vector= of softirq */
    {"timer", 1},
    {"net_tx", 2},
    {"net_rx", 3},
    {"block_done", 4},
    {"sched", 7},
    {"hrtimer", 8},
    {"rcu", 9},
    /* nr= of syscall */
    {"read", 0},
    {"write", 1},
    {"close", 3},
    {"poll", 7},
    {"mmap", 9},
    {"pread64", 17},
    {"munmap", 11},
    {"ioctl", 16},
    {"writev", 20},
    {"select", 23},
    {"sched_yield", 24},
    {"restart_syscall", 219},
    {"pause", 34},
    {"nanosleep", 35},
    {"getpid", 39},
    {"connect", 42},
    {"accept", 43},
    {"sendto", 44},
    {"recvfrom", 45},
    {"sendmsg", 46},
    {"recvmsg", 47},
    {"clone", 56},
    {"vfork", 58},
    {"execve", 59},
    {"exit", 60},
    {"wait4", 61},
    {"kill", 62},
    {"fcntl", 72},
    {"flock", 73},
    {"fsync", 74},
    {"semget", 64},
    {"semop", 65},
    {"semctl", 66},
    {"msgget", 68},
    {"msgsnd", 69},
    {"msgrcv", 70},
    {"futex", 202},
    {"semtimedop", 220},
    {"waitid", 247},
    {"clock_nanosleep", 230},
    {"exit_group", 231},
    {"epoll_wait", 232},
    {"waitid", 247},
    {"openat", 257},
    {"pselect6", 270},
    {"ppoll", 271},
    {"epoll_pwait", 281},
    {"timerfd_settime", 286},
    {"accept4", 288},
    {"membarrier", 324},
    {"clone3", 435},
};

void line_fail(const struct line *line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%u: ", line->file, line->number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* A whole word as a number; false if it is not a number. */
static bool parse_number(const char *word, uint64_t *ret)
{
    char *end;
    errno = 0;
    *ret = strtoull(word, &end, 0);
    return end != word && *end == '\0' && errno == 0;
}

uint64_t line_number(const struct line *line, const char *word)
{
    uint64_t value;
    if (parse_number(word, &value))
        return value;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i].name, word) == 0)
            return names[i].value;
    line_fail(line, "'%s' is neither a number nor a known name (mktrace_values.c)", word);
}

uint64_t line_time(const struct line *line, const char *word)
{
    static const struct unit {
        const char *name;
        uint64_t ns;
    } units[] = {{"", 1}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

    char *end;
    errno = 0;
    uint64_t whole = strtoull(word, &end, 10);
    uint64_t fraction = 0, scale = 1;
    if (end == word || errno || *word == '-')
        line_fail(line, "'%s' is not a time", word);
    if (*end == '.')
        for (end++; *end >= '0' && *end <= '9' && scale < 1000000000; end++) {
            fraction = fraction * 10 + (uint64_t)(*end - '0');
            scale *= 10;
        }
    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(units[i].name, end) == 0)
            return whole * units[i].ns + fraction * units[i].ns / scale;
    line_fail(line, "'%s' is not a time: units are ns, us, ms, s", word);
}

uint64_t line_suffix(const struct line *line, const char *word, const char *prefix)
{
    uint64_t value;
    size_t length = strlen(prefix);
    if (strncmp(word, prefix, length) != 0 || !parse_number(word + length, &value))
        line_fail(line, "'%s' should be %sNUMBER", word, prefix);
    return value;
}
