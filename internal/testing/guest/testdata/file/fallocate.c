// fallocate in all its ways, as on ext4.
#include "guest.h"

static int fd;

static void is(const char *what)
{
	static char b[1 << 20];
	struct stat st;
	MUST(fstat(fd, &st));
	ssize_t n = MUST(pread(fd, b, sizeof b, 0));
	printf("%s: %ld bytes:", what, (long)st.st_size);
	for (ssize_t i = 0; i < n;) {
		ssize_t j = i;
		while (j < n && b[j] == b[i])
			j++;
		printf(" %ldx%c", (long)(j - i), b[i] ? b[i] : '0');
		i = j;
	}
	printf("\n");
}

static void fill(void)
{
	char b[4096];
	MUST(ftruncate(fd, 0));
	for (int i = 0; i < 5; i++) {
		memset(b, 'a' + i, sizeof b);
		MUST(pwrite(fd, b, i == 4 ? 1000 : 4096, i * 4096L));
	}
}

int main(void)
{
	enum { KEEP = FALLOC_FL_KEEP_SIZE, PUNCH = FALLOC_FL_PUNCH_HOLE, COLLAPSE = FALLOC_FL_COLLAPSE_RANGE,
		ZERO = FALLOC_FL_ZERO_RANGE, INSERT = FALLOC_FL_INSERT_RANGE };
	static const struct { int mode; off_t off, len; } tries[] = {
		{0, 0, 100}, {0, 20000, 1000}, {KEEP, 20000, 1000}, {PUNCH, 0, 100}, {PUNCH | KEEP, 100, 5000},
		{PUNCH | KEEP, 16000, 9000}, {ZERO, 100, 5000}, {ZERO, 16000, 9000}, {ZERO | KEEP, 16000, 9000},
		{ZERO, 40000, 10}, {COLLAPSE, 4096, 4096}, {COLLAPSE, 0, 8192}, {COLLAPSE, 100, 4096},
		{COLLAPSE, 4096, 100}, {COLLAPSE, 16384, 4096}, {COLLAPSE, 8192, 8192}, {COLLAPSE, 40960, 4096},
		{COLLAPSE | KEEP, 4096, 4096}, {INSERT, 4096, 8192}, {INSERT, 0, 4096}, {INSERT, 100, 4096},
		{INSERT, 4096, 1}, {INSERT, 16384, 4096}, {INSERT, 20480, 4096}, {INSERT | KEEP, 0, 4096},
		{INSERT | ZERO, 0, 4096}, {PUNCH | ZERO | KEEP, 0, 4096}, {0, -1, 10}, {0, 0, 0}, {0, 0, -1},
		{COLLAPSE, 0, 0}, {0x1000, 0, 10}, {0, INT64_MAX, 10},
	};
	fd = MUST(open("file", O_RDWR | O_CREAT, 0600));
	for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
		char what[80];
		fill();
		int r = fallocate(fd, tries[i].mode, tries[i].off, tries[i].len);
		snprintf(what, sizeof what, "mode %#x at %ld, %ld: %s", tries[i].mode, (long)tries[i].off, (long)tries[i].len,
			r < 0 ? errname(errno) : "0");
		is(what);
	}
	int p[2], ro = MUST(open("file", O_RDONLY)), dir = MUST(open(".", O_RDONLY));
	MUST(pipe(p));
	SHOW(fallocate(ro, 0, 0, 10));
	SHOW(fallocate(ro, 0, -1, 10));
	SHOW(fallocate(ro, 0x1000, 0, 10));
	SHOW(fallocate(dir, 0, 0, 10));
	SHOW(fallocate(p[1], 0, 0, 10));
	SHOW(fallocate(p[0], 0, 0, 10));
	SHOW(fallocate(99, 0, -1, 10));
	return 0;
}
