// Names and numbers of addresses and services.
#include "../net.h"

static void look(const char *host, const char *serv, int family, int flags)
{
	struct addrinfo h = {.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = flags}, *r;
	char b[64];
	int e = getaddrinfo(host, serv, &h, &r);
	printf("%s %s: ", host ? host : "-", serv ? serv : "-");
	if (e) {
		printf("%s\n", e == EAI_NONAME ? "EAI_NONAME" : e == EAI_SERVICE ? "EAI_SERVICE" : e == EAI_FAMILY ? "EAI_FAMILY" : "other");
		return;
	}
	getnameinfo(r->ai_addr, r->ai_addrlen, b, sizeof b, NULL, 0, NI_NUMERICHOST);
	printf("%s", b);
	getnameinfo(r->ai_addr, r->ai_addrlen, NULL, 0, b, sizeof b, NI_NUMERICSERV);
	printf(" %s\n", b);
	freeaddrinfo(r);
}

int main(void)
{
	look("127.0.0.1", "80", AF_UNSPEC, AI_NUMERICHOST);
	look("::1", "80", AF_UNSPEC, AI_NUMERICHOST);
	look("localhost", "1234", AF_INET, 0);
	look(NULL, "99", AF_INET, AI_PASSIVE);
	look(NULL, "99", AF_INET6, 0);
	look("not-a-number", "80", AF_UNSPEC, AI_NUMERICHOST);
	look("10.1.2.3", NULL, AF_INET, 0);
	look("::ffff:1.2.3.4", "1", AF_INET6, AI_NUMERICHOST);
	char host[256];
	gethostname(host, sizeof host);
	SURE(*host != 0);
}
