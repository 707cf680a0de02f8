// Threads do what texts say, a letter at a time, and only lock functions are between them:
//   L, U  take the lock, give it back
//   T     try to take the lock, write + or -, and with - go on behind the next U
//   P, V  wait for the semaphore, post it
//   r, w  read the number, write one more than was read
//   others write themselves
// Prints what was written, and the number unless it is 0.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static char written[100];
static int length, number;

static void *run(void *arg) {
	int seen = 0;
	for (const char *s = arg; *s; s++)
		switch (*s) {
		case 'L':
			if (pthread_mutex_lock(&lock)) abort();
			break;
		case 'U':
			if (pthread_mutex_unlock(&lock)) abort();
			break;
		case 'T':
			if (!pthread_mutex_trylock(&lock)) {
				written[length++] = '+';
				break;
			}
			written[length++] = '-';
			s = strchr(s, 'U');
			break;
		case 'P':
			if (sem_wait(&semaphore)) abort();
			break;
		case 'V':
			if (sem_post(&semaphore)) abort();
			break;
		case 'r':
			seen = number;
			break;
		case 'w':
			number = seen + 1;
			break;
		default:
			written[length++] = *s;
		}
	return 0;
}

int main(int argc, char **argv) {
	pthread_t t[8];
	sem_init(&semaphore, 0, 0);
	for (int i = 1; i < argc; i++)
		pthread_create(&t[i], 0, run, argv[i]);
	for (int i = 1; i < argc; i++)
		pthread_join(t[i], 0);
	if (number)
		printf("%s%d\n", written, number);
	else
		puts(written);
}
