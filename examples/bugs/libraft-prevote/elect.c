/* elect: three servers that elect a leader, on libraft and its libuv I/O.
 *
 *   elect ID DIR       runs server ID (1, 2 or 3), its log in DIR
 *
 * Server N has the address 10.0.0.N (old versions know no names); it listens on port
 * 9000 for the others. Who connects to
 * port 8000 is told the terms that it has led, on a line.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <raft.h>
#include <raft/uv.h>

#define SERVERS 3
#define TERMS 64

static struct uv_loop_s loop;
static struct uv_tcp_s listener;
static struct uv_prepare_s turn;
static struct raft_uv_transport transport;
static struct raft_io io;
static struct raft_fsm fsm;
static struct raft raft;
static raft_term led[TERMS];
static int terms;

/* must ends the program when a call has failed. */
static void must(int rv, const char *what, const char *why)
{
	if (rv != 0) {
		fprintf(stderr, "elect: %s: %s\n", what, why);
		exit(1);
	}
}

/* The state machine has no state. */
static int apply(struct raft_fsm *f, const struct raft_buffer *buf, void **result)
{
	*result = NULL;
	return 0;
}

static int snapshot(struct raft_fsm *f, struct raft_buffer *bufs[], unsigned *n)
{
	return RAFT_NOMEM;
}

static int restore(struct raft_fsm *f, struct raft_buffer *buf)
{
	return RAFT_MALFORMED;
}

/* turned looks at each turn of the loop whether this server has become leader. */
static void turned(struct uv_prepare_s *handle)
{
	if (raft_state(&raft) == RAFT_LEADER && terms < TERMS &&
	    (terms == 0 || led[terms - 1] != raft.current_term)) {
		led[terms++] = raft.current_term;
		printf("leads in term %llu\n", raft.current_term);
		fflush(stdout);
	}
}

struct answer {
	struct uv_tcp_s stream;
	struct uv_write_s write;
	char text[TERMS * 21 + 1];
};

static void closed(struct uv_handle_s *handle)
{
	free(handle->data);
}

static void written(struct uv_write_s *write, int status)
{
	struct answer *a = write->data;
	uv_close((struct uv_handle_s *)&a->stream, closed);
}

static void connected(struct uv_stream_s *l, int status)
{
	struct answer *a = calloc(1, sizeof *a);
	must(status != 0 || a == NULL, "port 8000", "cannot take a connection");
	uv_tcp_init(&loop, &a->stream);
	a->stream.data = a->write.data = a;
	for (int i = 0; i < terms; i++) {
		sprintf(a->text + strlen(a->text), "%llu ", led[i]);
	}
	strcat(a->text, "\n");
	uv_buf_t buf = uv_buf_init(a->text, strlen(a->text));
	if (uv_accept(l, (struct uv_stream_s *)&a->stream) != 0 ||
	    uv_write(&a->write, (struct uv_stream_s *)&a->stream, &buf, 1, written) != 0) {
		uv_close((struct uv_handle_s *)&a->stream, closed);
	}
}

int main(int argc, char *argv[])
{
	struct raft_configuration members;
	struct sockaddr_in any;
	char address[32];

	if (argc != 3) {
		fprintf(stderr, "usage: elect ID DIR\n");
		return 2;
	}
	raft_id id = strtoull(argv[1], NULL, 10);
	signal(SIGPIPE, SIG_IGN);
	must(uv_loop_init(&loop), "loop", "cannot be made");
	must(raft_uv_tcp_init(&transport, &loop), "transport", "cannot be made");
	must(raft_uv_init(&io, &loop, argv[2], &transport), argv[2], io.errmsg);
	fsm = (struct raft_fsm){.version = 1, .apply = apply, .snapshot = snapshot, .restore = restore};
	snprintf(address, sizeof address, "10.0.0.%llu:9000", id);
	must(raft_init(&raft, &io, &fsm, id, address), "raft", raft_errmsg(&raft));
	raft_set_pre_vote(&raft, true);
	raft_set_heartbeat_timeout(&raft, 400);

	raft_configuration_init(&members);
	for (raft_id i = 1; i <= SERVERS; i++) {
		snprintf(address, sizeof address, "10.0.0.%llu:9000", i);
		must(raft_configuration_add(&members, i, address, RAFT_VOTER), "configuration", address);
	}
	int rv = raft_bootstrap(&raft, &members);
	must(rv != 0 && rv != RAFT_CANTBOOTSTRAP, "bootstrap", raft_strerror(rv));
	raft_configuration_close(&members);
	rv = raft_start(&raft);
	must(rv, "start", raft_strerror(rv));

	uv_prepare_init(&loop, &turn);
	uv_prepare_start(&turn, turned);
	uv_ip4_addr("0.0.0.0", 8000, &any);
	uv_tcp_init(&loop, &listener);
	must(uv_tcp_bind(&listener, (struct sockaddr *)&any, 0), "bind", "port 8000");
	must(uv_listen((struct uv_stream_s *)&listener, 16, connected), "listen", "port 8000");
	return uv_run(&loop, UV_RUN_DEFAULT);
}
