/* craft: three servers that agree on one number, on libraft and its libuv I/O.
 *
 *   craft ID DIR       runs server ID (1, 2 or 3), its log in DIR
 *
 * Server N is called nN; it listens on port 9000 for the others and on 8000 for
 * clients. A connection carries one request and one answer, each a line:
 *
 *   set N     ok           the number is now at least N: it only grows, so that a
 *                          request which comes late or twice changes nothing
 *   get       ok N         read after a barrier, so never an old value
 *
 * or "moved ID" (ask that server), or "error WHY" (the outcome is unknown).
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <raft.h>
#include <raft/uv.h>

#define SERVERS 3

struct server {
	struct uv_loop_s loop;
	struct raft_uv_transport transport;
	struct raft_io io;
	struct raft_fsm fsm;
	struct raft raft;
	struct uv_tcp_s listener;
	uint64_t number;
};

static struct server self;

/* must ends the program when a call has failed. */
static void must(int rv, const char *what, const char *why)
{
	if (rv != 0) {
		fprintf(stderr, "craft: %s: %s\n", what, why);
		exit(1);
	}
}

static void *allocate(size_t size)
{
	void *p = raft_malloc(size);
	must(p == NULL, "memory", "none left");
	return p;
}

/* ---- The state machine: the number. A log entry is what it should rise to. Each that is applied
 * is printed, so that servers which disagree are found out. */

static int fsm_apply(struct raft_fsm *fsm, const struct raft_buffer *buf, void **result)
{
	static unsigned applied;
	uint64_t n;
	if (buf->len != sizeof n) {
		return RAFT_MALFORMED;
	}
	memcpy(&n, buf->base, sizeof n);
	if (n > self.number) {
		self.number = n;
	}
	printf("applied %u: %" PRIu64 "\n", ++applied, n);
	fflush(stdout);
	*result = NULL;
	return 0;
}

static int fsm_snapshot(struct raft_fsm *fsm, struct raft_buffer *bufs[], unsigned *n_bufs)
{
	*n_bufs = 1;
	*bufs = allocate(sizeof **bufs);
	(*bufs)->len = sizeof self.number;
	(*bufs)->base = allocate((*bufs)->len);
	memcpy((*bufs)->base, &self.number, (*bufs)->len);
	return 0;
}

static int fsm_restore(struct raft_fsm *fsm, struct raft_buffer *buf)
{
	if (buf->len != sizeof self.number) {
		return RAFT_MALFORMED;
	}
	memcpy(&self.number, buf->base, buf->len);
	raft_free(buf->base);
	return 0;
}

/* ---- Clients. A request lives from accept to close. */

struct request {
	struct uv_tcp_s stream;
	char line[64];
	size_t len;
	struct raft_apply apply;
	struct raft_barrier barrier;
	struct uv_write_s write;
	char answer[64];
};

static void closed(struct uv_handle_s *handle)
{
	free(handle->data);
}

static void drop(struct request *r)
{
	uv_close((struct uv_handle_s *)&r->stream, closed);
}

static void written(struct uv_write_s *write, int status)
{
	drop(write->data);
}

static void answer(struct request *r)
{
	uv_buf_t buf = uv_buf_init(r->answer, strlen(r->answer));
	r->write.data = r;
	if (uv_write(&r->write, (struct uv_stream_s *)&r->stream, &buf, 1, written) != 0) {
		drop(r);
	}
}

/* refuse says that raft did not do it: another server leads, or who knows. */
static void refuse(struct request *r, int rv)
{
	raft_id leader = 0;
	const char *address;
	raft_leader(&self.raft, &leader, &address);
	if (rv == RAFT_NOTLEADER && leader != 0) {
		snprintf(r->answer, sizeof r->answer, "moved %llu\n", leader);
	} else {
		snprintf(r->answer, sizeof r->answer, "error %s\n", raft_strerror(rv));
	}
	answer(r);
}

static void set_done(struct raft_apply *apply, int status, void *result)
{
	struct request *r = apply->data;
	if (status != 0) {
		refuse(r, status);
		return;
	}
	snprintf(r->answer, sizeof r->answer, "ok\n");
	answer(r);
}

static void get_done(struct raft_barrier *barrier, int status)
{
	struct request *r = barrier->data;
	if (status != 0) {
		refuse(r, status);
		return;
	}
	snprintf(r->answer, sizeof r->answer, "ok %" PRIu64 "\n", self.number);
	answer(r);
}

static void set(struct request *r, uint64_t n)
{
	struct raft_buffer buf = {.len = sizeof n, .base = allocate(sizeof n)};
	memcpy(buf.base, &n, sizeof n);
	r->apply.data = r;
	int rv = raft_apply(&self.raft, &r->apply, &buf, 1, set_done);
	if (rv != 0) {
		raft_free(buf.base);
		refuse(r, rv);
	}
}

static void get(struct request *r)
{
	r->barrier.data = r;
	int rv = raft_barrier(&self.raft, &r->barrier, get_done);
	if (rv != 0) {
		refuse(r, rv);
	}
}

static void room(struct uv_handle_s *handle, size_t suggested, uv_buf_t *buf)
{
	struct request *r = handle->data;
	*buf = uv_buf_init(r->line + r->len, sizeof r->line - 1 - r->len);
}

static void arrived(struct uv_stream_s *stream, ssize_t n, const uv_buf_t *buf)
{
	struct request *r = stream->data;
	uint64_t number;
	if (n < 0) {
		drop(r);
		return;
	}
	r->len += n;
	if (memchr(r->line, '\n', r->len) == NULL) {
		return;
	}
	uv_read_stop(stream);
	if (strcmp(r->line, "get\n") == 0) {
		get(r);
	} else if (sscanf(r->line, "set %" SCNu64, &number) == 1) {
		set(r, number);
	} else {
		snprintf(r->answer, sizeof r->answer, "error unknown request\n");
		answer(r);
	}
}

static void connected(struct uv_stream_s *listener, int status)
{
	struct request *r = calloc(1, sizeof *r);
	must(status != 0 || r == NULL, "listen", "cannot take a connection");
	uv_tcp_init(&self.loop, &r->stream);
	r->stream.data = r;
	if (uv_accept(listener, (struct uv_stream_s *)&r->stream) != 0 ||
	    uv_read_start((struct uv_stream_s *)&r->stream, room, arrived) != 0) {
		drop(r);
	}
}

/* ---- Start. */

static void start_raft(raft_id id, const char *dir)
{
	struct raft_configuration members;
	char address[32];

	self.transport.version = 1;
	must(raft_uv_tcp_init(&self.transport, &self.loop), "transport", self.transport.errmsg);
	must(raft_uv_init(&self.io, &self.loop, dir, &self.transport), dir, self.io.errmsg);
	self.fsm = (struct raft_fsm){.version = 2, .apply = fsm_apply, .snapshot = fsm_snapshot, .restore = fsm_restore};
	snprintf(address, sizeof address, "n%llu:9000", id);
	must(raft_init(&self.raft, &self.io, &self.fsm, id, address), "raft", raft_errmsg(&self.raft));
	raft_set_pre_vote(&self.raft, true);

	raft_configuration_init(&members);
	for (raft_id i = 1; i <= SERVERS; i++) {
		snprintf(address, sizeof address, "n%llu:9000", i);
		must(raft_configuration_add(&members, i, address, RAFT_VOTER), "configuration", address);
	}
	int rv = raft_bootstrap(&self.raft, &members);
	must(rv != 0 && rv != RAFT_CANTBOOTSTRAP, "bootstrap", raft_strerror(rv));
	raft_configuration_close(&members);
	must(raft_start(&self.raft), "start", raft_errmsg(&self.raft));
}

static void listen_for_clients(void)
{
	struct sockaddr_in any;
	uv_ip4_addr("0.0.0.0", 8000, &any);
	uv_tcp_init(&self.loop, &self.listener);
	must(uv_tcp_bind(&self.listener, (struct sockaddr *)&any, 0), "bind", "port 8000");
	must(uv_listen((struct uv_stream_s *)&self.listener, 16, connected), "listen", "port 8000");
}

int main(int argc, char *argv[])
{
	if (argc != 3) {
		fprintf(stderr, "usage: craft ID DIR\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	must(uv_loop_init(&self.loop), "loop", "cannot be made");
	start_raft(strtoul(argv[1], NULL, 10), argv[2]);
	listen_for_clients();
	return uv_run(&self.loop, UV_RUN_DEFAULT);
}
