// One call that asks for much, or a step that does not end.
#include "hostile.h"
#include <dirent.h>
#include <netinet/in.h>
#include <time.h>
#include <sys/socket.h>

static void *memory(size_t n)
{
	return mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int main(int argc, char **argv)
{
	const size_t much = 2000000000;
	if (argc < 3)
		return 1;
	if (!strcmp(argv[2], "loop"))
		for (;;)
			getppid();
	if (!strcmp(argv[2], "spin"))
		for (;;)
			;
	if (!strcmp(argv[2], "out"))
		return write(2, memory(much), much) != much;
	if (!strcmp(argv[2], "datagram")) {
		struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
		if (sendto(socket(AF_INET, SOCK_DGRAM, 0), memory(much), much, 0, (void *)&a, sizeof a) < 0)
			perror("send");
	}
	if (!strcmp(argv[2], "exec")) {
		enum { length = 131071, count = 65535 };
		char *s = memset(malloc(length), 'x', length - 1), **a = calloc(count + 1, sizeof *a);
		s[length - 1] = 0;
		for (int i = 0; i < count; i++)
			a[i] = s;
		execv("/bin/true", a);
		perror("exec");
	}
	if (!strcmp(argv[2], "forks"))
		for (;;)
			if (fork() < 0)
				puts("fork fails");
	if (!strcmp(argv[2], "timers")) {
		int n = 0;
		timer_t t;
		struct sigevent s = {.sigev_notify = SIGEV_NONE};
		struct itimerspec its = {.it_value = {1}, .it_interval = {0, 1}};
		for (; n < 50000 && timer_create(CLOCK_MONOTONIC, &s, &t) == 0; n++)
			timer_settime(t, 0, &its, 0);
		sleep(2);
		puts("timers");
	}
	if (!strcmp(argv[2], "mappings")) {
		int n = 0;
		while (n < 1000000 && mmap(0, 4096, n % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
			n++;
		sleep(1);
		printf("mappings %s\n", n < 1000000 ? "end" : "never end");
	}
	if (!strcmp(argv[2], "names")) {
		char name[32];
		mkdir("d", 0700);
		for (int i = 0; i < 300000; i++) {
			snprintf(name, sizeof name, "d/%d", i);
			if (mknod(name, S_IFREG | 0600, 0) != 0)
				return puts("no more names"), 0;
		}
		int n = 0;
		DIR *d = opendir("d");
		while (readdir(d))
			n++;
		sleep(1);
		printf("%d names\n", n);
	}
	return 0;
}
