/* The freezer of control groups (`docker pause`, `systemctl freeze`). A frozen thread may stay in
 * the call in which it was, so only the files of its group tell
 * (Documentation/admin-guide/cgroup-v1/ freezer-subsystem.rst, cgroup-v2.rst): of version 1 the
 * state includes that of the parents; of version 2 each group above has a file of its own. */
#include <stdio.h>
#include <string.h>

#include "live/live_data.h"

enum { PATH_BYTES = 512, FILE_BYTES = 2048 };

/* Whether the file begins with this text. */
static bool begins_with(const char *format, const char *group, const char *text)
{
    char path[PATH_BYTES + 64], line[16] = "";
    snprintf(path, sizeof(path), format, group);
    FILE *file = fopen(path, "re");
    bool is_read = file && fgets(line, sizeof(line), file);
    if (file)
        fclose(file);
    return is_read && strncmp(line, text, strlen(text)) == 0;
}

/* The group behind this mark in /proc/PID/cgroup. False: it is the root, which cannot be frozen. */
static bool find_group(const char *text, const char *mark, char ret[PATH_BYTES])
{
    const char *line = strstr(text, mark);
    if (!line)
        return false;
    line += strlen(mark);
    snprintf(ret, PATH_BYTES, "%.*s", (int)strcspn(line, "\n"), line);
    return strcmp(ret, "/") != 0;
}

static bool is_frozen_1(const char *text, char *group)
{
    return find_group(text, ":freezer:", group) &&
           begins_with("/sys/fs/cgroup/freezer%s/freezer.state", group, "FR");
}

static bool is_frozen_2(const char *text, char *group)
{
    bool is_below = find_group(text, "0::", group);
    while (is_below && !begins_with("/sys/fs/cgroup%s/cgroup.freeze", group, "1") &&
           !begins_with("/sys/fs/cgroup/unified%s/cgroup.freeze", group, "1")) {
        char *slash = strrchr(group, '/');
        is_below = slash && slash != group;
        if (is_below)
            *slash = '\0';
    }
    return is_below;
}

uint32_t live_frozen_group(struct argus_live *live, uint32_t pid)
{
    char text[FILE_BYTES], group[PATH_BYTES];
    if (live_read(pid, "cgroup", text, sizeof(text)) <= 0)
        return 0;
    return is_frozen_1(text, group) || is_frozen_2(text, group) ? live_text(live, group) : 0;
}
