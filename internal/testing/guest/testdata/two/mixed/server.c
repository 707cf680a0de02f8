// A server in C that forks for each connection, for clients in Python.
#include "../two.h"

int main(int argc, char **argv)
{
	int l = serve(argv);
	for (int i = 0; i < 3; i++) {
		int c = MUST(accept(l, NULL, NULL));
		pid_t child = fork();
		if (child == 0) {
			char b[64];
			ssize_t n = MUST(read(c, b, sizeof b));
			MUST(write(c, b, n));
			_exit(n);
		}
		close(c);
		show_wait("worker", child);
	}
}
