/* Whether this is a build with a sanitizer, which makes system calls of its own at any time, and
 * maps terabytes of addresses. */
#ifndef ARGUS_BASE_SANITIZER_H
#define ARGUS_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

#endif
