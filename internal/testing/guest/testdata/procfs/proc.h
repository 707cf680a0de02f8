// Reading whole small files of /proc.
#ifndef PROC_H
#define PROC_H
#include "../guest.h"

static inline char *slurp(const char *path)
{
	static char b[1 << 16];
	size_t have = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY);
	*b = 0;
	if (fd < 0) {
		printf("%s: %s\n", path, strerrorname_np(errno));
		return b;
	}
	while ((n = read(fd, b + have, sizeof b - 1 - have)) > 0)
		have += n;
	b[have] = 0;
	close(fd);
	return b;
}

// field finds "name: value" lines.
static inline const char *field(const char *text, const char *name)
{
	static char v[256];
	size_t n = strlen(name);
	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!strncmp(p, name, n) && p[n] == ':') {
			p += n + 1 + strspn(p + n + 1, " \t");
			snprintf(v, sizeof v, "%.*s", (int)strcspn(p, "\n"), p);
			return v;
		}
		if (!*p)
			break;
	}
	return "(none)";
}
#endif
