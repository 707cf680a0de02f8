// A program with a race that only some orders of messages show.
//
//	race serve        takes a word from each of two clients; the first must be "first"
//	race send WORD    connects to the node called server and sends a word
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void die(const char *what) {
	perror(what);
	exit(9);
}

static int serve(void) {
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(9000)};
	if (bind(listener, (struct sockaddr *)&any, sizeof any) || listen(listener, 8))
		die("listen");
	puts("listening");
	fflush(stdout);
	for (int i = 0; i < 2; i++) {
		int conn = accept(listener, NULL, NULL);
		char word[64] = "";
		if (conn < 0 || read(conn, word, sizeof word - 1) <= 0)
			die("accept");
		printf("got %s\n", word);
		fflush(stdout);
		if (i == 0 && strcmp(word, "first") != 0) {
			fprintf(stderr, "error: %s came first\n", word);
			return 3;
		}
		close(conn);
	}
	return 0;
}

static int send_word(const char *word) {
	struct hostent *server = gethostbyname("server");
	if (!server)
		die("gethostbyname");
	int conn = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9000)};
	memcpy(&to.sin_addr, server->h_addr_list[0], sizeof to.sin_addr);
	if (connect(conn, (struct sockaddr *)&to, sizeof to))
		die("connect");
	if (write(conn, word, strlen(word)) < 0)
		die("write");
	char byte;
	return read(conn, &byte, 1) == 0 ? 0 : 1; // until the server closes
}

int main(int argc, char **argv) {
	if (argc == 2 && strcmp(argv[1], "serve") == 0)
		return serve();
	if (argc == 3 && strcmp(argv[1], "send") == 0)
		return send_word(argv[2]);
	return 2;
}
