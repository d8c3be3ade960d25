/* A client of D-Bus that asks three questions: ListNames, ListActivatableNames, and
 * GetConnectionUnixProcessID for each name that has an owner. libdbus and sd-bus could block for
 * long on a daemon that does not answer, which is just what argus why may be looking at; so this
 * one polls. Marshalling is that of the D-Bus specification, "Message Protocol": little-endian,
 * each value aligned to its size, header fields as array of (byte, variant). */
#include "live/live_bus.h"

#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/live_data.h"
#include "live/live_stream.h"

enum {
    PATIENCE_NS = 1000000000, /* on a loaded machine, a daemon needs some 100 ms */
    MOST_NAMES = 1024,
    MOST_BYTES = 1 << 20, /* of one answer */
    HEADER_BYTES = 16,
    CALL_BYTES = 512,
    CALL = 1, /* types of messages */
    RETURN = 2,
    PATH_FIELD = 1, /* header fields */
    MEMBER_FIELD = 3,
    REPLY_FIELD = 5,
    DESTINATION_FIELD = 6,
    SIGNATURE_FIELD = 8,
    LIST_SERIAL = 2,
    STARTABLE_SERIAL = 3,
    FIRST_SERIAL = 16, /* of the questions about names */
};

struct bus {
    int fd;
    uint64_t end_ns;
    uint8_t *bytes; /* what was received and is not used yet */
    size_t length;
};

/* --- connection --- */

/* Receives until `length` bytes are there. */
static bool receive(struct bus *bus, size_t length)
{
    while (bus->length < length) {
        if (length > MOST_BYTES || !live_stream_wait(bus->fd, POLLIN, bus->end_ns))
            return false;
        ssize_t got = recv(bus->fd, bus->bytes + bus->length, MOST_BYTES - bus->length, 0);
        if (got <= 0)
            return false;
        bus->length += (size_t)got;
    }
    return true;
}

static void use_up(struct bus *bus, size_t length)
{
    bus->length -= length;
    memmove(bus->bytes, bus->bytes + length, bus->length);
}

static socklen_t address_of(const char *path, struct sockaddr_un *ret)
{
    size_t length = strlen(path);
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length >= sizeof(ret->sun_path))
        return 0;
    memcpy(ret->sun_path, path, length);
    if (path[0] == '@')
        ret->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] != '@'));
}

/* The daemon sees who calls connect(): root lets a child do that which has become the user. */
static bool connect_as(int fd, const struct sockaddr_un *address, socklen_t length, uint32_t uid)
{
    int status;
    if (geteuid() != 0 || uid == 0)
        return connect(fd, (const struct sockaddr *)address, length) == 0;
    pid_t child = fork();
    if (child == 0)
        _exit(setresuid(uid, uid, uid) != 0 ||
              connect(fd, (const struct sockaddr *)address, length) != 0);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static bool bus_open(struct bus *bus, const char *path, uint32_t uid)
{
    struct sockaddr_un address;
    socklen_t length = address_of(path, &address);
    bus->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bus->bytes = malloc(MOST_BYTES);
    return length && bus->fd >= 0 && bus->bytes && connect_as(bus->fd, &address, length, uid);
}

/* "Authentication Protocol": the user's ID in hexadecimal digits of its decimal ones. */
static bool authenticate(struct bus *bus, uint32_t uid)
{
    char decimal[16], line[96];
    int length = snprintf(decimal, sizeof(decimal), "%u", geteuid() == 0 ? uid : geteuid());
    size_t at = 1 + (size_t)snprintf(line + 1, sizeof(line) - 1, "AUTH EXTERNAL ");
    line[0] = '\0';
    for (int i = 0; i < length; i++)
        at += (size_t)snprintf(line + at, sizeof(line) - at, "%02x", (unsigned)decimal[i]);
    at += (size_t)snprintf(line + at, sizeof(line) - at, "\r\n");
    if (!live_stream_send(bus->fd, line, at, bus->end_ns) || !receive(bus, 2) ||
        memcmp(bus->bytes, "OK", 2) != 0)
        return false;
    while (!memchr(bus->bytes, '\n', bus->length))
        if (!receive(bus, bus->length + 1))
            return false;
    bus->length = 0;
    return live_stream_send(bus->fd, "BEGIN\r\n", 7, bus->end_ns);
}

/* --- messages --- */

static size_t align(size_t at, size_t to)
{
    return (at + to - 1) / to * to;
}

static size_t put_u32(uint8_t *message, size_t at, uint32_t value)
{
    at = align(at, sizeof(value));
    memcpy(message + at, &value, sizeof(value));
    return at + sizeof(value);
}

static size_t put_text(uint8_t *message, size_t at, const char *text)
{
    size_t length = strlen(text);
    at = put_u32(message, at, (uint32_t)length);
    memcpy(message + at, text, length + 1);
    return at + length + 1;
}

static size_t put_field(uint8_t *message, size_t at, uint8_t field, char type, const char *text)
{
    at = align(at, 8);
    message[at++] = field;
    message[at++] = 1;
    message[at++] = (uint8_t)type;
    message[at++] = 0;
    if (type != 'g')
        return put_text(message, at, text);
    message[at++] = (uint8_t)strlen(text);
    memcpy(message + at, text, strlen(text) + 1);
    return at + strlen(text) + 1;
}

/* A call of the daemon's method `member`, with a text or NULL. */
static bool call(struct bus *bus, uint32_t serial, const char *member, const char *argument)
{
    uint8_t message[CALL_BYTES + BUS_NAME_BYTES] = {'l', CALL, 0, 1};
    size_t at = HEADER_BYTES;
    at = put_field(message, at, PATH_FIELD, 'o', "/org/freedesktop/DBus");
    at = put_field(message, at, MEMBER_FIELD, 's', member);
    at = put_field(message, at, 2, 's', "org.freedesktop.DBus");
    at = put_field(message, at, DESTINATION_FIELD, 's', "org.freedesktop.DBus");
    if (argument)
        at = put_field(message, at, SIGNATURE_FIELD, 'g', "s");
    put_u32(message, 8, serial);
    put_u32(message, 12, (uint32_t)(at - HEADER_BYTES));
    size_t body = align(at, 8);
    at = argument ? put_text(message, body, argument) : body;
    put_u32(message, 4, (uint32_t)(at - body));
    return live_stream_send(bus->fd, message, at, bus->end_ns);
}

struct answer {
    uint8_t type;
    uint32_t serial; /* of the question */
    const uint8_t *body;
    uint32_t body_bytes, whole_bytes;
};

static uint32_t u32_at(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

/* The header field REPLY_SERIAL; other fields are skipped. False: they are not well-formed. */
static bool find_serial(const uint8_t *fields, size_t bytes, uint32_t *ret)
{
    size_t at = 0;
    while (at + 4 <= bytes) {
        uint8_t field = fields[at], type = fields[at + 2];
        size_t value = align(at + 4, type == 'g' ? 1 : 4), length;
        if (fields[at + 1] != 1 || value + (type == 'g' ? 1 : 4) > bytes)
            return false;
        if (type == 'u') {
            if (field == REPLY_FIELD)
                *ret = u32_at(fields + value);
            length = 4;
        } else {
            length = type == 'g' ? fields[value] + 2u : u32_at(fields + value) + 5ull;
        }
        at = align(value + length, 8);
    }
    return true;
}

static bool next_answer(struct bus *bus, struct answer *ret)
{
    if (!receive(bus, HEADER_BYTES) || bus->bytes[0] != 'l')
        return false;
    uint64_t fields = u32_at(bus->bytes + 12), body = u32_at(bus->bytes + 4);
    uint64_t begin = align(HEADER_BYTES + fields, 8);
    if (fields > MOST_BYTES || !receive(bus, begin + body))
        return false;
    *ret = (struct answer){.type = bus->bytes[1],
                           .body = bus->bytes + begin,
                           .body_bytes = (uint32_t)body,
                           .whole_bytes = (uint32_t)(begin + body)};
    return find_serial(bus->bytes + HEADER_BYTES, fields, &ret->serial);
}

/* --- questions --- */

static bool is_listed(const live_bus_names *names, const char *name)
{
    for (size_t i = 0; i < names->length; i++)
        if (strcmp(names->data[i].name, name) == 0)
            return true;
    return false;
}

/* Names that have an owner, or further ones that the daemon can start a process for. */
static void take_names(const struct answer *answer, bool can_start, live_bus_names *names)
{
    size_t end = answer->body_bytes >= 4 ? 4 + (size_t)u32_at(answer->body) : 0;
    for (size_t at = 4; end <= answer->body_bytes && at + 4 < end && names->length < MOST_NAMES;) {
        struct live_bus_name name = {.can_start = can_start};
        size_t length = u32_at(answer->body + at);
        if (at + 4 + length >= end)
            return;
        if (length < sizeof(name.name)) {
            memcpy(name.name, answer->body + at + 4, length);
            if (!(can_start && is_listed(names, name.name)) && !vec_push(names, name))
                return;
        }
        at = align(at + 5 + length, 4);
    }
}

static bool list_names(struct bus *bus, live_bus_names *names)
{
    struct answer answer;
    if (!call(bus, 1, "Hello", NULL) || !call(bus, LIST_SERIAL, "ListNames", NULL) ||
        !call(bus, STARTABLE_SERIAL, "ListActivatableNames", NULL))
        return false;
    while (next_answer(bus, &answer)) {
        bool is_last = answer.serial == STARTABLE_SERIAL;
        if (answer.type == RETURN && (answer.serial == LIST_SERIAL || is_last))
            take_names(&answer, is_last, names);
        use_up(bus, answer.whole_bytes);
        if (is_last)
            return true;
    }
    return false;
}

static bool ask_owners(struct bus *bus, live_bus_names *names)
{
    struct answer answer;
    size_t open = 0;
    for (size_t i = 0; i < names->length; i++) {
        if (names->data[i].can_start)
            continue;
        open++;
        if (!call(bus, FIRST_SERIAL + (uint32_t)i, "GetConnectionUnixProcessID",
                  names->data[i].name))
            return false;
    }
    while (open && next_answer(bus, &answer)) {
        uint32_t index = answer.serial - FIRST_SERIAL;
        if (answer.serial >= FIRST_SERIAL && index < names->length) {
            open--;
            if (answer.type == RETURN && answer.body_bytes >= 4)
                names->data[index].pid = u32_at(answer.body);
        }
        use_up(bus, answer.whole_bytes);
    }
    return open == 0;
}

bool live_bus_ask(const char *path, uint32_t uid, live_bus_names *ret)
{
    struct bus bus = {.end_ns = live_now_ns() + PATIENCE_NS};
    bool answered = bus_open(&bus, path, uid) && authenticate(&bus, uid) && list_names(&bus, ret) &&
                    ask_owners(&bus, ret);
    if (bus.fd >= 0)
        close(bus.fd);
    free(bus.bytes);
    return answered;
}
