// sendmsg gathers and recvmsg scatters.
#include "net.h"

int main(void)
{
	int s[2];
	char a[3], b[5], c[9] = {0};
	tcp_pair(s);
	struct iovec out[] = {{"one", 3}, {"", 0}, {"two", 3}, {"three", 5}};
	struct msghdr m = {.msg_iov = out, .msg_iovlen = 4};
	SHOW(sendmsg(s[0], &m, 0));
	wait_for("sent", s[1], POLLIN);
	struct iovec in[] = {{a, 3}, {b, 5}, {c, 8}};
	struct sockaddr_in from;
	struct msghdr r = {.msg_iov = in, .msg_iovlen = 3, .msg_name = &from, .msg_namelen = sizeof from};
	SHOW(recvmsg(s[1], &r, 0));
	printf("%.3s %.5s %s, name %u, control %zu, flags %d\n", a, b, c, r.msg_namelen, r.msg_controllen, r.msg_flags);
	SHOW(writev(s[0], out, 4));
	SHOW(readv(s[1], in, 2));
	m.msg_iovlen = 2000;
	SHOW(sendmsg(s[0], &m, 0));
	out[0].iov_base = (void *)8;
	m.msg_iovlen = 1;
	SHOW(sendmsg(s[0], &m, 0));
	SHOW(sendmsg(s[0], NULL, 0));
	SHOW(recv(s[1], (void *)8, 4, 0));
	SHOW(recv(s[1], c, 3, 0));
}
