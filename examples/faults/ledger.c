// ledger server [careless]: keeps amounts in a file, one line each. "add N" over UDP is
// acknowledged when it is on the disk, "sum" is answered with what the file has.
// ledger client SERVER: adds 1, 2 and 3, and what is refused once more later. In the end the
// sum must be that of what was acknowledged.
//
// A careless server does not look whether its calls went well.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int bound(int port)
{
	int s = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	if (s < 0 || bind(s, (struct sockaddr *)&a, sizeof a) < 0) {
		perror("socket");
		exit(1);
	}
	return s;
}

// sum adds up the lines of the file.
static long sum(int fd)
{
	char buf[4096];
	long total = 0;
	ssize_t n = pread(fd, buf, sizeof buf - 1, 0);
	if (n < 0) {
		perror("read");
		exit(1);
	}
	buf[n] = 0;
	for (char *p = buf, *end; *p; p = end + 1) {
		total += strtol(p, &end, 10);
		if (*end != '\n')
			break;
	}
	return total;
}

// add brings a line to the disk, or leaves the file as it was. It reports whether it is there.
static int add(int fd, const char *line, int careless)
{
	off_t was = lseek(fd, 0, SEEK_END);
	if (careless) {
		ssize_t n = write(fd, line, strlen(line));
		(void)n; // what could go wrong?
		fsync(fd);
		return 1;
	}
	if (write(fd, line, strlen(line)) == (ssize_t)strlen(line) && fsync(fd) == 0)
		return 1;
	if (ftruncate(fd, was) < 0)
		abort(); // better no server than one that lies
	return 0;
}

static void server(int careless)
{
	int s = bound(7000);
	int fd = open("ledger", O_RDWR | O_CREAT, 0644);
	if (fd < 0) {
		perror("ledger");
		exit(1);
	}
	for (;;) {
		char buf[100], answer[100];
		struct sockaddr_in from;
		socklen_t len = sizeof from;
		ssize_t n = recvfrom(s, buf, sizeof buf - 2, 0, (struct sockaddr *)&from, &len);
		if (n < 0)
			exit(1);
		buf[n] = 0;
		if (!strncmp(buf, "add ", 4)) {
			strcat(buf, "\n");
			strcpy(answer, add(fd, buf + 4, careless) ? "done" : "failed");
		} else {
			snprintf(answer, sizeof answer, "%ld", sum(fd));
		}
		sendto(s, answer, strlen(answer), 0, (struct sockaddr *)&from, len);
	}
}

static void ask(int s, const struct sockaddr *to, socklen_t len, char *answer, const char *question)
{
	sendto(s, question, strlen(question), 0, to, len);
	ssize_t n = recv(s, answer, 99, 0);
	if (n < 0)
		exit(1);
	answer[n] = 0;
}

static void client(const char *host)
{
	struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_DGRAM}, *to;
	if (getaddrinfo(host, "7000", &hints, &to)) {
		fprintf(stderr, "no address of %s\n", host);
		exit(1);
	}
	int s = bound(0);
	long want = 0;
	char question[100], answer[100];
	for (int i = 1; i <= 3; i++) {
		snprintf(question, sizeof question, "add %d", i);
		for (int tries = 0; tries < 3; tries++) {
			ask(s, to->ai_addr, to->ai_addrlen, answer, question);
			printf("%s: %s\n", question, answer);
			if (!strcmp(answer, "done")) {
				want += i;
				break;
			}
		}
	}
	ask(s, to->ai_addr, to->ai_addrlen, answer, "sum");
	printf("sum: %s\n", answer);
	if (atol(answer) != want) {
		fprintf(stderr, "%ld were acknowledged\n", want);
		abort();
	}
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && !strcmp(argv[1], "server"))
		server(argc > 2);
	else
		client(argv[2]);
}
