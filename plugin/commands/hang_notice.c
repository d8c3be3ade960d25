/* Desktop notifications by sd-bus.
 *
 * sd-bus is part of libsystemd, which is loaded when the first notification is sent, as
 * libdebuginfod is (event/binary/debuginfod.c). So the build needs no package for it, no other
 * command loads it, and if it is missing, only notifications are. libnotify would load GLib and an
 * image library for a single method call.
 *
 * The connection is made in a process of its own, which stays until the notification is closed: an
 * sd-bus connection belongs to the process that opened it, and a click on the notification is a
 * signal to that connection.
 */
#include "plugin/commands/hang_notice.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "argus/report.h"
#include "base/compat.h"
#include "plugin/memory_limit.h"
#include "recorder/background.h"

#define SERVICE "org.freedesktop.Notifications"
#define OBJECT  "/org/freedesktop/Notifications"

#define CLICK_SECONDS 3600

/* --- the library --- */

typedef struct sd_bus bus;
typedef struct sd_bus_message message;

/* As in systemd/sd-bus.h (LGPL; the interface is versioned, and these calls have stayed since
 * systemd 221). */
struct bus_error {
    const char *name, *message;
    int need_free;
};
typedef int (*message_handler)(message *received, void *context, struct bus_error *ret_error);

struct bus_calls {
    int (*open)(bus **ret);
    bus *(*unref)(bus *);
    int (*add_match)(bus *, void **slot, const char *match, message_handler, void *context);
    int (*call_method)(bus *, const char *destination, const char *path, const char *interface,
                       const char *member, struct bus_error *ret_error, message **reply,
                       const char *types, ...);
    int (*read)(message *, const char *types, ...);
    int (*is_signal)(message *, const char *interface, const char *member);
    int (*get_strings)(bus *, const char *destination, const char *path, const char *interface,
                       const char *member, struct bus_error *ret_error, char ***ret);
    int (*process)(bus *, message **ret);
    int (*wait)(bus *, uint64_t timeout_us);
};

static const struct {
    const char *name;
    size_t at;
} call_names[] = {
    {"sd_bus_open_user", offsetof(struct bus_calls, open)},
    {"sd_bus_flush_close_unref", offsetof(struct bus_calls, unref)},
    {"sd_bus_add_match", offsetof(struct bus_calls, add_match)},
    {"sd_bus_call_method", offsetof(struct bus_calls, call_method)},
    {"sd_bus_message_read", offsetof(struct bus_calls, read)},
    {"sd_bus_message_is_signal", offsetof(struct bus_calls, is_signal)},
    {"sd_bus_get_property_strv", offsetof(struct bus_calls, get_strings)},
    {"sd_bus_process", offsetof(struct bus_calls, process)},
    {"sd_bus_wait", offsetof(struct bus_calls, wait)},
};

static struct argus_error *load(struct bus_calls *ret)
{
    void *library = dlopen("libsystemd.so.0", RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof(call_names) / sizeof(*call_names); i++) {
        void *found = dlsym(library, call_names[i].name);
        if (!found)
            return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "this libsystemd has no %s",
                                      call_names[i].name);
        memcpy((char *)ret + call_names[i].at, &found, sizeof(found));
    }
    return library ? NULL
                   : argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                        "libsystemd is not installed (Debian: libsystemd0)");
}

/* --- the text --- */

struct notice {
    struct bus_calls calls;
    bus *bus;
    const char *path;
    const struct argus_kept_hang *hang;
    uint32_t id; /* of the notification; 0: not shown yet */
    bool clicked, closed;
};

/* Escapes the text, because notification bodies may be parsed as markup. */
static void escape(const char *text, char *ret, size_t room)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}};
    size_t length = 0;
    for (; *text && length + 8 < room; text++) {
        const char *entity = NULL;
        for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++)
            if (*text == entities[i].character)
                entity = entities[i].entity;
        if (entity)
            length += (size_t)snprintf(ret + length, room - length, "%s", entity);
        else
            ret[length++] = (unsigned char)*text < ' ' ? '?' : *text;
    }
    ret[length] = '\0';
}

static void write_texts(const struct argus_kept_hang *hang, char *title, size_t title_room,
                        char *body, size_t body_room)
{
    char lasted[32], clause[sizeof(hang->cause) + 2];
    snprintf(title, title_room, "%s %s for %s", hang->process,
             hang->over ? "did not answer" : "has not answered",
             argus_duration_text(hang->duration_ns, lasted, sizeof(lasted)));
    snprintf(clause, sizeof(clause), "%s.",
             hang->diagnosed ? hang->cause : "The recording does not show why");
    clause[0] = (char)toupper((unsigned char)clause[0]);
    escape(clause, body, body_room);
}

/* --- the bus --- */

static int on_signal(message *received, void *context, struct bus_error *ret_error)
{
    struct notice *notice = context;
    uint32_t id = 0;
    const char *key;
    (void)ret_error;
    bool clicked = notice->calls.is_signal(received, SERVICE, "ActionInvoked") > 0;
    bool closed = notice->calls.is_signal(received, SERVICE, "NotificationClosed") > 0;
    if (clicked && notice->calls.read(received, "us", &id, &key) >= 0)
        notice->clicked |= id == notice->id;
    else if (closed && notice->calls.read(received, "u", &id) >= 0)
        notice->closed |= id == notice->id;
    return 0;
}

static struct argus_error *bus_failure(const char *what, int result, const struct bus_error *error)
{
    return argus_error_create(ARGUS_ERROR_IO, "%s: %s", what,
                              error && error->message ? error->message : strerror(-result));
}

/* Finds the session bus. Under sudo, or in a program started outside of the session, its
 * environment variables are missing, but the bus may exist. */
static bool find_session_bus(void)
{
    char path[64];
    const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
    if (address && *address)
        return true;
    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    if (!getenv("XDG_RUNTIME_DIR")) {
        snprintf(path, sizeof(path), "/run/user/%u", (unsigned)geteuid());
        setenv("XDG_RUNTIME_DIR", path, 0);
    }
    char *socket;
    if (asprintf(&socket, "%s/bus", getenv("XDG_RUNTIME_DIR")) < 0)
        return false;
    bool exists = access(socket, R_OK | W_OK) == 0;
    free(socket);
    return exists;
}

/* The address in the environment is that of the session in which the recording was started. If that
 * session has ended, the user's new one is found in its usual place. */
static int open_bus(struct notice *notice)
{
    int result = notice->calls.open(&notice->bus);
    if (result >= 0 || !getenv("DBUS_SESSION_BUS_ADDRESS"))
        return result;
    unsetenv("DBUS_SESSION_BUS_ADDRESS");
    return find_session_bus() ? notice->calls.open(&notice->bus) : result;
}

static struct argus_error *show(struct notice *notice)
{
    char title[160], body[1024];
    struct bus_error error = {.name = NULL};
    message *reply = NULL;
    int result = open_bus(notice);
    if (result < 0)
        return bus_failure("cannot connect to the session bus", result, NULL);
    result = notice->calls.add_match(notice->bus, NULL, "type='signal',interface='" SERVICE "'",
                                     on_signal, notice);
    if (result < 0)
        return bus_failure("the session bus passes no signals", result, NULL);
    write_texts(notice->hang, title, sizeof(title), body, sizeof(body));
    result = notice->calls.call_method(notice->bus, SERVICE, OBJECT, SERVICE, "Notify", &error,
                                       &reply, "susssasa{sv}i", "Argus", (uint32_t)0,
                                       "dialog-warning", title, body, 4, "default", "Open report",
                                       "report", "Open report", 0, (int32_t)-1);
    if (result >= 0)
        result = notice->calls.read(reply, "u", &notice->id);
    return result < 0 ? bus_failure("the desktop shows none", result, &error) : NULL;
}

static void await_click(struct notice *notice)
{
    time_t end = time(NULL) + CLICK_SECONDS;
    int result = 0;
    while (!notice->clicked && !notice->closed && result >= 0 && time(NULL) < end) {
        result = notice->calls.process(notice->bus, NULL);
        if (result == 0)
            result = notice->calls.wait(notice->bus, 60000000);
    }
}

/* --- the report --- */

static void take_variable(const char *text)
{
    static const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
                                        "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE"};
    const char *value = strchr(text, '=');
    for (size_t i = 0; value && i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == (size_t)(value - text) &&
            strncmp(names[i], text, (size_t)(value - text)) == 0)
            setenv(names[i], value + 1, 0);
}

/* A systemd user unit starts before the desktop, so it has no display. The desktop has told the
 * user's systemd its display since then. */
static void find_display(const struct notice *notice)
{
    struct bus_error error = {.name = NULL};
    char **texts = NULL;
    if (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") ||
        notice->calls.get_strings(notice->bus, "org.freedesktop.systemd1",
                                  "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                  "Environment", &error, &texts) < 0)
        return;
    for (size_t i = 0; texts && texts[i]; i++) {
        take_variable(texts[i]);
        free(texts[i]);
    }
    free(texts);
}

static int run(const char *const *words)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        memory_limit_lift();
        execvp(words[0], (char *const *)words);
        _exit(127);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Makes and opens the page. Its options select the kept hang: the thread, and a threshold just
 * below the duration. */
static void open_report(const struct notice *notice)
{
    char page[NAME_MAX + 16], tid[32], threshold[32];
    snprintf(page, sizeof(page), "%s.html", notice->path);
    snprintf(tid, sizeof(tid), "%llu", (unsigned long long)notice->hang->tid);
    snprintf(threshold, sizeof(threshold), "%lluns",
             (unsigned long long)notice->hang->duration_ns / 10 * 9);
    const char *const report[] = {"/proc/self/exe", "report", "--tid", tid,          "--threshold",
                                  threshold,        "-o",     page,    notice->path, NULL};
    const char *const browser[] = {"xdg-open", page, NULL};
    if (run(report) == 0)
        run(browser);
}

/* --- the process --- */

static void notice_main(const char *path, const struct argus_kept_hang *hang, int fd)
{
    struct notice notice = {.path = path, .hang = hang};
    setsid();
    struct argus_error *error = load(&notice.calls);
    if (!error)
        error = show(&notice);
    if (error)
        dprintf(fd, "%s", error->message);
    close(fd);
    if (!error)
        await_click(&notice);
    if (notice.clicked)
        find_display(&notice);
    if (notice.bus)
        notice.calls.unref(notice.bus);
    if (notice.clicked)
        open_report(&notice);
}

struct argus_error *hang_notice_send(const char *path, const struct argus_kept_hang *hang)
{
    int ends[2];
    char text[512];
    if (!find_session_bus())
        return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no session bus");
    if (pipe2(ends, O_CLOEXEC) < 0)
        return argus_error_os(errno, "cannot make a pipe");
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        notice_main(path, hang, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    size_t length = pid > 0 ? background_hear(ends[0], text, sizeof(text)) : 0;
    close(ends[0]);
    if (pid < 0)
        return argus_error_os(errno, "cannot start a process");
    return length ? argus_error_create(ARGUS_ERROR_IO, "%s", text) : NULL;
}
