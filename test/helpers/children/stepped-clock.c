/*
 * The wall clock of a process, moved by as many seconds as a file says: for LD_PRELOAD. libfaketime does not start with the
 * jemalloc of redis-server. The file is mapped: a server asks for the time several times a command.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define BYTES 32

static const char *text;
static int (*real_gettimeofday)(struct timeval *restrict, void *restrict);
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void load(void) {
  const char *path = getenv("CLOCK_OFFSET_FILE");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED) text = mapped;
}

static long offset(void) { return text ? strtol(text, NULL, 10) : 0; }

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  if (!real_gettimeofday) real_gettimeofday = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real_gettimeofday(now, zone);
  if (now) now->tv_sec += offset();
  return result;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  if (!real_clock_gettime) real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real_clock_gettime(id, now);
  if (id == CLOCK_REALTIME) now->tv_sec += offset();
  return result;
}
