// Ten client threads at once against one server thread that polls.
#include "net.h"

enum { clients = 10, rounds = 20 };
static struct sockaddr_in addr;

static void *client(void *p)
{
	long sum = 0, me = (long)p;
	int s = dial(&addr);
	for (int i = 0; i < rounds; i++) {
		int v = me * 1000 + i, w;
		MUST(write(s, &v, sizeof v));
		MUST(recv(s, &w, sizeof w, MSG_WAITALL));
		sum += w;
	}
	close(s);
	return (void *)sum;
}

static void *server(void *p)
{
	int l = *(int *)p, n = 1, ended = 0;
	struct pollfd f[clients + 1] = {{.fd = l, .events = POLLIN}};
	while (ended < clients) {
		MUST(poll(f, n, -1));
		for (int i = n - 1; i > 0; i--) {
			int v;
			if (!(f[i].revents & POLLIN))
				continue;
			if (recv(f[i].fd, &v, sizeof v, MSG_WAITALL) == sizeof v) {
				v++;
				MUST(write(f[i].fd, &v, sizeof v));
			} else {
				close(f[i].fd);
				f[i] = f[--n];
				ended++;
			}
		}
		if (f[0].revents & POLLIN)
			f[n++] = (struct pollfd){.fd = MUST(accept(l, NULL, NULL)), .events = POLLIN};
	}
	return NULL;
}

int main(void)
{
	int l = listener(&addr);
	pthread_t srv = start(server, &l), t[clients];
	for (long i = 0; i < clients; i++)
		t[i] = start(client, (void *)i);
	for (int i = 0; i < clients; i++) {
		void *sum;
		pthread_join(t[i], &sum);
		printf("client %d: %ld\n", i, (long)sum);
	}
	pthread_join(srv, NULL);
}
