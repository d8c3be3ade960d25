/* Entries of ~/.Xauthority: a family, then four texts (address, display's number, name, data), each
 * behind its length; numbers in network order (Xsecurity(7), libXau's AuRead.c). */
#include "live/live_x11_cookie.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FAMILY_LOCAL = 256,
    FAMILY_WILD = 65535,
    TEXT_BYTES = 256,
    TEXTS = 4,
    MOST_ENTRIES = 4096,
};
enum { ADDRESS, NUMBER, NAME, DATA };

struct text {
    uint8_t bytes[TEXT_BYTES];
    unsigned length;
};

static bool read_number(FILE *file, unsigned *ret)
{
    int high = fgetc(file), low = fgetc(file);
    *ret = (unsigned)(high << 8 | low);
    return high != EOF && low != EOF;
}

static bool read_text(FILE *file, struct text *ret)
{
    return read_number(file, &ret->length) && ret->length <= sizeof(ret->bytes) &&
           fread(ret->bytes, 1, ret->length, file) == ret->length;
}

static bool is_text(const struct text *text, const char *wanted, size_t length)
{
    return text->length == length && memcmp(text->bytes, wanted, length) == 0;
}

static bool search(FILE *file, const char *number, size_t digits, struct x11_cookie *ret)
{
    struct text texts[TEXTS];
    unsigned family;
    for (int entry = 0; entry < MOST_ENTRIES && read_number(file, &family); entry++) {
        for (int i = 0; i < TEXTS; i++)
            if (!read_text(file, &texts[i]))
                return false;
        if ((family != FAMILY_LOCAL && family != FAMILY_WILD) ||
            (texts[NUMBER].length && !is_text(&texts[NUMBER], number, digits)) ||
            !is_text(&texts[NAME], X11_COOKIE_NAME, strlen(X11_COOKIE_NAME)) ||
            texts[DATA].length != sizeof(ret->bytes))
            continue;
        memcpy(ret->bytes, texts[DATA].bytes, sizeof(ret->bytes));
        return true;
    }
    return false;
}

/* The path may come from the environment of any process, which may change what is there at any
 * moment: a pipe would block, a device has no end, and root can open files of others. So what was
 * opened is looked at. */
static FILE *open_file(const char *path, uint32_t owner)
{
    struct stat status;
    int link = owner == X11_ANY_OWNER ? 0 : O_NOFOLLOW;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | link);
    bool is_good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                   (owner == X11_ANY_OWNER || status.st_uid == owner);
    FILE *file = is_good ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

bool x11_find_cookie(const struct x11_authority *authority, const char *display,
                     struct x11_cookie *ret)
{
    char path[512];
    const char *home = getenv("HOME"), *colon = strrchr(display, ':');
    if (authority->path[0])
        snprintf(path, sizeof(path), "%s", authority->path);
    else
        snprintf(path, sizeof(path), "%s/.Xauthority", home ? home : "");
    FILE *file = colon ? open_file(path, authority->owner) : NULL;
    if (!file)
        return false;
    bool found = search(file, colon + 1, strspn(colon + 1, "0123456789"), ret);
    fclose(file);
    return found;
}
