/* Faults between a program and its files: preloaded, it stands before the C library's calls that write, and counts those that concern
 * one folder. At one of them it does what the environment says; otherwise it passes the call on. Written for tools/faults.py.
 *
 *   FAULT_DIR    the folder; calls on other files are passed on and not counted
 *   FAULT_AT     the number of the call at which the fault happens, from 1; 0 is never
 *   FAULT_KIND   error   the call fails with EIO                full    it fails with ENOSPC
 *                short   a write writes half and says so        torn    a write writes whole sectors of 512 bytes of its first half,
 *                half    a write writes half and fails                  then the process dies
 *                die     the process dies before the call       lost    a sync fails, and what was not synced stays unsynced
 *                lie     every sync of this call's file from here on does nothing and says that all is well
 *   FAULT_COUNT  a file that is given the number of calls at the end, and the kind of call that the fault met
 *   FAULT_LOG    a file that is given every call, for a power cut to be played afterwards
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define MOST_FILES 4096
#define SECTOR 512

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static char *paths[MOST_FILES];
static char lying[PATH_MAX];
static long calls, fault_at;
static char kind[16];
static int log_file = -1;
static char count_path[PATH_MAX];
static char met[16];

static int (*real_open64)(const char *, int, ...);
static int (*real_openat64)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite64)(int, const void *, size_t, off64_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate64)(int, off64_t);
static int (*real_rename)(const char *, const char *);
static int (*real_unlink)(const char *);
static int (*real_mkdir)(const char *, mode_t);

__attribute__((constructor)) static void begin(void) {
    real_open64 = dlsym(RTLD_NEXT, "open64");
    real_openat64 = dlsym(RTLD_NEXT, "openat64");
    real_close = dlsym(RTLD_NEXT, "close");
    real_write = dlsym(RTLD_NEXT, "write");
    real_writev = dlsym(RTLD_NEXT, "writev");
    real_pwrite64 = dlsym(RTLD_NEXT, "pwrite64");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_ftruncate64 = dlsym(RTLD_NEXT, "ftruncate64");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_unlink = dlsym(RTLD_NEXT, "unlink");
    real_mkdir = dlsym(RTLD_NEXT, "mkdir");
    const char *at = getenv("FAULT_AT"), *what = getenv("FAULT_KIND"), *where = getenv("FAULT_DIR");
    const char *log = getenv("FAULT_LOG"), *count = getenv("FAULT_COUNT");
    if (where) snprintf(folder, sizeof folder, "%s/", where);
    if (what) snprintf(kind, sizeof kind, "%s", what);
    if (count) snprintf(count_path, sizeof count_path, "%s", count);
    if (at) fault_at = atol(at);
    if (log) log_file = real_open64(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void tell(void) {
    if (!*count_path) return;
    int file = real_open64(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return;
    char line[64];
    int length = snprintf(line, sizeof line, "%ld %s\n", calls, met);
    if (real_write(file, line, length) < 0) { /* nobody is told, then */ }
    real_close(file);
}

__attribute__((destructor)) static void end(void) { tell(); }

static void die(void) {
    tell();
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether a path is one of those that are watched; shared memory is no file that survives. */
static int watched(const char *path) {
    if (!*folder || !path || strncmp(path, folder, strlen(folder))) return 0;
    size_t length = strlen(path);
    return length < 4 || strcmp(path + length - 4, "-shm");
}

static const char *path_of(int file) { return file >= 0 && file < MOST_FILES ? paths[file] : NULL; }

static void put(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t done = real_write(log_file, at, length);
        if (done <= 0) return;
        at += done;
        length -= done;
    }
}

/* One call: its letter, a path, another path or none, an offset, and bytes. */
static void note(char call, const char *path, const char *other, uint64_t offset, const void *bytes, uint64_t length) {
    if (log_file < 0) return;
    uint32_t one = strlen(path), two = other ? strlen(other) : 0;
    put(&call, 1);
    put(&one, 4);
    put(path, one);
    put(&two, 4);
    put(other ? other : "", two);
    put(&offset, 8);
    put(&length, 8);
    put(bytes ? bytes : "", bytes ? length : 0);
}

/* Counts a call; 1 where the fault is to happen at this one. */
static int is_due(const char *call, const char *path) {
    calls++;
    if (fault_at == 0 || calls != fault_at) return 0;
    snprintf(met, sizeof met, "%s", call);
    if (!strcmp(kind, "die")) die();
    if (!strcmp(kind, "lie")) {
        snprintf(lying, sizeof lying, "%s", path);
        return 0;
    }
    return 1;
}

static int refuse(void) {
    errno = strcmp(kind, "full") ? EIO : ENOSPC;
    return -1;
}

static int opened(const char *path, int flags, mode_t mode, int at, int is_at) {
    char whole[PATH_MAX];
    if (path && *path != '/' && !is_at && getcwd(whole, sizeof whole) && strlen(whole) + strlen(path) + 2 < sizeof whole) {
        strcat(whole, "/");
        strcat(whole, path);
    } else {
        snprintf(whole, sizeof whole, "%s", path ? path : "");
    }
    int mine = watched(whole);
    if (mine) pthread_mutex_lock(&turn);
    int file;
    int creates = mine && (flags & O_CREAT) && access(whole, F_OK) != 0;
    int cuts = mine && (flags & O_TRUNC);
    if ((creates || cuts) && is_due("open", whole)) {
        file = refuse();
    } else {
        file = is_at ? real_openat64(at, path, flags, mode) : real_open64(path, flags, mode);
        if (file >= 0 && file < MOST_FILES) {
            free(paths[file]);
            paths[file] = mine ? strdup(whole) : NULL;
            if (creates) note('c', whole, NULL, 0, NULL, 0);
            if (cuts) note('t', whole, NULL, 0, NULL, 0);
        }
    }
    if (mine) pthread_mutex_unlock(&turn);
    return file;
}

#define MODE(flags)                                  \
    mode_t mode = 0;                                 \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {         \
        va_list more;                                \
        va_start(more, flags);                       \
        mode = va_arg(more, mode_t);                 \
        va_end(more);                                \
    }

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return opened(path, flags, mode, 0, 0);
}

int open(const char *path, int flags, ...) {
    MODE(flags)
    return opened(path, flags, mode, 0, 0);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags)
    return opened(path, flags, mode, at, 1);
}

int close(int file) {
    pthread_mutex_lock(&turn);
    if (file >= 0 && file < MOST_FILES) {
        free(paths[file]);
        paths[file] = NULL;
    }
    pthread_mutex_unlock(&turn);
    return real_close(file);
}

/* The length that a write may have now: all of it, or a part; -1 where it is to fail as a whole. */
static ssize_t allowed(size_t length) {
    if (!strcmp(kind, "short") || !strcmp(kind, "half")) return length / 2;
    if (!strcmp(kind, "torn")) return length / 2 / SECTOR * SECTOR;
    return -1;
}

static ssize_t wrote(int file, const void *bytes, size_t length, off64_t offset, int has_offset) {
    const char *path = path_of(file);
    if (!path) return has_offset ? real_pwrite64(file, bytes, length, offset) : real_write(file, bytes, length);
    pthread_mutex_lock(&turn);
    off64_t at = has_offset ? offset : lseek64(file, 0, SEEK_CUR);
    size_t most = length;
    int due = is_due("write", path);
    ssize_t done;
    if (due) {
        ssize_t part = allowed(length);
        if (part < 0) {
            done = refuse();
            goto out;
        }
        most = part;
    }
    done = most == 0 ? 0 : has_offset ? real_pwrite64(file, bytes, most, offset) : real_write(file, bytes, most);
    if (done > 0) note('w', path, NULL, at, bytes, done);
    if (due && !strcmp(kind, "torn")) die();
    if (due && (!strcmp(kind, "half") || done == 0)) done = refuse();
out:
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t write(int file, const void *bytes, size_t length) { return wrote(file, bytes, length, 0, 0); }

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    return wrote(file, bytes, length, offset, 1);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!path_of(file) || count < 1) return real_writev(file, parts, count);
    /* A part at a time is a short write, which every caller must know. */
    int at = 0;
    while (at < count - 1 && parts[at].iov_len == 0) at++;
    return wrote(file, parts[at].iov_base, parts[at].iov_len, 0, 0);
}

static int synced(int file, int (*real)(int)) {
    const char *path = path_of(file);
    if (!path) return real(file);
    pthread_mutex_lock(&turn);
    int done;
    if (is_due("sync", path)) {
        done = refuse();
    } else if (*lying && !strcmp(lying, path)) {
        done = 0;
    } else {
        /* The disk of the machine that tests is not what is tested: the log says what would be on it. */
        done = log_file < 0 ? real(file) : 0;
        if (done == 0) note('s', path, NULL, 0, NULL, 0);
    }
    pthread_mutex_unlock(&turn);
    return done;
}

int fsync(int file) { return synced(file, real_fsync); }

int fdatasync(int file) { return synced(file, real_fdatasync); }

int ftruncate64(int file, off64_t length) {
    const char *path = path_of(file);
    if (!path) return real_ftruncate64(file, length);
    pthread_mutex_lock(&turn);
    int done = is_due("truncate", path) ? refuse() : real_ftruncate64(file, length);
    if (done == 0) note('t', path, NULL, length, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}

int ftruncate(int file, off_t length) { return ftruncate64(file, length); }

int rename(const char *from, const char *to) {
    if (!watched(from) && !watched(to)) return real_rename(from, to);
    pthread_mutex_lock(&turn);
    int done = is_due("rename", to) ? refuse() : real_rename(from, to);
    if (done == 0) note('r', from, to, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}

int unlink(const char *path) {
    if (!watched(path)) return real_unlink(path);
    pthread_mutex_lock(&turn);
    int done = is_due("unlink", path) ? refuse() : real_unlink(path);
    if (done == 0) note('u', path, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}

int mkdir(const char *path, mode_t mode) {
    if (!watched(path)) return real_mkdir(path, mode);
    pthread_mutex_lock(&turn);
    int done = is_due("mkdir", path) ? refuse() : real_mkdir(path, mode);
    if (done == 0) note('m', path, NULL, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return done;
}
