// Two clerks sell one seat: each looks whether there is one and then takes it, and between the
// two calls the other may do the same (an atomicity violation).
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd, sold, careful;

static void *clerk(void *arg) {
	(void)arg;
	char c;
	if (careful) pthread_mutex_lock(&lock);
	if (pread(fd, &c, 1, 0) == 1 && c > '0') {
		c--;
		if (pwrite(fd, &c, 1, 0) == 1) sold++;
	}
	if (careful) pthread_mutex_unlock(&lock);
	return 0;
}

int main(int argc, char **argv) {
	careful = argc < 2 || strcmp(argv[1], "careless");
	fd = open("seats", O_RDWR | O_CREAT, 0644);
	if (pwrite(fd, "1", 1, 0) != 1) abort();
	pthread_t a, b;
	pthread_create(&a, 0, clerk, 0);
	pthread_create(&b, 0, clerk, 0);
	pthread_join(a, 0);
	pthread_join(b, 0);
	printf("%d sold\n", sold);
	if (sold != 1) abort();
}
