// Several datagrams with one call.
#include "net.h"

int main(void)
{
	struct sockaddr_in a;
	int s = bound(SOCK_DGRAM, &a);
	struct iovec o[3] = {{"a", 1}, {"bb", 2}, {"ccc", 3}};
	struct mmsghdr out[3] = {0}, in[5] = {0};
	char b[5][8] = {0};
	struct iovec v[5];
	for (int i = 0; i < 3; i++)
		out[i].msg_hdr = (struct msghdr){.msg_name = &a, .msg_namelen = sizeof a, .msg_iov = &o[i], .msg_iovlen = 1};
	for (int i = 0; i < 5; i++) {
		v[i] = (struct iovec){b[i], 8};
		in[i].msg_hdr = (struct msghdr){.msg_iov = &v[i], .msg_iovlen = 1};
	}
	SHOW(sendmmsg(s, out, 3, 0));
	printf("%u %u %u\n", out[0].msg_len, out[1].msg_len, out[2].msg_len);
	SHOW(recvmmsg(s, in, 2, 0, NULL));
	SHOW(sendmmsg(s, out, 2, 0));
	SHOW(recvmmsg(s, in + 2, 3, MSG_DONTWAIT, NULL));
	for (int i = 0; i < 5; i++)
		printf("%s, %u bytes\n", b[i], in[i].msg_len);
	SHOW(recvmmsg(s, in, 5, MSG_DONTWAIT, NULL));
	SHOW(sendmmsg(s, out, 1, 0));
	SHOW(recvmmsg(s, in, 5, MSG_WAITFORONE, NULL));
	SHOW(sendmmsg(s, out, 0, 0));
}
