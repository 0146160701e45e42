/* The wall clock of a process, moved by as many seconds as a file says: for LD_PRELOAD. libfaketime does not start with the jemalloc of redis-server. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
  const char *path = getenv("CLOCK_OFFSET_FILE");
  char text[32] = {0};
  int file = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return 0;
  long read = syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  return read > 0 ? strtol(text, NULL, 10) : 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  long result = syscall(SYS_gettimeofday, now, zone);
  if (now) now->tv_sec += offset();
  return (int)result;
}

int clock_gettime(clockid_t id, struct timespec *now) {
  long result = syscall(SYS_clock_gettime, id, now);
  if (id == CLOCK_REALTIME) now->tv_sec += offset();
  return (int)result;
}
