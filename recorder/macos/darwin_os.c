/* The real system behind kdebug_os.h. Nothing is decided here. */
#include "macos/kdebug_os.h"

#include <errno.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "macos/kdebug_layout.h"
#include "server/clocks.h"

_Static_assert(KDEBUG_CTL_KERN == CTL_KERN && KDEBUG_KERN_KDEBUG == KERN_KDEBUG, "sysctl.h");
_Static_assert(KDEBUG_READ == KERN_KDREADTR && KDEBUG_SET_FILTER == KERN_KDSET_TYPEFILTER &&
                   KDEBUG_READ_THREADS == KERN_KDREADCURTHRMAP && KDEBUG_REMOVE == KERN_KDREMOVE &&
                   KDEBUG_SET_UP == KERN_KDSETUP && KDEBUG_SET_BUFFER == KERN_KDSETBUF &&
                   KDEBUG_GET_BUFFER == KERN_KDGETBUF && KDEBUG_ENABLE == KERN_KDENABLE &&
                   KDEBUG_SET_FLAGS == KERN_KDEFLAGS && KDEBUG_EXCLUDE_PID == KERN_KDPIDEX &&
                   KDEBUG_CPU_MAP == KERN_KDCPUMAP_EXT,
               "sysctl.h");

static int darwin_kdebug(void *context, int operation, int value, void *data, size_t *bytes)
{
    (void)context;
    int names[] = {CTL_KERN, KERN_KDEBUG, operation, value};
    return sysctl(names, 4, data, bytes, NULL, 0) < 0 ? errno : 0;
}

static int darwin_control(void *context, const char *name, void *old_data, size_t *old_bytes,
                          const void *new_data, size_t new_bytes)
{
    (void)context;
    return sysctlbyname(name, old_data, old_bytes, (void *)new_data, new_bytes) < 0 ? errno : 0;
}

static void darwin_timebase(void *context, uint32_t *ret_numer, uint32_t *ret_denom)
{
    (void)context;
    mach_timebase_info_data_t timebase = {0};
    mach_timebase_info(&timebase);
    *ret_numer = timebase.numer;
    *ret_denom = timebase.denom;
}

static uint64_t darwin_now_ticks(void *context)
{
    (void)context;
    return mach_absolute_time();
}

static uint64_t darwin_wall_ns(void *context)
{
    (void)context;
    return clock_ns(CLOCK_REALTIME);
}

static uint32_t darwin_own_pid(void *context)
{
    (void)context;
    return (uint32_t)getpid();
}

static bool darwin_process_name(void *context, uint32_t pid, char *ret, size_t room)
{
    (void)context;
    return proc_name((int)pid, ret, (uint32_t)room) > 0;
}

/* VM_PROT_EXECUTE of <mach/vm_prot.h>. */
#define MAY_RUN 4u

static bool darwin_next_region(void *context, uint32_t pid, uint64_t from,
                               struct kdebug_region *ret)
{
    (void)context;
    struct proc_regionwithpathinfo info;
    while (proc_pidinfo((int)pid, PROC_PIDREGIONPATHINFO, from, &info, sizeof(info)) ==
           (int)sizeof(info)) {
        const struct proc_regioninfo *region = &info.prp_prinfo;
        uint64_t end = region->pri_address + region->pri_size;
        if (end <= from)
            return false;
        from = end;
        if (!(region->pri_protection & MAY_RUN) || !info.prp_vip.vip_path[0])
            continue;
        *ret = (struct kdebug_region){
            .start = region->pri_address,
            .bytes = region->pri_size,
            .file_offset = region->pri_offset,
            .inode = info.prp_vip.vip_vi.vi_stat.vst_ino,
            .device = info.prp_vip.vip_vi.vi_stat.vst_dev,
        };
        snprintf(ret->path, sizeof(ret->path), "%s", info.prp_vip.vip_path);
        return true;
    }
    return false;
}

/* <mach-o/dyld_priv.h> of dyld-1378, which SDKs lack; libSystem exports all three. */
struct cached_text {
    uint64_t version, unslid, bytes;
    uint8_t uuid[16];
    const char *path;
    uint64_t offset; /* from the beginning of the cache; since version 2 */
};
extern const void *_dyld_get_shared_cache_range(size_t *bytes);
extern bool _dyld_get_shared_cache_uuid(uint8_t uuid[16]);
extern int dyld_shared_cache_iterate_text(const uint8_t uuid[16],
                                          void (^visit)(const struct cached_text *text));

static bool darwin_shared_cache(void *context, struct kdebug_cache *ret)
{
    size_t bytes = 0;
    (void)context;
    const void *start = _dyld_get_shared_cache_range(&bytes);
    *ret = (struct kdebug_cache){.start = (uint64_t)start, .bytes = bytes};
    return start && bytes && _dyld_get_shared_cache_uuid(ret->uuid);
}

static void darwin_cached_images(void *context, const struct kdebug_cache *cache,
                                 kdebug_visit_cached visit, void *visitor)
{
    __block bool more = true;
    (void)context;
    dyld_shared_cache_iterate_text(cache->uuid, ^(const struct cached_text *text) {
      if (!more || text->version < 2)
          return;
      struct kdebug_cached_image image = {
          .start = cache->start + text->offset, .bytes = text->bytes, .path = text->path};
      memcpy(image.uuid, text->uuid, sizeof(image.uuid));
      more = visit(visitor, &image);
    });
}

static int darwin_host(void *context, char *ret, size_t room)
{
    (void)context;
    struct utsname host;
    if (uname(&host) < 0)
        return errno;
    snprintf(ret, room, "%.20s %.80s %.20s", host.sysname, host.release, host.machine);
    return 0;
}

const struct kdebug_os kdebug_os_darwin = {
    .kdebug = darwin_kdebug,
    .control = darwin_control,
    .timebase = darwin_timebase,
    .now_ticks = darwin_now_ticks,
    .wall_ns = darwin_wall_ns,
    .own_pid = darwin_own_pid,
    .process_name = darwin_process_name,
    .next_region = darwin_next_region,
    .shared_cache = darwin_shared_cache,
    .cached_images = darwin_cached_images,
    .host = darwin_host,
};
